package sim

import (
	"errors"
	"fmt"

	"calib/internal/plane"
)

// second is the plane.Second of a rank: a thread on the same host, which waits for the rank's connections in its place.
type second struct {
	g    *Group // the rank's
	own  *Group // as the second thread uses it
	busy bool   // started and not waited for
	todo bool   // a transfer that has not ended
	quit bool
	err  error // of the last transfer
}

// Beside calls f while a second thread stands by. The thread and the rank take Cost.Wake each to wake each other; on a
// host with one CPU what the thread's calls take is lost to a computation of the rank's.
func (g *Group) Beside(transfer func(plane.Mover) error, f func(plane.Second) error) error {
	w, p := g.w, g.self
	if err := w.enter(p); err != nil {
		return fmt.Errorf("start a second thread: %w", err)
	}
	thread := &proc{node: p.node, id: len(w.procs), rank: p.rank, team: &team{}, parent: p, second: true, wake: make(chan struct{}, 1)}
	w.procs = append(w.procs, thread)
	p.lines = append(p.lines, thread)
	w.live++
	w.ready.Push(thread)
	w.mu.Unlock()
	s := &second{g: g, own: &Group{w: w, self: thread, team: g.team, rank: g.rank}}
	go s.serve(transfer)
	err := f(s)
	if err == nil && s.busy {
		err = errors.New("a transfer was started and not waited for")
	}
	if err != nil {
		_ = s.own.Close() // ends a transfer under way; it never fails
		p.mover = nil
		return err
	}
	if err := s.order(func() { s.quit = true }); err != nil {
		return err
	}
	return g.join(func() {})
}

// serve is the second thread.
func (s *second) serve(transfer func(plane.Mover) error) {
	defer s.own.Close()
	for s.next() {
		s.end(transfer(s.own))
	}
}

// next waits for a transfer to make, and reports whether there is one.
func (s *second) next() bool {
	w, p := s.own.w, s.own.self
	if w.enter(p) != nil {
		return false
	}
	defer w.mu.Unlock()
	for !s.todo && !s.quit {
		if w.wait(p, wait{kind: waitOrder}) != nil {
			return false
		}
	}
	return s.todo && w.spend(p, fromNanos(w.opt.Cost.Wake)) == nil
}

// end tells the rank that the transfer has ended.
func (s *second) end(err error) {
	w, p := s.own.w, s.g.self
	if w.enter(s.own.self) != nil {
		return
	}
	defer w.mu.Unlock()
	s.err, s.todo, p.mover = err, false, nil
	if p.state == blocked && p.wait.kind == waitDone {
		w.release(p, nil)
	}
}

// order tells the second thread what change says.
func (s *second) order(change func()) error {
	w, p := s.g.w, s.own.self
	if err := w.enter(s.g.self); err != nil {
		return fmt.Errorf("order the second thread: %w", err)
	}
	defer w.mu.Unlock()
	change()
	if p.state == blocked && p.wait.kind == waitOrder {
		w.release(p, nil)
	}
	return nil
}

// Start implements plane.Second.
func (s *second) Start() error {
	if s.busy {
		return errors.New("start a transfer: the last one was not waited for")
	}
	s.busy = true
	return s.order(s.begin)
}

// begin makes the rank's connections those of the second thread.
func (s *second) begin() { s.todo, s.g.self.mover = true, s.own.self }

// Wait implements plane.Second.
func (s *second) Wait() error {
	if !s.busy {
		return errors.New("wait for a transfer: none was started")
	}
	w, p := s.g.w, s.g.self
	if err := w.enter(p); err != nil {
		return fmt.Errorf("wait for the second thread: %w", err)
	}
	defer w.mu.Unlock()
	s.busy = false
	if s.todo {
		if err := w.wait(p, wait{kind: waitDone}); err != nil {
			return fmt.Errorf("wait for the second thread: %w", err)
		}
		if err := w.spend(p, fromNanos(w.opt.Cost.Wake)); err != nil {
			return err
		}
	}
	return s.err
}

// user is the thread that waits for p's connections.
func (p *proc) user() *proc {
	if p.mover != nil {
		return p.mover
	}
	return p
}
