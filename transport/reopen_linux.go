package transport

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"calib/internal/kernel"
	"calib/internal/plane"
	"calib/internal/units"
)

// What is sent over an old connection: here by the side that dials, once it is in Reopen, and then ready by the other,
// once the new one may be dialled.
const (
	here  = "calibhr\n"
	ready = "calibrd\n"
)

// Reopen replaces the team's connections by new ones with the options o, whatever the session's, but for its congestion
// control where o names none: that is the user's choice for the whole run. Every rank calls it with the same o, when
// nothing is under way; the first to return may send at once. It ends within openTimeout. The next Reopen or Close
// undoes it: connections with options other than the session's are not kept for the next group.
//
// Buffers of accepted connections are the listener's, and the window scale is settled by the first packet. So each rank
// gives its listener the options before it tells the ranks that dial it, over the old connections, that it is ready;
// they then drop the old connection and dial. A rank that dials has said before that it is here: one that comes later
// to its group would find the old connection ended, take it for a failure and dial on its own. A rank sends here on all
// its connections before it waits on any, and the mesh, not the rank, answers handshakes: so no cycle of ranks can wait
// for each other.
func (g *Group) Reopen(o plane.Socket) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("reopen: %w", err)
		}
	}()
	ctx, cancel := context.WithTimeout(g.life, time.Duration(openTimeout))
	defer cancel()
	deadline := kernel.Now() + openTimeout
	if err := g.openAll(ctx); err != nil {
		return err
	}
	s, err := g.mesh.override(g.overridden, g.hosts, &o)
	if g.overridden = cmp.Or(s, g.overridden); err != nil {
		return err
	}
	renew := func(rank int) error {
		_, err := g.connect(ctx, rank, 0, true)
		return err
	}
	for i, step := range []func(rank int) error{ // of the side that dials and of the other, by turns
		func(rank int) error { return g.failed(rank, g.conns[rank].Send([]byte(here))) },
		func(rank int) error { return g.askToRedial(rank, deadline) },
		func(rank int) error {
			err := g.expect(rank, ready, deadline)
			if err == nil {
				g.dropConn(rank)
				err = renew(rank)
			}
			return err
		},
		renew,
	} {
		for _, rank := range g.others {
			if g.dials(rank) == (i%2 == 0) {
				if err := step(rank); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (g *Group) dials(rank int) bool { return g.team[g.rank] < g.team[rank] }

// askToRedial tells a rank that dials this one, and is here, to do so again, and ends the old connection. The mesh
// forgets the old one first, since the new one may exist before this returns.
func (g *Group) askToRedial(rank int, deadline units.Nanos) error {
	if err := g.expect(rank, here, deadline); err != nil {
		return err
	}
	g.mesh.unlink(linkID{g.team[rank], 0}, g.conns[rank])
	err := g.failed(rank, g.conns[rank].Send([]byte(ready)))
	if err == nil {
		g.dropConn(rank)
	}
	return err
}

// expect receives a word over the old connection.
func (g *Group) expect(rank int, word string, deadline units.Nanos) error {
	c, b := g.conns[rank], make([]byte, len(word))
	err := c.SetTimeouts(max(deadline-kernel.Now(), units.Millisecond))
	if err == nil {
		err = c.Recv(b)
	}
	if err == nil && string(b) != word {
		err = fmt.Errorf("%s: bytes of a message were still under way", c.peer)
	}
	return g.failed(rank, err)
}

// dropConn ends the connection to a rank, so that the next asked for is another. What was sent on it still arrives.
func (g *Group) dropConn(rank int) {
	g.mesh.unlink(linkID{g.team[rank], 0}, g.conns[rank])
	g.conns[rank].Shutdown()
	g.letGo(rank)
}

// unlink gives up the mesh's hold on c if it is the connection of id. The caller's hold stays.
func (m *Mesh) unlink(id linkID, c *Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session == nil {
		return
	}
	if l := m.session.links[id]; l != nil && l.conn == c {
		l.conn.Release()
		l.conn, l.arrived = nil, make(chan struct{})
	}
}

// override makes o the options of the connections to hosts that are opened from now on, and returns the session it did
// so in. A nil o means the session's own again: connections with others are then dropped. only, if set, is the session
// it is meant for.
func (m *Mesh) override(only *session, hosts []int, o *plane.Socket) (*session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.session
	if s == nil || only != nil && s != only {
		return nil, ErrNoSession
	}
	undo := o == nil
	want := s.Socket
	if !undo {
		want = *o
		want.Congestion = cmp.Or(want.Congestion, s.Socket.Congestion)
	}
	for _, host := range hosts {
		l, ok := s.link(host, 0)
		if !ok {
			return s, fmt.Errorf("host %d: no ticket: %w", host, ErrNoSession)
		}
		if undo && l.options != want {
			l.drop(nil)
		}
		l.options = want
	}
	return s, m.listenWith(want)
}

// listenWith gives connections accepted from now on what they take from the listener of o. m.mu is held.
func (m *Mesh) listenWith(o plane.Socket) error {
	want := plane.Socket{SndBuf: o.SndBuf, RcvBuf: o.RcvBuf, Congestion: o.Congestion}
	if want == m.listening {
		return nil
	}
	if err := kernel.SetListenOptions(m.fd, want, m.listening, m.defaults); err != nil {
		return err
	}
	m.listening = want
	return nil
}
