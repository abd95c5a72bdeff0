package sim

import (
	"errors"
	"fmt"
	"slices"

	"calib/internal/lists"
	"calib/internal/plane"
	"calib/internal/units"
)

var errLines = errors.New("the two ranks open different numbers of lines")

// Lines calls f for each of k connections to a peer. Line 0 is that of Send and Recv. Each of the others is a thread of
// its own with a connection of its own, which ends with the call; all share the blocks of their host. Their bytes fill
// packets, wherever one Send ends.
func (g *Group) Lines(peer, k int, f func(i int, l plane.Line) error) error {
	var first *conn
	var more []*Group
	err := g.call(peer, "open %[1]d lines to", k, func(dst *proc) (err error) {
		first = g.w.conn(g.self, dst)
		first.fill = true
		more, err = g.openLines(dst, k)
		return err
	})
	if err != nil {
		return err
	}
	errs := make([]error, k)
	for i, own := range more {
		go func() {
			defer own.Close()
			own.w.begin(own.self)
			errs[i+1] = f(i+1, endOf{own, 1 - own.rank})
		}()
	}
	errs[0] = f(0, endOf{g, peer})
	if err := g.join(func() { first.fill = false }); err != nil {
		return fmt.Errorf("lines to rank %d: %w", peer, err)
	}
	return errors.Join(errs...)
}

// openLines makes k−1 lines to dst when dst does so, too, and lets them run.
func (g *Group) openLines(dst *proc, k int) ([]*Group, error) {
	w, p := g.w, g.self
	if k == 1 {
		return nil, nil
	}
	if dst.state == dead {
		return nil, ErrPeer
	}
	lines := lists.Map(lists.Upto(k-1), func(int) *proc { return w.thread(p) })
	if dst.opensTo != p {
		p.opensTo, p.opens = dst, lines
		if err := w.wait(p, wait{kind: waitLines, deadline: w.limit()}); err != nil {
			return nil, err
		}
	} else {
		dst.opensTo = nil
		if len(dst.opens) != len(lines) {
			w.release(dst, errLines)
			return nil, errLines
		}
		w.release(dst, nil) // before its lines, which it has yet to give goroutines
		for i, l := range lines {
			w.startLine(dst.opens[i], l)
		}
	}
	groups := make([]*Group, len(lines))
	for i, l := range lines {
		w.conn(l, l.team.procs[1-l.rank]).fill = true
		groups[i] = &Group{w: w, self: l, team: l.team.procs, rank: l.rank}
	}
	return groups, nil
}

func (w *world) startLine(ends ...*proc) {
	socket := ends[0].parent.team.socket
	for i, l := range ends {
		l.rank, l.team.procs, l.team.socket = i, ends, socket
		w.start(l)
	}
}

// thread makes another thread of a rank, which start lets run.
func (w *world) thread(rank *proc) *proc {
	p := &proc{node: rank.node, id: len(w.procs), team: &team{}, parent: rank, wake: make(chan struct{}, 1)}
	w.procs = append(w.procs, p)
	return p
}

func (w *world) start(p *proc) {
	p.parent.lines = append(p.parent.lines, p)
	w.live++
	w.ready.Push(p)
}

// join waits until the lines of g have ended, and calls end.
func (g *Group) join(end func()) error {
	w, p := g.w, g.self
	if err := w.enter(p); err != nil {
		return err
	}
	defer w.mu.Unlock()
	defer end()
	if len(p.lines) == 0 {
		return nil
	}
	return w.wait(p, wait{kind: waitJoin})
}

// endLines is called when p has left: a rank takes its lines with it, and the last line to leave ends its rank's wait.
func (p *proc) endLines(w *world) {
	for len(p.lines) > 0 {
		w.leave(p.lines[0])
	}
	r := p.parent
	if r == nil {
		return
	}
	r.lines = slices.DeleteFunc(r.lines, func(l *proc) bool { return l == p })
	if len(r.lines) == 0 {
		w.wake(r, waitJoin)
	}
}

// spend lets p's call take t of its CPU. On a host with one CPU a second thread takes it from the first.
func (w *world) spend(p *proc, t instant) error {
	p.cpu += t
	if p.second && w.opt.CPUs == 1 {
		p.kernelTime += t
	}
	return w.sleep(p, w.now+t)
}

type endOf struct {
	*Group
	peer int
}

func (l endOf) Send(b []byte) error            { return l.Group.Send(l.peer, b) }
func (l endOf) Bound(unsent, room int64) error { return l.Group.bound(l.peer, unsent, room) }

// RecvSome implements plane.Line: it waits for a byte and takes the others that have come with it.
func (l endOf) RecvSome(b []byte) (n int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	g, w := l.Group, l.w
	err = g.call(l.peer, "receive up to %[1]d bytes from", len(b), func(src *proc) error {
		c := w.conn(src, g.self)
		if c.arrived == 0 {
			if c.lost() {
				return ErrPeer
			}
			c.want = b[:1]
			if err := w.wait(g.self, wait{kind: waitRecv, c: c, deadline: w.limit()}); err != nil {
				return err
			}
			n = 1
		}
		more := min(len(b)-n, c.arrived)
		c.want = b[n : n+more]
		c.read()
		n += more
		return w.spend(g.self, w.opt.Cost.recv(n))
	})
	return n, err
}

// State implements plane.Line. CPU is what the thread's sends and receptions took.
func (l endOf) State() (plane.LineState, error) {
	c, err := l.Counters(l.peer)
	if err != nil {
		return plane.LineState{}, err
	}
	return plane.LineState{At: l.Now(), TCP: c, CPU: units.Nanos(l.self.cpu / perNano)}, nil
}

// ProbesRTT implements plane.Line: there is no congestion control.
func (l endOf) ProbesRTT() (bool, error) { return false, nil }

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
	thread := w.thread(p)
	thread.rank, thread.second = p.rank, true
	w.start(thread)
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

func (s *second) end(err error) {
	w, p := s.own.w, s.g.self
	if w.enter(s.own.self) != nil {
		return
	}
	defer w.mu.Unlock()
	s.err, s.todo, p.mover = err, false, nil
	w.wake(p, waitDone)
}

// order tells the second thread what change says.
func (s *second) order(change func()) error {
	return s.g.alone("order the second thread", func() error {
		change()
		s.g.w.wake(s.own.self, waitOrder)
		return nil
	})
}

// Start implements plane.Second: the rank's connections become those of the second thread.
func (s *second) Start() error {
	s.busy = true
	return s.order(func() { s.todo, s.g.self.mover = true, s.own.self })
}

func (s *second) Wait() error {
	w, p := s.g.w, s.g.self
	err := s.g.alone("wait for the second thread", func() error {
		if s.busy = false; !s.todo {
			return nil
		}
		if err := w.wait(p, wait{kind: waitDone}); err != nil {
			return err
		}
		return w.spend(p, fromNanos(w.opt.Cost.Wake))
	})
	if err != nil {
		return err
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
