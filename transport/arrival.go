package transport

import "calib/internal/units"

// StampArrivals makes RecvAt say when the kernel took the last byte from the network, not when this thread read it.
func (c *Conn) StampArrivals() (err error) {
	if c.stamps == nil {
		c.stamps, err = newStamper(c.fd)
	}
	return err
}

// RecvAt is Recv, and says when the last byte came: by the kernel's stamp after StampArrivals, else by the clock now. It
// ends as Recv does.
func (c *Conn) RecvAt(b []byte) (at units.Nanos, err error) {
	if c.stamps == nil {
		err = c.Recv(b)
		return Now(), err
	}
	if int64(len(b)) > c.recvLeft && !c.allowed.lease(&c.recvLeft, len(b)) {
		return 0, c.failed("receive", len(b), ErrTicketBytes)
	}
	c.recvLeft -= int64(len(b))
	size, wait := len(b), patience{limit: c.rcvWait}
	for len(b) > 0 {
		n, stamp, errno := c.stamps.recv(c.fd, b, waitAll)
		switch {
		case n > 0:
			b, at = b[n:], stamp
			wait.reset()
		case errno == 0:
			return 0, c.failed("receive", size, ErrPeerClosed)
		default:
			if err := c.check(errno, &wait); err != nil {
				return 0, c.failed("receive", size, err)
			}
		}
	}
	if at == 0 {
		at = Now()
	}
	return at, nil
}

// Share fits the group to a machine that several agents share: waits sleep to the end, because one that spins takes the CPU
// from another, and RecvAt takes the kernel's stamps, because a receiver would else wait for another's CPU to read the
// clock. Hosts of their own do not disturb each other in either way. Call it before the first use of a link.
func (g *Group) Share() { g.spin, g.shared = 0, true }

// RecvAt is Recv, and says when the last byte reached this host: when this thread had read it, or, in a shared group, when
// the kernel took it from the network.
func (g *Group) RecvAt(from int, b []byte) (units.Nanos, error) {
	c := g.known(from)
	if c == nil {
		var err error
		if c, err = g.open(from); err != nil {
			return 0, err
		}
	}
	at, err := c.RecvAt(b)
	if err != nil {
		return 0, g.failed(from, err)
	}
	return at, nil
}
