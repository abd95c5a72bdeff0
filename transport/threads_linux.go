package transport

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"calib/internal/kernel"
	"calib/internal/plane"
	"calib/internal/units"
)

// Lines implements bench.Group. The threads of the lines but 0 may run on any CPU of the process. When a line fails,
// all are shut down.
func (g *Group) Lines(rank, k int, f func(i int, l plane.Line) error) error {
	first, err := g.link(rank)
	if err != nil {
		return err
	}
	conns := []*Conn{first}
	for i := 1; i < k; i++ {
		c, err := g.connect(g.life, rank, i, true)
		if err != nil {
			g.closeLines(rank, conns)
			return fmt.Errorf("line %d: %w", i, err)
		}
		conns = append(conns, c)
	}
	run := func(i int) error {
		n, err := conns[i].Counters()
		if err == nil {
			err = f(i, line{conns[i], g, n.Congestion == "bbr"})
		}
		if err != nil {
			g.Abort()
		}
		return err
	}
	errs := make([]error, k)
	var wg sync.WaitGroup
	for i := 1; i < k; i++ {
		wg.Go(func() {
			runtime.LockOSThread() // the thread ends with the goroutine
			errs[i] = run(i)
		})
	}
	errs[0] = run(0)
	wg.Wait()
	g.closeLines(rank, conns)
	return g.failed(rank, errors.Join(errs...))
}

func (g *Group) closeLines(rank int, conns []*Conn) {
	g.mu.Lock()
	g.lines = nil
	g.mu.Unlock()
	for i, c := range conns[1:] {
		g.mesh.unlink(linkID{g.team[rank], i + 1}, c)
		c.Shutdown()
		c.Release()
	}
}

// dropLines ends the lines to hosts that a rank has opened and this one has not asked for: one of them failed before.
func (m *Mesh) dropLines(hosts []int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session == nil {
		return
	}
	for id, l := range m.session.links {
		if id.line > 0 && slices.Contains(hosts, id.host) {
			l.drop(nil)
		}
	}
}

type line struct {
	*Conn
	g   *Group
	bbr bool
}

// Send implements plane.Line: no end of a message is marked.
func (l line) Send(b []byte) error { return l.send(b, l.flags&^unix.MSG_EOR) }

func (l line) Now() units.Nanos              { return kernel.Now() }
func (l line) WaitUntil(t units.Nanos) error { return l.g.WaitUntil(t) }

// State implements plane.Line. StealTicks are the machine's.
func (l line) State() (plane.LineState, error) {
	s := plane.LineState{At: kernel.Now()}
	var err error
	if s.TCP, err = l.Counters(); err != nil {
		return s, err
	}
	s.CPU, err = kernel.ThreadTime()
	return s, err
}

// ProbesRTT implements plane.Line. Other congestion controls than bbr do not probe so.
func (l line) ProbesRTT() (probes bool, err error) {
	if !l.bbr {
		return false, nil
	}
	if probes, err = kernel.ProbesRTT(l.fd); err != nil {
		err = fmt.Errorf("read the state of bbr, %s: %w", l.peer, err)
	}
	return probes, err
}

// RecvSome implements plane.Line. It fails as Recv does.
func (c *Conn) RecvSome(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	since := units.Nanos(0)
	n, errno := kernel.Recv(c.fd, b, 0)
	for n < 0 {
		if err := c.again(errno, &since); err != nil {
			return 0, c.failed("receive", len(b), err)
		}
		n, errno = kernel.Recv(c.fd, b, 0)
	}
	return n, c.count(n, len(b))
}

// Beside calls f while a second thread stands by. Each Start lets it call transfer with this group, and Wait returns
// when it has. The second thread runs on any CPU that the process may use; in a shared group the ranks divide the CPUs
// between them for the call (kernel.Divide). The two threads wake each other by event counters, one system call each
// way. Go's channels would take two wake-ups, one of them of the scheduler. Beside returns when f has and the thread
// has ended. Where f fails or has not waited, the team's connections are shut down, which ends a transfer under way.
//
// A transfer ends by the group's deadlines, and so does Wait. Neither Start nor Wait allocates.
func (g *Group) Beside(transfer func(plane.Mover) error, f func(plane.Second) error) error {
	runtime.LockOSThread() // what Divide sets is the thread's
	defer runtime.UnlockOSThread()
	s := &second{ended: make(chan struct{})}
	for _, counter := range []*int{&s.orders, &s.done} {
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
		if err != nil {
			return fmt.Errorf("open an event counter between two threads: %w", err)
		}
		defer kernel.Close(fd)
		*counter = fd
	}
	var own *unix.CPUSet
	restore, err := func() error { return nil }, error(nil)
	if g.shared {
		if own, restore, err = kernel.Divide(g.rank, len(g.team)); err != nil {
			return err
		}
	}
	go s.serve(own, func() error { return transfer(g) })
	err = f(s)
	if err == nil && s.busy {
		err = errors.New("a transfer was started and not waited for")
	}
	if err != nil {
		g.Abort()
	}
	if s.busy { // its error is that of connections just shut down
		_ = s.Wait()
	}
	s.quit = true
	if e := kernel.Ring(s.orders); e != nil { // then the thread has ended on the same error
		err = errors.Join(err, e)
	}
	<-s.ended
	return errors.Join(err, restore())
}

// second is the plane.Second of a group. Its fields pass from thread to thread with the event counters.
type second struct {
	orders, done int   // event counters: transfers asked for, and ended
	busy         bool  // of the first thread: started and not waited for
	quit         bool  // the next order is to end
	err          error // of the last transfer
	ended        chan struct{}
}

func (s *second) serve(cpus *unix.CPUSet, transfer func() error) {
	defer close(s.ended)
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	// Without either, transfers wait for a CPU where threads share them. That is then part of what is measured.
	_ = kernel.Hurry()
	if cpus != nil {
		_ = unix.SchedSetaffinity(0, cpus)
	}
	for {
		if err := kernel.Await(s.orders); err != nil || s.quit {
			return
		}
		s.err = transfer()
		if err := kernel.Ring(s.done); err != nil {
			return
		}
	}
}

func (s *second) Start() error {
	if err := kernel.Ring(s.orders); err != nil {
		return err
	}
	s.busy = true
	return nil
}

func (s *second) Wait() error {
	if err := kernel.Await(s.done); err != nil {
		return err
	}
	s.busy = false
	return s.err
}
