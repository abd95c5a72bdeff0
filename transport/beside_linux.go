package transport

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"calib/internal/plane"
	"calib/transport/kernel"
)

// Beside calls f while a second thread stands by: each Start lets it call transfer with this group, and Wait returns
// when it has. The second thread runs on any CPU that the process may use; in a shared group the ranks divide the CPUs
// between them for the call (divide). The two threads wake each other through event counters, one system call each way:
// Go's channels would take two wake-ups, one of them of the scheduler. Beside returns when f has and the thread has
// ended. Where f fails or has not waited, the team's connections are shut down, so that a transfer under way ends.
//
// A transfer ends by the group's deadlines, and so does Wait. Neither Start nor Wait allocates.
func (g *Group) Beside(transfer func(plane.Mover) error, f func(plane.Second) error) error {
	runtime.LockOSThread() // what divide sets is the thread's
	defer runtime.UnlockOSThread()
	s := &second{orders: -1, done: -1, ended: make(chan struct{})}
	defer s.close()
	for _, fd := range []*int{&s.orders, &s.done} {
		var err error
		if *fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC); err != nil {
			return fmt.Errorf("open an event counter between two threads: %w", err)
		}
	}
	own, restore, err := g.divide()
	if err != nil {
		return err
	}
	go s.serve(own, func() error { return transfer(g) })
	err = f(s)
	if err == nil && s.busy {
		err = errors.New("a transfer was started and not waited for")
	}
	if err != nil {
		g.mu.Lock()
		shutdown(g.conns)
		g.mu.Unlock()
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

// divide gives every rank of a shared group CPUs of its own, so that no two compute on the same one while another
// idles: the calling thread is bound to the first of its rank's share, until restore is called, and the rank's second
// thread belongs on own, the others of the share, or the same CPU where there is no other. Where there is nothing to
// divide, own is nil.
func (g *Group) divide() (own *unix.CPUSet, restore func() error, err error) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return nil, nil, fmt.Errorf("read the thread's CPUs: %w", err)
	}
	if !g.shared || all.Count() < 2 { // of one CPU it was bound to that
		return nil, func() error { return nil }, nil
	}
	share := shareOf(&all, g.rank, len(g.team))
	if err := kernel.Bind(share[0], &all); err != nil {
		return nil, nil, err
	}
	own = &unix.CPUSet{}
	for _, cpu := range share[min(1, len(share)-1):] {
		own.Set(cpu)
	}
	return own, func() error { return unix.SchedSetaffinity(0, &all) }, nil
}

// shareOf lists the CPUs of one of several ranks: every size-th of all; of fewer CPUs than ranks, one that others have
// too.
func shareOf(all *unix.CPUSet, rank, size int) (share []int) {
	n := all.Count()
	for cpu, k := 0, 0; k < n; cpu++ {
		if !all.IsSet(cpu) {
			continue
		}
		if k%size == rank%n {
			share = append(share, cpu)
		}
		k++
	}
	return share
}

// second is the plane.Second of a group. Its fields pass from thread to thread with the event counters.
type second struct {
	orders, done int   // event counters: transfers asked for, and ended
	busy         bool  // of the first thread: started and not waited for
	quit         bool  // the next order is to end
	err          error // of the last transfer
	ended        chan struct{}
}

// serve is the second thread, on the CPUs given; nil is any.
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

// Start implements plane.Second.
func (s *second) Start() error {
	if s.busy {
		return errors.New("start a transfer: the last one was not waited for")
	}
	if err := kernel.Ring(s.orders); err != nil {
		return err
	}
	s.busy = true
	return nil
}

// Wait implements plane.Second.
func (s *second) Wait() error {
	if !s.busy {
		return errors.New("wait for a transfer: none was started")
	}
	if err := kernel.Await(s.done); err != nil {
		return err
	}
	s.busy = false
	return s.err
}

func (s *second) close() {
	for _, fd := range []int{s.orders, s.done} {
		if fd >= 0 {
			_ = unix.Close(fd) // nothing was written that could be lost
		}
	}
}

// shutdown shuts connections down, as after an error.
func shutdown(conns []*Conn) {
	for _, c := range conns {
		if c != nil {
			c.Shutdown()
		}
	}
}
