package sim

import (
	"errors"
	"fmt"

	"calib/internal/plane"
	"calib/internal/units"
)

// offer is what a rank that opens lines before its peer waits with.
type offer struct {
	to    *proc
	lines []*proc
}

var errLines = errors.New("the two ranks open different numbers of lines")

// Lines calls f for each of k connections to a peer. Line 0 is that of Send and Recv. Each of the others is a thread of
// its own with a connection of its own, which ends with the call; all share the blocks of their host. Their bytes fill
// packets, wherever one Send ends.
func (g *Group) Lines(peer, k int, f func(i int, l plane.Line) error) error {
	if k < 1 || k > plane.MaxLines {
		return fmt.Errorf("%d lines to rank %d, want 1 to %d", k, peer, plane.MaxLines)
	}
	if err := g.enter(peer); err != nil {
		return fmt.Errorf("open lines to rank %d: %w", peer, err)
	}
	first := g.w.conn(g.self, g.team[peer])
	first.fill = true
	more, err := g.openLines(g.team[peer], k)
	g.w.mu.Unlock()
	if err != nil {
		return fmt.Errorf("open %d lines to host %d: %w", k, g.team[peer].host, err)
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
	lines := make([]*proc, k-1)
	for i := range lines {
		lines[i] = &proc{node: p.node, id: len(w.procs), team: &team{}, parent: p, wake: make(chan struct{}, 1)}
		w.procs = append(w.procs, lines[i])
	}
	if theirs := dst.offer; theirs == nil || theirs.to != p {
		p.offer = &offer{dst, lines}
		if err := w.wait(p, wait{kind: waitLines, deadline: w.limit()}); err != nil {
			return nil, err
		}
	} else {
		dst.offer = nil
		if len(theirs.lines) != len(lines) {
			w.release(dst, errLines)
			return nil, errLines
		}
		w.release(dst, nil) // before its lines, which it has yet to give goroutines
		for i, l := range lines {
			w.startLine(theirs.lines[i], l)
		}
	}
	groups := make([]*Group, len(lines))
	for i, l := range lines {
		w.conn(l, l.team.procs[1-l.rank]).fill = true
		groups[i] = &Group{w: w, self: l, team: l.team.procs, rank: l.rank}
	}
	return groups, nil
}

// startLine makes two ends of a line ready to run.
func (w *world) startLine(ends ...*proc) {
	socket := ends[0].parent.team.socket
	for i, l := range ends {
		l.rank, l.team.procs, l.team.socket = i, ends, socket
		l.parent.lines = append(l.parent.lines, l)
		w.live++
		w.ready.Push(l)
	}
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
	for i, l := range r.lines {
		if l == p {
			r.lines = append(r.lines[:i], r.lines[i+1:]...)
			break
		}
	}
	if len(r.lines) == 0 && r.state == blocked && r.wait.kind == waitJoin {
		w.release(r, nil)
	}
}

// spend lets p's call take t of its CPU. On a host with one CPU a second thread takes it from the first.
func (w *world) spend(p *proc, t instant) error {
	p.cpu += t
	if p.second && w.opt.Host.CPUs == 1 {
		p.kernelTime += t
	}
	return w.sleep(p, w.now+t)
}

// endOf is a plane.Line: one end of a line.
type endOf struct {
	*Group
	peer int
}

// Send implements plane.Line.
func (l endOf) Send(b []byte) error { return l.Group.Send(l.peer, b) }

// LimitUnsent implements plane.Line.
func (l endOf) LimitUnsent(n int64) error { return l.Group.LimitUnsent(l.peer, n) }

// LimitRoom implements plane.Line.
func (l endOf) LimitRoom(n int64) error { return l.Group.LimitRoom(l.peer, n) }

// RecvSome implements plane.Line.
func (l endOf) RecvSome(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	g := l.Group
	if err := g.enter(l.peer); err != nil {
		return 0, fmt.Errorf("receive up to %d bytes from rank %d: %w", len(b), l.peer, err)
	}
	defer g.w.mu.Unlock()
	n, err := g.recvSome(g.team[l.peer], b)
	if err != nil {
		return 0, fmt.Errorf("receive up to %d bytes from host %d: %w", len(b), g.team[l.peer].host, err)
	}
	return n, nil
}

// recvSome waits for a byte and takes the others that have come with it.
func (g *Group) recvSome(src *proc, b []byte) (int, error) {
	w, c, n := g.w, g.w.conn(src, g.self), 0
	if c.arrived == 0 {
		if c.lost() {
			return 0, ErrPeer
		}
		c.want = b[:1]
		if err := w.wait(g.self, wait{kind: waitRecv, c: c, deadline: w.limit()}); err != nil {
			return 0, err
		}
		n = 1
	}
	more := min(len(b)-n, c.arrived)
	c.want = b[n : n+more]
	c.read()
	n += more
	return n, w.spend(g.self, w.opt.Cost.recv(n))
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
