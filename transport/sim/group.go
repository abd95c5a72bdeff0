package sim

import (
	"cmp"
	"fmt"
	"math"

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
func (g *Group) Rank() int  { return g.rank }
func (g *Group) Size() int  { return len(g.team) }

// call does f for a peer with the world locked. what names it in an error, as a format of n.
func (g *Group) call(peer int, what string, n int, f func(peer *proc) error) error {
	fail := func(where string, i int, err error) error {
		return fmt.Errorf(what+" %[2]s %[3]d: %[4]w", n, where, i, err)
	}
	if peer < 0 || peer >= len(g.team) || peer == g.rank {
		return fail("rank", peer, fmt.Errorf("%w: rank %d of %d speaks to rank %d", ErrRank, g.rank, len(g.team), peer))
	}
	if err := g.w.enter(g.self); err != nil {
		return fail("rank", peer, err)
	}
	defer g.w.mu.Unlock()
	if err := f(g.team[peer]); err != nil {
		return fail("host", g.team[peer].host, err)
	}
	return nil
}

// alone does f with the world locked. what names it in an error.
func (g *Group) alone(what string, f func() error) error {
	err := g.w.enter(g.self)
	if err == nil {
		err = f()
		g.w.mu.Unlock()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Send sends b as one message of ⌈len(b)/MSS⌉ packets and returns when its last byte is in the send buffer. An empty
// message is nothing, as on TCP.
func (g *Group) Send(to int, b []byte) error {
	return g.call(to, "send %[1]d bytes to", len(b), func(dst *proc) error {
		_, err := g.send(dst, b, len(b), func() wait { return wait{kind: waitSend, deadline: g.w.limit()} })
		return err
	})
}

// send gives b to the connection to dst, and returns how much has found room. The call copies that many bytes itself;
// what gets room later is copied while it waits as x says, or not at all where x is nil.
func (g *Group) send(dst *proc, b []byte, copies int, x func() wait) (int, error) {
	w := g.w
	c := w.conn(g.end(), dst)
	if err := w.spend(g.self, w.opt.Cost.send(copies)); err != nil {
		return 0, err
	}
	if c.lost() {
		return 0, ErrPeer
	}
	c.pending = b
	c.accept()
	if len(c.pending) > 0 && x != nil {
		until := x()
		until.c = c
		if err := w.wait(g.self, until); err != nil {
			return 0, err
		}
	}
	n := len(b) - len(c.pending)
	c.pending = nil
	return n, nil
}

// Recv fills b with the next len(b) bytes from a rank.
func (g *Group) Recv(from int, b []byte) error { return g.receive(from, b, g.w.opt.Cost.Wake) }

// receive is Recv with what a rank takes to wake up.
func (g *Group) receive(from int, b []byte, wake units.Nanos) error {
	return g.call(from, "receive %[1]d bytes from", len(b), func(src *proc) error {
		w := g.w
		c := w.conn(src, g.end())
		c.want = b
		if c.read() {
			return w.spend(g.self, w.opt.Cost.recv(len(b)))
		}
		if c.lost() {
			c.want = nil
			return ErrPeer
		}
		if err := w.wait(g.self, wait{kind: waitRecv, c: c, deadline: w.limit()}); err != nil {
			return err
		}
		return w.spend(g.self, fromNanos(wake)+w.opt.Cost.recv(len(b)))
	})
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
	return g.alone("wait", func() error { return g.w.sleep(g.self, g.self.clock.when(t)) })
}

// Counters returns what was counted on the connection to a peer, and on those it replaced. Segments carry data only;
// the window is constant, and is reported as the congestion window.
func (g *Group) Counters(peer int) (tcp dataset.TCP, err error) {
	err = g.call(peer, "counters of", 0, func(peer *proc) error {
		out, in := g.w.conn(g.self, peer), g.w.conn(peer, g.self)
		mss := int64(g.w.net.spec.MSS)
		tcp = dataset.TCP{
			SegsOut: out.sent, DataSegsOut: out.sent, SegsIn: in.got, DataSegsIn: in.got, Retrans: out.retrans,
			Cwnd: int64(out.window) / mss, MSS: mss, Congestion: "none",
			SndBuf: int64(out.room), RcvBuf: int64(in.window),
		}
		return nil
	})
	return tcp, err
}

// bound bounds the bytes to a peer that have not left the host's block, 0 leaves the room of the send buffer; and those
// that the peer has not read, beside which the send buffer has its room, 0 leaves the window.
func (g *Group) bound(peer int, unsent, room int64) error {
	return g.call(peer, "bound the bytes on their way to", 0, func(dst *proc) error {
		c := g.w.conn(g.self, dst)
		c.unsent, c.most = cmp.Or(int(unsent), math.MaxInt), cmp.Or(int(room), math.MaxInt)
		return nil
	})
}

// Close leaves the team: the rank's own calls fail from now on, and its peers' once they have what it sent. It must be
// called when the rank is done, or the others wait for it for ever.
func (g *Group) Close() error {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	g.w.leave(g.self)
	return nil
}

// RecvAny implements bench.Group. When nothing is there and a rank whose bytes were all received has left, it fails
// with ErrPeer, whatever the others may still send.
func (g *Group) RecvAny(b []byte) (from, n int, at units.Nanos, err error) {
	err = g.alone("receive from any rank", func() error {
		w := g.w
		c := g.nextReady()
		if c == nil {
			for _, p := range g.team {
				if p != g.self && finished(p, g.self) {
					return ErrPeer
				}
			}
			if err := w.wait(g.self, wait{kind: waitAny, deadline: w.limit()}); err != nil {
				return err
			}
			c = g.nextReady()
		}
		g.turn = c.src.rank + 1
		from, n = c.src.rank, min(len(b), c.arrived)
		c.want = b[:n]
		c.read()
		return w.sleep(g.self, w.now+w.opt.Cost.recv(n))
	})
	if err != nil {
		return 0, 0, 0, err
	}
	return from, n, g.Now(), nil
}

func (g *Group) nextReady() *conn {
	for i := range g.team {
		p := g.team[(g.turn+i)%len(g.team)]
		if c := p.out[g.self]; c != nil && c.arrived > 0 {
			return c
		}
	}
	return nil
}

// Pending returns how many bytes from a rank have arrived and were not received.
func (g *Group) Pending(from int) (n int, err error) {
	err = g.call(from, "bytes pending from", 0, func(src *proc) error {
		if err := g.w.spend(g.self, fromNanos(g.w.opt.Cost.Now)); err != nil {
			return err
		}
		if c := src.out[g.end()]; c != nil {
			n = c.arrived
		}
		return nil
	})
	return n, err
}

// Unacked returns how many bytes sent to a rank have not arrived there. Acknowledgements take no time here.
func (g *Group) Unacked(to int) (n int, err error) {
	err = g.call(to, "bytes unacknowledged by", 0, func(dst *proc) error {
		if err := g.w.sleep(g.self, g.w.now+fromNanos(g.w.opt.Cost.Now)); err != nil {
			return err
		}
		c := g.self.out[dst]
		if c == nil {
			return nil
		}
		if c.lost() {
			return ErrPeer
		}
		n = c.held - c.arrived
		return nil
	})
	return n, err
}

// SendSome sends what there is room for, whole packets at a time, and gives up after patience without progress. What it
// could not send is not part of the message; the next Send begins a new one.
func (g *Group) SendSome(to int, b []byte, patience units.Nanos) (n int, err error) {
	err = g.call(to, "send up to %[1]d bytes to", len(b), func(dst *proc) (err error) {
		var x func() wait
		if patience > 0 {
			limit := fromNanos(patience)
			x = func() wait { return wait{kind: waitSome, deadline: g.w.now + limit, patience: limit} }
		}
		c := g.w.conn(g.end(), dst)
		n, err = g.send(dst, b, min(len(b), max(0, c.space()-c.buffered)), x)
		return err
	})
	return n, err
}
