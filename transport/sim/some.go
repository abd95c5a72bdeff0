package sim

import (
	"fmt"

	"calib/internal/units"
)

// RecvAny waits for bytes of any rank. Ranks are served in turn. When nothing is there and a rank has left, all of whose
// bytes were received, it is ErrPeer, whatever the others may still send.
func (g *Group) RecvAny(b []byte) (from, n int, at units.Nanos, err error) {
	if err = g.w.enter(g.self); err == nil {
		from, n, err = g.recvAny(b)
		g.w.mu.Unlock()
	}
	if err != nil {
		return 0, 0, 0, fmt.Errorf("receive from any rank: %w", err)
	}
	return from, n, g.Now(), nil
}

func (g *Group) recvAny(b []byte) (from, n int, err error) {
	w := g.w
	c := g.nextReady()
	if c == nil {
		for _, p := range g.team {
			if p != g.self && spent(p, g.self) {
				return 0, 0, ErrPeer
			}
		}
		if err := w.wait(g.self, wait{kind: waitAny, deadline: w.limit()}); err != nil {
			return 0, 0, err
		}
		c = g.nextReady()
	}
	g.turn = c.src.rank + 1
	n = min(len(b), c.arrived)
	c.want = b[:n]
	c.read()
	return c.src.rank, n, w.sleep(g.self, w.now+w.opt.Cost.recv(n))
}

// nextReady returns the connection whose turn it is of those with bytes to read, or nil.
func (g *Group) nextReady() *conn {
	for i := range g.team {
		p := g.team[(g.turn+i)%len(g.team)]
		if c := p.to(g.self); c != nil && c.arrived > 0 {
			return c
		}
	}
	return nil
}

// Pending returns how many bytes from a rank have arrived and were not received.
func (g *Group) Pending(from int) (int, error) {
	if err := g.enter(from); err != nil {
		return 0, fmt.Errorf("bytes pending from rank %d: %w", from, err)
	}
	defer g.w.mu.Unlock()
	if err := g.w.sleep(g.self, g.w.now+fromNanos(g.w.opt.Cost.Now)); err != nil {
		return 0, fmt.Errorf("bytes pending from rank %d: %w", from, err)
	}
	if c := g.team[from].to(g.self); c != nil {
		return c.arrived, nil
	}
	return 0, nil
}

// Unacked returns how many bytes sent to a rank have not arrived there. Acknowledgements take no time here.
func (g *Group) Unacked(to int) (int, error) {
	if err := g.enter(to); err != nil {
		return 0, fmt.Errorf("bytes unacknowledged by rank %d: %w", to, err)
	}
	defer g.w.mu.Unlock()
	if err := g.w.sleep(g.self, g.w.now+fromNanos(g.w.opt.Cost.Now)); err != nil {
		return 0, fmt.Errorf("bytes unacknowledged by rank %d: %w", to, err)
	}
	c := g.self.to(g.team[to])
	switch {
	case c == nil:
		return 0, nil
	case c.lost():
		return 0, fmt.Errorf("bytes unacknowledged by rank %d: %w", to, ErrPeer)
	}
	return c.data.n - c.arrived, nil
}

// SendSome sends what there is room for, whole packets at a time, and gives up after patience without progress. What it
// could not send is not part of the message; the next Send begins a new one.
func (g *Group) SendSome(to int, b []byte, patience units.Nanos) (n int, err error) {
	if err := g.enter(to); err != nil {
		return 0, fmt.Errorf("send up to %d bytes to rank %d: %w", len(b), to, err)
	}
	n, err = g.sendSome(g.team[to], b, patience)
	g.w.mu.Unlock()
	if err != nil {
		return n, fmt.Errorf("send up to %d bytes to host %d: %w", len(b), g.team[to].host, err)
	}
	return n, nil
}

func (g *Group) sendSome(dst *proc, b []byte, patience units.Nanos) (int, error) {
	w := g.w
	c := w.conn(g.self, dst)
	// The call copies what fits; what gets room later is copied while it waits.
	if err := w.sleep(g.self, w.now+w.opt.Cost.send(min(len(b), max(0, c.room-c.buffered)))); err != nil {
		return 0, err
	}
	if c.lost() {
		return 0, ErrPeer
	}
	c.pending = b
	c.accept()
	if len(c.pending) > 0 && patience > 0 {
		limit := fromNanos(patience)
		if err := w.wait(g.self, wait{kind: waitSome, c: c, deadline: w.now + limit, patience: limit}); err != nil {
			return 0, err
		}
	}
	n := len(b) - len(c.pending)
	c.pending = nil
	return n, nil
}
