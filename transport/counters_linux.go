package transport

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"

	"calib/internal/plane"
	"calib/internal/units"
	"calib/transport/kernel"
)

// Route returns by which interface packets of the connection to a rank leave, and how large the kernel makes them. It
// is not for timed sections.
func (g *Group) Route(to int) (r plane.Route, err error) {
	err = g.on(to, func(c *Conn) error {
		if r, err = kernel.Route(c.fd); err != nil {
			return fmt.Errorf("route to %s: %w", c.peer, err)
		}
		return nil
	})
	return r, err
}

// LimitUnsent bounds what the kernel takes and has not sent. 0 is the kernel's own bound, which is none unless its
// administrator set net.ipv4.tcp_notsent_lowat.
func (c *Conn) LimitUnsent(n int64) error {
	err := unix.SetsockoptInt(c.fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, int(min(n, math.MaxInt32)))
	if err != nil {
		return fmt.Errorf("limit the unsent bytes (TCP_NOTSENT_LOWAT) to %d, %s: %w", n, c.peer, err)
	}
	return nil
}

// LimitRoom bounds the send buffer, which holds what the other end has not acknowledged. A buffer that the user has
// fixed stays as it is, and so does one that the kernel would make smaller than n (net.core.wmem_max). 0 gives the
// kernel's own buffer back, which grows.
func (c *Conn) LimitRoom(n int64) error {
	if err := kernel.LimitRoom(c.fd, kernel.Clamp(units.Bytes(n)), &c.room); err != nil {
		return fmt.Errorf("limit the send buffer (SO_SNDBUF) to %d, %s: %w", n, c.peer, err)
	}
	return nil
}
