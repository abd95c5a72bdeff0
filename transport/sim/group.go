package sim

import (
	"fmt"

	"calib/internal/dataset"
	"calib/internal/units"
)

// Group is one rank's view of its team: a bench.Group. It is used by one goroutine; Close may be called from any.
type Group struct {
	w    *world
	self *proc // the thread that calls: the rank's own, or its second
	team []*proc
	rank int
	turn int // the rank that RecvAny serves next if it can
}

// end is the rank whose connections the group uses.
func (g *Group) end() *proc { return g.team[g.rank] }

// Rank returns the caller's rank in the team.
func (g *Group) Rank() int { return g.rank }

// Size returns how many ranks the team has.
func (g *Group) Size() int { return len(g.team) }

// Send sends b as one message of ⌈len(b)/MSS⌉ packets and returns when its last byte is in the send buffer. An empty
// message is nothing, as on TCP.
func (g *Group) Send(to int, b []byte) error {
	if err := g.enter(to); err != nil {
		return fmt.Errorf("send %d bytes to rank %d: %w", len(b), to, err)
	}
	err := g.send(g.team[to], b)
	g.w.mu.Unlock()
	if err != nil {
		return fmt.Errorf("send %d bytes to host %d: %w", len(b), g.team[to].host, err)
	}
	return nil
}

func (g *Group) send(dst *proc, b []byte) error {
	w := g.w
	c := w.conn(g.end(), dst)
	if err := w.spend(g.self, w.opt.Cost.send(len(b))); err != nil {
		return err
	}
	if c.lost() {
		return ErrPeer
	}
	c.pending = b
	c.accept()
	if len(c.pending) > 0 {
		return w.wait(g.self, wait{kind: waitSend, c: c, deadline: w.limit()})
	}
	c.pending = nil
	return nil
}

// Recv fills b with the next len(b) bytes from a rank.
func (g *Group) Recv(from int, b []byte) error { return g.receive(from, b, g.w.opt.Cost.Wake) }

// receive is Recv with what a rank takes to wake up.
func (g *Group) receive(from int, b []byte, wake units.Nanos) error {
	if err := g.enter(from); err != nil {
		return fmt.Errorf("receive %d bytes from rank %d: %w", len(b), from, err)
	}
	err := g.recv(g.team[from], b, wake)
	g.w.mu.Unlock()
	if err != nil {
		return fmt.Errorf("receive %d bytes from host %d: %w", len(b), g.team[from].host, err)
	}
	return nil
}

// RecvPolling is Recv that need not be woken.
func (g *Group) RecvPolling(from int, b []byte) error { return g.receive(from, b, 0) }

// RecvAt is Recv, and reads the clock when the bytes are there.
func (g *Group) RecvAt(from int, b []byte) (units.Nanos, error) {
	if err := g.Recv(from, b); err != nil {
		return 0, err
	}
	return g.Now(), nil
}

// Stamp implements bench.Group. Arrivals are exact in any case.
func (g *Group) Stamp() error { return nil }

func (g *Group) recv(src *proc, b []byte, wake units.Nanos) error {
	w := g.w
	c := w.conn(src, g.end())
	c.want = b
	if !c.read() {
		if c.lost() {
			c.want = nil
			return ErrPeer
		}
		if err := w.wait(g.self, wait{kind: waitRecv, c: c, deadline: w.limit()}); err != nil {
			return err
		}
	} else {
		wake = 0
	}
	return w.spend(g.self, fromNanos(wake)+w.opt.Cost.recv(len(b)))
}

// Now reads the host's clock. On a closed or deadlocked group it reads where time stopped.
func (g *Group) Now() units.Nanos {
	w := g.w
	w.begin(g.self)
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.opt.Cost.Now; c > 0 && w.fault(g.self) == nil {
		// An error here means the group was closed meanwhile; the caller's next call says so.
		_ = w.sleep(g.self, w.now+fromNanos(c))
	}
	return g.self.clock.read(w.now)
}

// WaitUntil returns when the host's clock has reached t: in the simulator, exactly then.
func (g *Group) WaitUntil(t units.Nanos) error {
	if err := g.w.enter(g.self); err != nil {
		return fmt.Errorf("wait: %w", err)
	}
	err := g.w.sleep(g.self, g.self.clock.when(t))
	g.w.mu.Unlock()
	if err != nil {
		return fmt.Errorf("wait: %w", err)
	}
	return nil
}

// Counters returns what was counted on the connection to a peer, and on those it replaced. Segments carry data only;
// the window is constant, and is reported as the congestion window.
func (g *Group) Counters(peer int) (dataset.TCP, error) {
	if err := g.enter(peer); err != nil {
		return dataset.TCP{}, fmt.Errorf("counters of rank %d: %w", peer, err)
	}
	defer g.w.mu.Unlock()
	out, in := g.w.conn(g.self, g.team[peer]), g.w.conn(g.team[peer], g.self)
	mss := int64(g.w.net.spec.MSS)
	return dataset.TCP{
		SegsOut: out.sent, DataSegsOut: out.sent, SegsIn: in.got, DataSegsIn: in.got, Retrans: out.retrans,
		Cwnd: int64(out.window) / mss, MSS: mss, Congestion: "none",
		SndBuf: int64(out.room), RcvBuf: int64(in.window),
	}, nil
}

// LimitUnsent bounds the bytes to a peer that have not left the host's block. 0 leaves the room of the send buffer.
func (g *Group) LimitUnsent(peer int, n int64) error {
	if err := g.enter(peer); err != nil {
		return fmt.Errorf("limit the unsent bytes to rank %d: %w", peer, err)
	}
	defer g.w.mu.Unlock()
	g.w.conn(g.self, g.team[peer]).unsent = int(n)
	return nil
}

// LimitRoom bounds the bytes to a peer that it has not read; beside them the send buffer has its room. 0 leaves the
// window.
func (g *Group) LimitRoom(peer int, n int64) error {
	if err := g.enter(peer); err != nil {
		return fmt.Errorf("limit the bytes on their way to rank %d: %w", peer, err)
	}
	defer g.w.mu.Unlock()
	g.w.conn(g.self, g.team[peer]).most = int(n)
	return nil
}

// Close leaves the team: the rank's own calls fail from now on, and its peers' once they have what it sent. It must be
// called when the rank is done, or the others wait for it for ever.
func (g *Group) Close() error {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	g.w.leave(g.self)
	return nil
}

// enter locks the world for a call that concerns a peer.
func (g *Group) enter(peer int) error {
	if peer < 0 || peer >= len(g.team) || peer == g.rank {
		return fmt.Errorf("%w: rank %d of %d speaks to rank %d", ErrRank, g.rank, len(g.team), peer)
	}
	return g.w.enter(g.self)
}

// RecvAny waits for bytes of any rank. Ranks are served in turn. When nothing is there and a rank whose bytes were all
// received has left, it fails with ErrPeer, whatever the others may still send.
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
			if p != g.self && finished(p, g.self) {
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
	if err := g.w.spend(g.self, fromNanos(g.w.opt.Cost.Now)); err != nil {
		return 0, fmt.Errorf("bytes pending from rank %d: %w", from, err)
	}
	if c := g.team[from].to(g.end()); c != nil {
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
	return c.held - c.arrived, nil
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
	c := w.conn(g.end(), dst)
	// The call copies what fits; what gets room later is copied while it waits.
	if err := w.spend(g.self, w.opt.Cost.send(min(len(b), max(0, c.space()-c.buffered)))); err != nil {
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
