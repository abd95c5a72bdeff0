package transport

import (
	"cmp"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"calib/internal/kernel"
	"calib/internal/units"
)

// anyReceiver is what RecvAny waits with: the team's open connections, and the one to read from next.
type anyReceiver struct {
	fds   []unix.PollFd // what the last poll found is in Revents: bytes, an end or an error
	ranks []int         // of fds
	turn  int           // index in ranks
	seen  int           // Group.changes when it was made
}

func (w *anyReceiver) build(g *Group) {
	w.fds, w.ranks = w.fds[:0], w.ranks[:0]
	for rank, c := range g.conns {
		if c != nil {
			w.fds = append(w.fds, unix.PollFd{Fd: int32(c.fd), Events: unix.POLLIN})
			w.ranks = append(w.ranks, rank)
		}
	}
	w.seen = g.changes
}

// next returns the next rank of those the last wait found ready, or -1. Each is served once before the next wait, and
// the next wait starts after the last one served, so that no sender can keep another waiting.
func (w *anyReceiver) next() int {
	for range w.ranks {
		i := w.turn % len(w.ranks)
		w.turn = i + 1
		if w.fds[i].Revents != 0 {
			w.fds[i].Revents = 0
			return w.ranks[i]
		}
	}
	return -1
}

// RecvAny implements bench.Group. After a silence it fails with ErrTimeout, and every connection stays usable. A rank
// whose connection has ended is an error of class ErrPeerClosed when its turn comes, once: the ranks that are left can
// be received from by calling again. The first call of a group opens the missing connections, as Open does.
func (g *Group) RecvAny(b []byte) (from, n int, at units.Nanos, err error) {
	w := g.anyReceiver
	if w == nil {
		if err := g.Open(); err != nil {
			return 0, 0, 0, err
		}
		w = &anyReceiver{seen: -1}
		g.anyReceiver = w
	}
	var deadline units.Nanos // from the first wait on
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
		if len(w.ranks) == 0 {
			return 0, 0, 0, fmt.Errorf("receive from any rank: %w: no connection is left", ErrPeerClosed)
		}
		now := kernel.Now()
		deadline = cmp.Or(deadline, now+g.timeout)
		ready, err := kernel.Poll(w.fds, deadline-now)
		if err == nil && ready == 0 && kernel.Now() >= deadline {
			err = ErrTimeout
		}
		if err != nil {
			return 0, 0, 0, fmt.Errorf("receive from any of %d ranks: %w", len(w.ranks), err)
		}
	}
}

// recvNow reads what has come, at most len(b) bytes; n is 0 when nothing has.
func (c *Conn) recvNow(b []byte) (n int, at units.Nanos, err error) {
	var errno syscall.Errno
	if c.stamps != nil {
		n, at, errno = c.stamps.Recv(c.fd, b, unix.MSG_DONTWAIT)
	} else {
		n, errno = kernel.Recv(c.fd, b, unix.MSG_DONTWAIT)
	}
	switch {
	case errno == syscall.EAGAIN || errno == syscall.EINTR:
		return 0, 0, nil
	case errno != 0:
		return 0, 0, c.failed("receive", len(b), class(errno))
	case at == 0:
		at = kernel.Now()
	}
	return n, at, c.count(n, len(b))
}

// count counts what a read of at most size bytes has got, which is nothing at the end of the stream only.
func (c *Conn) count(n, size int) error {
	switch {
	case n == 0:
		return c.failed("receive", size, ErrPeerClosed)
	case !c.take(n):
		return c.failed("receive", n, ErrTicketBytes)
	}
	return nil
}

// RecvPolling is Recv by a thread that looks for the bytes again and again, and never sleeps.
func (g *Group) RecvPolling(from int, b []byte) error {
	c, err := g.link(from)
	began, size := kernel.Now(), len(b)
	for err == nil && len(b) > 0 {
		n, _, err := c.recvNow(b)
		if err == nil && n > 0 {
			b, began = b[n:], kernel.Now()
		} else if err == nil && kernel.Now()-began > g.timeout {
			err = c.failed("receive", size, ErrTimeout)
		}
		if err != nil {
			return g.failed(from, err)
		}
	}
	return err
}

// Pending implements plane.Mover. Where there are no bytes and never will be any it fails as Recv would, so that a loop
// that waits for bytes ends.
func (g *Group) Pending(from int) (int, error) {
	return g.queued(from, "receive", unix.TIOCINQ, func(c *Conn, n int) bool { return n == 0 && kernel.Ended(c.fd) })
}

