package sim

import (
	"errors"
	"fmt"
	"math"

	"calib/internal/plane"
)

type team struct {
	procs   []*proc
	socket  plane.Socket // of the connections there are
	waiting int          // ranks that wait in Reopen
	next    plane.Socket // the options they asked for
}

var errSocket = errors.New("the ranks of the team ask for different options")

// Reopen replaces the team's connections; what was under way in the old ones is lost. The new ones have a send buffer
// of twice SndBuf and a window of twice RcvBuf, or those of the options. With NoEOR messages merge: a connection has
// one packet in its host's block at a time, and the next one takes up to MSS of the bytes that have come meanwhile.
// With Nagle a packet below MSS waits while the connection has packets that are not acknowledged. There is no
// congestion control, whatever its name. All ranks return at the same instant.
func (g *Group) Reopen(s plane.Socket) error {
	what := fmt.Sprintf("host %d reopens its connections", g.self.host)
	return g.alone(what, func() error { return g.reopen(s) })
}

func (g *Group) reopen(s plane.Socket) error {
	w, team := g.w, g.self.team
	for _, p := range team.procs {
		if p.state == dead {
			return ErrPeer
		}
	}
	if team.waiting > 0 && s != team.next {
		team.endReopen(w, g.self, errSocket)
		return errSocket
	}
	team.next = s
	if team.waiting++; team.waiting < len(team.procs) {
		return w.wait(g.self, wait{kind: waitReopen, deadline: w.limit()})
	}
	team.socket = s
	for _, src := range team.procs {
		for dst, old := range src.out {
			c := w.newConn(src, dst)
			c.sent, c.got, c.retrans = old.sent, old.got, old.retrans
			src.out[dst] = c
		}
	}
	team.endReopen(w, g.self, nil)
	return nil
}

// endReopen ends the Reopen of all who wait in it.
func (k *team) endReopen(w *world, self *proc, err error) {
	k.waiting = 0
	for _, p := range k.procs {
		if p != self && p.state == blocked && p.wait.kind == waitReopen {
			w.release(p, err)
		}
	}
}

func (w *world) newConn(src, dst *proc) *conn {
	s := &src.team.socket
	c := &conn{
		w: w, src: src, dst: dst, merge: s.NoEOR, nagle: s.Nagle, unsent: math.MaxInt, most: math.MaxInt,
		room: int(w.opt.SendBuffer), window: int(w.opt.Window), back: w.path.Delays(dst.owner, src.owner),
	}
	if c.acks = w.acks[c.back]; c.acks == nil {
		c.acks = &line[ack]{then: func(a ack) { a.c.acked(a.upTo) }}
		w.acks[c.back] = c.acks
	}
	if s.SndBuf > 0 {
		c.room = 2 * int(s.SndBuf)
	}
	if s.RcvBuf > 0 {
		c.window = 2 * int(s.RcvBuf)
	}
	return c
}
