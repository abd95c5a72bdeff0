package transport

import (
	"errors"
	"fmt"
	"syscall"

	"calib/internal/units"
)

// gate is where RecvAny waits: the team's open connections, and whose turn it is.
type gate struct {
	poll  poller
	ranks []int // of the descriptors in poll
	turn  int   // index in ranks
	seen  int   // Group.changes when it was made
}

// build lists the open connections of g.
func (w *gate) build(g *Group) {
	w.poll.reset()
	w.ranks = w.ranks[:0]
	for rank, c := range g.conns {
		if c != nil {
			w.poll.add(c.fd)
			w.ranks = append(w.ranks, rank)
		}
	}
	w.seen = g.changes
}

// next returns the rank whose turn it is among those the last wait found ready; none is -1. Each is served once before
// the next wait, and the next wait goes on behind the last served, so that no sender keeps another waiting.
func (w *gate) next() int {
	for range w.ranks {
		i := w.turn % len(w.ranks)
		w.turn = i + 1
		if w.poll.ready(i) {
			w.poll.clear(i)
			return w.ranks[i]
		}
	}
	return -1
}

// RecvAny waits until any rank's bytes are there, reads at most len(b) of one rank's, and says whose, how many, and when
// the last of them came (as RecvAt). Ranks that have bytes waiting are served in turn. After a silence as long as the
// receive timeout it fails with ErrTimeout, and no stream is harmed. A rank whose connection has ended is an error of
// class ErrPeerClosed when its turn comes, once: the ranks that are left can be received from by calling again.
//
// The first call of a group opens the links there are not yet, as Open does.
func (g *Group) RecvAny(b []byte) (from, n int, at units.Nanos, err error) {
	if len(b) == 0 {
		return 0, 0, 0, errors.New("receive from any rank: no room to receive into")
	}
	w := g.gate
	if w == nil {
		if err := g.Open(); err != nil {
			return 0, 0, 0, err
		}
		w = &gate{seen: -1}
		g.gate = w
	}
	deadline := units.Nanos(0)
	for {
		if w.seen != g.changes {
			w.build(g)
		}
		for rank := w.next(); rank >= 0; rank = w.next() {
			n, at, err := g.conns[rank].recvNow(b)
			if err != nil {
				return rank, 0, 0, g.failed(rank, err)
			}
			if n > 0 {
				return rank, n, at, nil
			}
		}
		if err := g.waitAny(w, &deadline); err != nil {
			return 0, 0, 0, fmt.Errorf("receive from any of %d ranks: %w", len(w.ranks), err)
		}
	}
}

// waitAny waits for a descriptor of w until deadline, which it sets when it is 0.
func (g *Group) waitAny(w *gate, deadline *units.Nanos) error {
	if len(w.ranks) == 0 {
		return fmt.Errorf("%w: no connection is left", ErrPeerClosed)
	}
	now := Now()
	if *deadline == 0 {
		*deadline = now + g.timeout
	}
	ready, errno := w.poll.wait(*deadline - now)
	switch {
	case errno != 0:
		return errno
	case ready == 0 && Now() >= *deadline:
		return ErrTimeout
	}
	return nil
}

// recvNow reads what has come, at most len(b) bytes; n is 0 when nothing has.
func (c *Conn) recvNow(b []byte) (n int, at units.Nanos, err error) {
	var errno syscall.Errno
	if c.stamps != nil {
		n, at, errno = c.stamps.recv(c.fd, b, dontWait)
	} else {
		n, errno = sysRecv(c.fd, b, dontWait)
	}
	switch {
	case n > 0:
		if int64(n) > c.recvLeft && !c.allowed.lease(&c.recvLeft, n) {
			return 0, 0, c.failed("receive", n, ErrTicketBytes)
		}
		c.recvLeft -= int64(n)
		if at == 0 {
			at = Now()
		}
		return n, at, nil
	case errno == 0:
		return 0, 0, c.failed("receive", len(b), ErrPeerClosed)
	case errno == syscall.EAGAIN || errno == syscall.EINTR:
		return 0, 0, nil
	}
	var none patience
	return 0, 0, c.failed("receive", len(b), c.check(errno, &none))
}

// Pending is how many bytes from a rank can be received at once. Where there are none and never will be any it fails as
// Recv would, so that a loop that waits for bytes ends.
func (g *Group) Pending(from int) (int, error) {
	c, err := g.link(from)
	if err != nil {
		return 0, err
	}
	n, err := sysPending(c.fd)
	switch {
	case err != nil:
		return 0, g.failed(from, c.failed("receive", 1, err))
	case n == 0 && sysEnded(c.fd):
		return 0, g.failed(from, c.failed("receive", 1, ErrPeerClosed))
	}
	return n, nil
}

// Unacked returns how many bytes sent to a rank its host has not acknowledged: those that wait to leave this host, and those
// on their way.
func (g *Group) Unacked(to int) (int, error) {
	c, err := g.link(to)
	if err != nil {
		return 0, err
	}
	n, err := sysUnacked(c.fd)
	if err != nil {
		return 0, g.failed(to, c.failed("send", 1, err))
	}
	if c.broken.Load() || n > 0 && !sysEstablished(c.fd) {
		return 0, g.failed(to, c.failed("send", 1, ErrPeerClosed))
	}
	return n, nil
}
