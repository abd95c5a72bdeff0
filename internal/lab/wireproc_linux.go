package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/signal"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"calib/internal/kernel"
	"calib/internal/netspec"
	"calib/internal/units"
)

// wireMemory is where the collector, otherwise off, would step in: far above the packets' bound.
const wireMemory = 1 << 30

// wireConfig is what the wire's process reads from its standard input.
type wireConfig struct {
	Spec     netspec.Spec `json:"spec"`
	Options  Options      `json:"options"`
	Attached bool         `json:"attached"` // it ends when standard input does
	Rootless bool         `json:"rootless"` // it is alone in a new user namespace
	Socket   string       `json:"socket"`
}

// RunWire is the wire's process. It reads what to build from in, answers on out when the devices are up, and moves
// packets until it gets SIGTERM.
func RunWire(in io.Reader, out io.Writer) error {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(wireMemory)
	var cfg wireConfig
	if err := json.NewDecoder(in).Decode(&cfg); err != nil {
		return fmt.Errorf("read the wire's configuration: %w", err)
	}
	w, listener, err := prepare(cfg)
	failed := ""
	if err != nil {
		failed = err.Error()
	}
	if err := errors.Join(err, json.NewEncoder(out).Encode(failed)); err != nil {
		return err
	}
	defer listener.Close()
	go serve(listener, w)

	signal.Ignore(unix.SIGINT, unix.SIGHUP) // Ctrl-C, and the end of a terminal
	ctx, cancel := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer cancel()
	context.AfterFunc(ctx, w.halt)
	if cfg.Attached {
		go func() {
			_, _ = io.Copy(io.Discard, in) // until the process at its other end has closed it, or died
			w.halt()
		}()
	}
	return w.run()
}

// prepare builds the lab and leaves the calling goroutine fit to run its wire.
func prepare(cfg wireConfig) (*wire, net.Listener, error) {
	if cfg.Rootless {
		if err := privateRun(); err != nil {
			return nil, nil, fmt.Errorf("%w: %w: this system allows user namespaces but nothing in them (on Ubuntu, the sysctl "+
				"kernel.apparmor_restrict_unprivileged_userns): run as root", ErrPermission, err)
		}
	} else if err := shareNamespaces(); err != nil {
		return nil, nil, err
	}
	o := cfg.Options
	tuns, tcp := make([]tun, cfg.Spec.Hosts), tcpOf(&cfg.Spec, o.Congestion)
	for i := range tuns {
		var err error
		if tuns[i], err = makeHost(HostName(o.Name, i), i, MTU(&cfg.Spec), tcp); err != nil {
			return nil, nil, err
		}
	}
	w, err := newWire(o.Name, &cfg.Spec, tuns)
	if err != nil {
		return nil, nil, err
	}
	w.stats.MinRTO = units.Nanos(tcp.minRTO)
	listener, err := net.Listen("unix", cfg.Socket)
	if err != nil {
		return nil, nil, fmt.Errorf("listen for requests for statistics: %w", err)
	}
	return w, listener, w.prepareThread(o.CPU, o.Idle)
}

// serve answers every connection with the counters as they are now, one JSON document, until the listener closes.
func serve(listener net.Listener, w *wire) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		// One at a time: a reader that does not read holds up other readers for a second, and the wire never.
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		_ = json.NewEncoder(conn).Encode(w.currentStats()) // a reader that went away is no matter
		conn.Close()
	}
}

// ReadStats reads the counters of a running lab from its StatsPath. Its errors wrap ErrWire.
func ReadStats(path string) (Stats, error) {
	conn, err := net.DialTimeout("unix", path, 2*time.Second)
	if err != nil {
		return Stats{}, fmt.Errorf("%w: read its counters: %w", ErrWire, err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	var s Stats
	if err := json.NewDecoder(conn).Decode(&s); err != nil {
		return Stats{}, fmt.Errorf("%w: read its counters from %s: %w", ErrWire, path, err)
	}
	return s, nil
}

func (w *wire) answerRequests() {
	_ = kernel.Await(w.wakeup) // only its being readable matters
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
	s.Lab, s.Uptime, s.Lateness = w.lab, units.Nanos(now()-w.begin).Seconds(), w.late.lateness()
	s.Hosts = append([]HostStats(nil), w.stats.Hosts...)
	for i := range s.Hosts {
		s.Hosts[i].TxQueueMax, s.Hosts[i].RxQueueMax = w.eng.path.Tx[i].Most, w.eng.path.Rx[i].Most
		if w.spec.Mode == netspec.Switched {
			s.Hosts[i].PortQueueMax = w.eng.path.Media[i].Most
		}
	}
	if w.spec.Mode == netspec.Shared {
		s.MediumQueueMax = w.eng.path.Media[0].Most
	}
	return s
}

// currentStats returns the counters as they are now. Any goroutine may call it while run runs.
func (w *wire) currentStats() Stats {
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

func (w *wire) wake() { _ = kernel.Ring(w.wakeup) } // fails only when the counter is full, and then it is readable

// raisePriority makes the calling thread wake up as early as it is allowed to, and says how: "rr" is the real-time
// class at its lowest priority, which needs a second CPU, since the wire polls for up to 200 µs before each packet.
func raisePriority() string {
	if runtime.NumCPU() > 1 {
		if kernel.Schedule(unix.SchedAttr{Policy: unix.SCHED_RR, Priority: 1}, "set the real-time class") == nil {
			return "rr"
		}
	}
	if unix.Setpriority(unix.PRIO_PROCESS, 0, -20) == nil {
		return "nice"
	}
	return "normal"
}
