package lab

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"calib/internal/kernel"
	"calib/internal/machine"
	"calib/internal/netspec"

	"golang.org/x/sys/unix"
)

const (
	// A sleeping thread wakes up tens of microseconds late, a polling one within one. So the wire sleeps until a margin
	// before the next packet is due and then polls. The margin is at least minSpin, and follows the lateness of this
	// machine's sleep, of which it covers all but lateShare, up to maxSpin [ns].
	minSpin   = 50_000
	maxSpin   = 200_000
	spinStep  = 5_000
	lateShare = 0.005
	// batch bounds the packets read from one device before the others have their turn.
	batch = 32
	// maxLag bounds how long a packet may have waited for the wire to read it, if its timestamp is to be believed [ns].
	maxLag = 100_000_000
	// Devices are left unread for at most longestReadPause before a delivery, and for at most longestUnread in all
	// [ns].
	longestReadPause = 60_000
	longestUnread    = 400_000
)

// wire moves the packets. One goroutine, locked to its thread, owns everything but the two fields for others at the
// end.
type wire struct {
	lab       string
	spec      *netspec.Spec
	eng       *flight
	tuns      []tun // by host
	epoll     int
	pool      *pool
	spare     []byte // takes packets for which there is no buffer
	begin     int64
	awake     func() // ends the request that CPUs stay awake; nil is none
	spin      int64
	readPause int64 // devices are not read for so long before a packet is due [ns]
	lastRead  int64
	stats     Stats
	late      histogram // of charged packets

	wakeup   int // an eventfd: there is a request, or the wire shall stop
	requests chan chan Stats
	stop     atomic.Bool
}

// newWire takes over the devices. It closes none of them: they are the process's own and end with it.
func newWire(lab string, spec *netspec.Spec, tuns []tun) (*wire, error) {
	w := &wire{
		lab: lab, spec: spec, tuns: tuns, pool: newPool(MTU(spec), poolBytes), spare: make([]byte, MTU(spec)),
		begin: now(), spin: minSpin, requests: make(chan chan Stats, 16),
	}
	w.eng = newFlight(spec, w.dropped)
	w.readPause = longestReadPause
	for i := range spec.Hosts {
		w.readPause = min(w.readPause, minService(spec, spec.HostBlock(i))/4)
	}
	w.stats.Tolerated = tolerated(spec)
	w.stats.Hosts = make([]HostStats, spec.Hosts)
	for i := range w.stats.Hosts {
		w.stats.Hosts[i].Host = HostName(lab, i)
	}
	var err error
	if w.wakeup, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	if w.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	w.stats.PreciseSend = true
	for i, t := range append([]tun{{w.wakeup, true}}, tuns...) {
		ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i - 1)} // −1 is the eventfd
		if err := unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, t.fd, &ev); err != nil {
			return nil, fmt.Errorf("epoll: add device %d: %w", i-1, err)
		}
		w.stats.PreciseSend = w.stats.PreciseSend && t.precise
	}
	return w, nil
}

// now reads CLOCK_MONOTONIC [ns], as the hosts' kernels do for their stamps.
func now() int64 { return int64(kernel.Now()) }

// prepareThread gives the calling goroutine, which must call run next, a thread of its own with the highest priority
// allowed. A cpu that is nil or negative does not pin it; idle lets CPUs sleep.
func (w *wire) prepareThread(cpu *int, idle bool) error {
	runtime.LockOSThread()
	if err := kernel.Pin(*cmp.Or(cpu, new(-1))); err != nil {
		return fmt.Errorf("prepare the wire's thread: %w", err)
	}
	if !idle { // where that is not allowed, hosts answer later
		w.awake, _ = new(machine.Machine).StayAwake()
	}
	w.stats.Priority, w.stats.Awake = raisePriority(), w.awake != nil
	return nil
}

// run moves packets until halt. It promises that a packet is handed on at the first pass of the loop after it is due,
// that a pass takes no longer than reading one batch from each device that is ready, and that devices are read at least
// every longestUnread.
func (w *wire) run() error {
	var events [64]unix.EpollEvent
	for !w.stop.Load() {
		w.flush()
		if w.readsPaused() {
			continue
		}
		n, err := w.wait(events[:])
		if err != nil {
			return err
		}
		w.lastRead = now()
		for i := range n {
			if host := int(events[i].Fd); host >= 0 {
				if err := w.read(host); err != nil {
					return err
				}
				continue
			}
			w.answerRequests()
		}
	}
	return nil
}