// Unacked implements bench.Group. It counts what waits to leave this host, too.
func (g *Group) Unacked(to int) (int, error) {
	return g.queued(to, "send", unix.TIOCOUTQ, func(c *Conn, n int) bool {
		return c.broken.Load() || n > 0 && !kernel.Established(c.fd)
	})
}

// queued asks how many bytes a buffer of the connection to a rank holds (tcp(7), SIOCINQ and SIOCOUTQ).
func (g *Group) queued(rank int, verb string, request uint, ended func(c *Conn, n int) bool) (int, error) {
	c, err := g.link(rank)
	if err != nil {
		return 0, err
	}
	n, err := unix.IoctlGetInt(c.fd, request)
	if err == nil && ended(c, n) {
		err = ErrPeerClosed
	}
	if err != nil {
		err = c.failed(verb, 1, err)
	}
	return n, g.failed(rank, err)
}

// SendSome implements plane.Mover. The n bytes that it has sent are not a message of their own. It fails as Send does
// where the connection is of no further use.
func (g *Group) SendSome(to int, b []byte, patience units.Nanos) (n int, err error) {
	c, err := g.link(to)
	if err != nil {
		return 0, err
	}
	n, err = c.sendSome(b, patience)
	return n, g.failed(to, err)
}

// forEver is a patience that does not end [ns]: a hundred years.
const forEver = units.Nanos(1 << 61)

// sendSome sets MSG_EOR on every call: the kernel marks the end only when it takes a call's last byte, which is the
// message's last.
func (c *Conn) sendSome(b []byte, patience units.Nanos) (sent int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	if !c.take(len(b)) {
		return 0, c.failed("send", len(b), ErrTicketBytes)
	}
	sent, err = c.push(b, c.flags, patience)
	c.allowed.Add(int64(len(b) - sent))
	return sent, err
}

// push sends what it can of b until the kernel has taken nothing for as long as patience says.
func (c *Conn) push(b []byte, flags uintptr, patience units.Nanos) (sent int, err error) {
	stalled := units.Nanos(0) // since when nothing is taken; 0 while something is
	for sent < len(b) {
		n, errno := kernel.Send(c.fd, b[sent:], flags|unix.MSG_DONTWAIT)
		switch {
		case n > 0:
			sent, stalled = sent+n, 0
			continue
		case errno == syscall.EINTR:
			continue
		case errno != syscall.EAGAIN:
			return sent, c.failed("send", len(b), class(errno))
		case stalled > 0 && !kernel.Established(c.fd): // a peer whose buffer is full ends without a reset
			return sent, c.failed("send", len(b), ErrPeerClosed)
		}
		now := kernel.Now()
		stalled = cmp.Or(stalled, now)
		if now-stalled >= patience {
			break
		}
		// The kernel calls a socket writable once a third of its buffer is free, so a send may succeed earlier.
		if err := kernel.WaitFor(c.fd, unix.POLLOUT|unix.POLLRDHUP, stalled+patience-now); err != nil {
			return sent, c.failed("send", len(b), err)
		}
	}
	return sent, nil
}

// recvSlice is the longest wait of one system call that receives. Recv's first is hidden from the scheduler: the thread
// then holds one of Go's processors for so long at most, and gets its bytes without asking for one.
const recvSlice = 10 * units.Millisecond

// again returns nil when the receive that ended with errno should be made again: the kernel ends one after recvSlice, a
// signal earlier. From then on the wait is a poll, for as long as the receive timeout allows. since is when the silence
// began, 0 before the first call.
func (c *Conn) again(errno syscall.Errno, since *units.Nanos) error {
	now := kernel.Now()
	switch {
	case errno != syscall.EAGAIN && errno != syscall.EINTR:
		return class(errno)
	case *since == 0 && errno == syscall.EAGAIN:
		*since = now - recvSlice
	case *since == 0:
		*since = now
	}
	left := waitSlice
	if c.timeout > 0 {
		if left = *since + c.timeout - now; left <= 0 {
			return ErrTimeout
		}
	}
	return kernel.WaitFor(c.fd, unix.POLLIN, left)
}

// class is the error of a call that is not to be made again.
func class(errno syscall.Errno) error {
	switch errno {
	case syscall.EAGAIN:
		return ErrTimeout
	case syscall.EPIPE, syscall.ECONNRESET:
		return fmt.Errorf("%w (%w)", ErrPeerClosed, errno)
	case syscall.ETIMEDOUT: // the peer's host stopped acknowledging
		return fmt.Errorf("%w (%w)", ErrTimeout, errno)
	}
	return errno
}
