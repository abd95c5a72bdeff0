package transport

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"calib/internal/units"
)

// limitRoom bounds the send buffer, which holds what the other end has not acknowledged. A buffer that the user has
// fixed stays as it is, and so does one that the kernel would make smaller than n (net.core.wmem_max). 0 gives the
// kernel's own buffer back, which grows.
func (c *Conn) limitRoom(n int64) error {
	if err := c.changeRoom(clampInt(units.Bytes(n))); err != nil {
		return fmt.Errorf("limit the send buffer (SO_SNDBUF) to %d, %s: %w", n, c.peer, err)
	}
	return nil
}

func (c *Conn) changeRoom(n int) error {
	locks, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_BUF_LOCK)
	if err != nil {
		return nil // before Linux 5.15 there is no way back to a buffer that grows
	}
	if n <= 0 {
		return c.freeRoom(locks)
	}
	if c.room == 0 {
		if locks&unix.SOCK_SNDBUF_LOCK != 0 {
			return nil
		}
		if c.room, _, err = granted(c.fd); err != nil {
			return err
		}
	}
	if err := unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, n); err != nil {
		return err
	}
	if has, _, err := granted(c.fd); err != nil || has/2 < n {
		return errors.Join(err, c.freeRoom(locks))
	}
	return nil
}

// freeRoom ends a bound. locks are the socket's.
func (c *Conn) freeRoom(locks int) error {
	if c.room == 0 {
		return nil
	}
	if err := unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, c.room/2); err != nil {
		return err
	}
	c.room = 0
	return unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_BUF_LOCK, locks&^unix.SOCK_SNDBUF_LOCK)
}
