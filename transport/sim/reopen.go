package sim

import (
	"errors"
	"fmt"

	"calib/internal/plane"
)

// crew is what the ranks of a team share.
type crew struct {
	procs  []*proc
	socket plane.Socket // of the connections there are
	came   int          // ranks that wait in Reopen
	next   plane.Socket // that they came with
}

var errSocket = errors.New("the ranks of the team ask for different options")

// Reopen replaces the team's connections; what was under way in the old ones is lost. The new ones have a send buffer of
// twice SndBuf and a window of twice RcvBuf, or those of the options. With NoEOR messages merge: a connection has one packet
// in its host's block at a time, and the next one takes up to MSS of the bytes that have come meanwhile. With Nagle a packet
// below MSS waits while the connection has packets that are not acknowledged. There is no congestion control, whatever its
// name. All ranks return at the same instant.
func (g *Group) Reopen(s plane.Socket) error {
	if s.SndBuf < 0 || s.RcvBuf < 0 {
		return fmt.Errorf("reopen: buffers of %d and %d bytes, want 0 or more", s.SndBuf, s.RcvBuf)
	}
	if err := g.w.enter(g.self); err != nil {
		return fmt.Errorf("reopen: %w", err)
	}
	err := g.reopen(s)
	g.w.mu.Unlock()
	if err != nil {
		return fmt.Errorf("host %d reopens its connections: %w", g.self.host, err)
	}
	return nil
}

func (g *Group) reopen(s plane.Socket) error {
	w, crew := g.w, g.self.crew
	for _, p := range crew.procs {
		if p.state == dead {
			return ErrPeer
		}
	}
	if crew.came > 0 && s != crew.next {
		crew.disperse(w, g.self, errSocket)
		return errSocket
	}
	crew.next = s
	if crew.came++; crew.came < len(crew.procs) {
		return w.wait(g.self, wait{kind: waitReopen, deadline: w.limit()})
	}
	crew.socket = s
	for _, src := range crew.procs {
		for i, old := range src.out {
			if old != nil {
				c := w.newConn(src, old.dst)
				c.sent, c.got, c.retrans = old.sent, old.got, old.retrans
				src.out[i] = c
			}
		}
	}
	crew.disperse(w, g.self, nil)
	return nil
}

// disperse ends the Reopen of all who wait in it.
func (k *crew) disperse(w *world, self *proc, err error) {
	k.came = 0
	for _, p := range k.procs {
		if p != self && p.state == blocked && p.wait.kind == waitReopen {
			w.release(p, err)
		}
	}
}

// newConn returns a connection with its team's options.
func (w *world) newConn(src, dst *proc) *conn {
	s := &src.crew.socket
	c := &conn{
		w: w, src: src, dst: dst, merge: s.NoEOR, nagle: s.Nagle,
		room: int(w.opt.SendBuffer), window: int(w.opt.Window),
	}
	if s.SndBuf > 0 {
		c.room = 2 * int(s.SndBuf)
	}
	if s.RcvBuf > 0 {
		c.window = 2 * int(s.RcvBuf)
	}
	return c
}
