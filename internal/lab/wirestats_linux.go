package lab

import (
	"time"

	"calib/internal/netspec"

	"golang.org/x/sys/unix"
)

// answer serves the requests for statistics that woke the wire up.
func (w *wire) answer() {
	var b [8]byte
	_, _ = unix.Read(w.wakeup, b[:]) // only its being readable matters
	for {
		select {
		case r := <-w.requests:
			r <- w.snapshot()
		default:
			return
		}
	}
}

func (w *wire) snapshot() Stats {
	s := w.stats
	s.Lab, s.Uptime = w.lab, time.Since(w.begin).Seconds()
	s.Hosts = append([]HostStats(nil), w.stats.Hosts...)
	for i := range s.Hosts {
		s.Hosts[i].TxQueueMax, s.Hosts[i].RxQueueMax = w.eng.tx[i].most, w.eng.rx[i].most
		if w.spec.Mode == netspec.Switched {
			s.Hosts[i].PortQueueMax = w.eng.media[i].most
		}
	}
	if w.spec.Mode == netspec.Shared {
		s.MediumQueueMax = w.eng.media[0].most
	}
	return s
}

// ask returns the counters as they are now. Any goroutine may call it while run runs.
func (w *wire) ask() Stats {
	r := make(chan Stats, 1)
	w.requests <- r
	w.wake()
	return <-r
}

// halt makes run return. Any goroutine may call it.
func (w *wire) halt() {
	w.stop.Store(true)
	w.wake()
}

func (w *wire) wake() {
	one := [8]byte{1}
	_, _ = unix.Write(w.wakeup, one[:]) // fails only when the counter is full, and then it is readable
}
