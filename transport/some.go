package transport

import (
	"syscall"

	"calib/internal/units"
)

// SendSome sends as much of b as the kernel takes, and gives up when it has taken nothing more for patience: n is then
// below len(b), err is nil, and the stream goes on behind those n bytes, which are no message of their own. A patience of
// 0 waits for nothing. It fails as Send does where the connection is of no further use.
func (g *Group) SendSome(to int, b []byte, patience units.Nanos) (int, error) {
	c, err := g.link(to)
	if err != nil {
		return 0, err
	}
	n, err := c.sendSome(b, patience)
	if err != nil {
		return n, g.failed(to, err)
	}
	return n, nil
}

// sendSome leaves MSG_EOR on every call: the kernel marks the end only when a call's last byte is taken, which is the
// message's last.
func (c *Conn) sendSome(b []byte, limit units.Nanos) (sent int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	if int64(len(b)) > c.sendLeft && !c.allowed.lease(&c.sendLeft, len(b)) {
		return 0, c.failed("send", len(b), ErrTicketBytes)
	}
	c.sendLeft -= int64(len(b))
	defer func() { c.sendLeft += int64(len(b) - sent) }()
	stalled := units.Nanos(0) // since when nothing is taken; 0 while something is
	for {
		n, errno := sysSend(c.fd, b[sent:], c.flags|dontWait)
		switch {
		case n > 0:
			sent, stalled = sent+n, 0
			if sent == len(b) {
				return sent, nil
			}
			continue
		case errno == syscall.EINTR:
			continue
		case errno != syscall.EAGAIN:
			var none patience
			return sent, c.failed("send", len(b), c.check(errno, &none))
		}
		now := Now()
		if stalled == 0 {
			stalled = now
		}
		if now-stalled >= limit {
			return sent, nil
		}
		if errno := waitWrite(c.fd, stalled+limit-now); errno != 0 {
			return sent, c.failed("send", len(b), errno)
		}
	}
}