// readsPaused reports whether a packet is due so soon that reading devices first would make it late: packets that come
// due together would each wait for the acknowledgement of the one before. Nothing is lost, because packets bring the
// time at which they were sent, and one read this late is still early for the first server behind the sender's.
func (w *wire) readsPaused() bool {
	due, ok := w.eng.next()
	at := now()
	return ok && due-at < w.readPause && at-w.lastRead < longestUnread
}

// wait returns what is ready to be read. It sleeps at most until the margin before the next packet is due.
func (w *wire) wait(events []unix.EpollEvent) (int, error) {
	var timeout *unix.Timespec
	var until int64
	if due, ok := w.eng.next(); ok {
		sleep := due - w.spin - now()
		if sleep > 0 {
			until = due - w.spin
		}
		t := unix.NsecToTimespec(max(0, sleep))
		timeout = &t
	}
	n, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(w.epoll), uintptr(unsafe.Pointer(&events[0])),
		uintptr(len(events)), uintptr(unsafe.Pointer(timeout)), 0, 0)
	if errno != 0 && errno != unix.EINTR {
		return 0, fmt.Errorf("wait for packets: %w", errno)
	}
	if errno != 0 {
		return 0, nil
	}
	if n == 0 && until > 0 {
		w.adapt(now() - until)
	}
	return int(n), nil
}

// adapt moves the margin towards the quantile 1−lateShare of the lateness of sleep, given one more lateness: each step
// up or down is weighted so that they balance there.
func (w *wire) adapt(late int64) {
	if late > w.spin {
		w.spin = min(maxSpin, w.spin+spinStep)
	} else {
		w.spin = max(minSpin, w.spin-int64(spinStep*lateShare))
	}
}

func (w *wire) flush() {
	for {
		at := now()
		w.eng.advance(at)
		p, due, ok := w.eng.deliver(at)
		if !ok {
			return
		}
		if p.pass == charged {
			w.late.add(at - due)
		}
		_, err := unix.Write(w.tuns[p.dst].fd, w.pool.buffers[p.buf])
		if err != nil {
			w.stats.Refused++
		} else {
			w.stats.Hosts[p.dst].RecvPackets++
			w.stats.Hosts[p.dst].RecvBytes += uint64(p.payload)
		}
		w.pool.put(p.buf)
	}
}

// read takes packets from a host's device, and hands on those that come due meanwhile.
func (w *wire) read(host int) error {
	for range batch {
		buf, room := w.pool.get()
		b := w.spare
		if room {
			b = w.pool.buffers[buf]
		}
		n, err := unix.Read(w.tuns[host].fd, b)
		if err != nil {
			if room {
				w.pool.put(buf)
			}
			if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
				return nil
			}
			return fmt.Errorf("read device of host %s: %w", HostName(w.lab, host), err)
		}
		if !room {
			w.stats.Overruns++
			continue
		}
		w.pool.buffers[buf] = b[:n]
		w.accept(host, buf)
		w.flush()
	}
	return nil
}

func (w *wire) accept(host int, buf int32) {
	p, ok := parse(w.pool.buffers[buf])
	if !ok || p.dst < 0 || int(p.dst) >= w.spec.Hosts {
		w.stats.Strays++
		w.pool.put(buf)
		return
	}
	h := &w.stats.Hosts[host]
	h.SentPackets++
	h.SentBytes += uint64(p.payload)
	if p.pass != charged {
		h.SentFree++
	}
	p.buf, p.src = buf, int32(host)
	w.eng.arrive(w.sentAt(now(), p), p)
}

// sentAt returns when the sending kernel made a packet that is read now. The time of reading would add to every
// packet the tens of microseconds that the wire takes to wake up. The lab's hosts stamp TCP segments with microseconds
// of CLOCK_MONOTONIC where the kernel can. A stamp far from the present, as of an application that asked for other
// stamps, is ignored.
func (w *wire) sentAt(now int64, p packet) int64 {
	if !p.stamped || !w.stats.PreciseSend {
		return now
	}
	lag := int64(uint32(now/1000)-p.stamp) * 1000
	if lag > maxLag {
		return now
	}
	return now - lag
}

func (w *wire) dropped(p packet, why netspec.Drop) {
	h := &w.stats.Hosts[p.dst]
	if why == netspec.NoRoom {
		h.BufferDrops++
	} else {
		h.LossDrops++
	}
	w.pool.put(p.buf)
}
