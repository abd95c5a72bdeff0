package transport

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"calib/internal/units"
	"golang.org/x/sys/unix"
)

// connectSlice is how long one wait for the peer's host lasts before the context is looked at.
const connectSlice = 50 * units.Millisecond

// sysConnect opens a connection to ap with o set, within ctx. It returns ErrTimeout, or what the network said.
func sysConnect(ctx context.Context, ap netip.AddrPort, o Options) (int, error) {
	family, sa, err := sockaddr(ap)
	if err != nil {
		return -1, err
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return -1, fmt.Errorf("open a socket: %w", err)
	}
	if err = sysOptions(fd, o); err == nil {
		if err = sysTimeouts(fd, connectSlice, connectSlice); err == nil {
			err = connect(ctx, fd, sa)
		}
	}
	if err != nil {
		sysClose(fd)
		return -1, err
	}
	return fd, nil
}

// connect repeats a blocking connect bounded by the send timeout: called again, it goes on waiting for the same
// attempt. It ends with the attempt or with ctx.
func connect(ctx context.Context, fd int, sa unix.Sockaddr) error {
	for {
		err := unix.Connect(fd, sa)
		switch {
		case err == nil, errors.Is(err, unix.EISCONN):
			return nil
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EINPROGRESS), errors.Is(err, unix.EALREADY):
		case errors.Is(err, unix.ECONNREFUSED):
			return fmt.Errorf("%w (is the agent running there, and is the port open?)", err)
		case errors.Is(err, unix.EADDRNOTAVAIL):
			return fmt.Errorf("%w (every local port is taken: wait a minute, or widen net.ipv4.ip_local_port_range)", err)
		default:
			return err
		}
		if ctx.Err() != nil {
			return ctxErr(ctx)
		}
	}
}

// sysListen listens on ap. An unspecified IPv6 address takes IPv4 as well.
func sysListen(ap netip.AddrPort) (fd int, bound netip.AddrPort, err error) {
	family, sa, err := sockaddr(ap)
	if err != nil {
		return -1, bound, err
	}
	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return -1, bound, fmt.Errorf("open a socket: %w", err)
	}
	if bound, err = bindListen(fd, family, sa); err != nil {
		sysClose(fd)
		return -1, bound, err
	}
	return fd, bound, nil
}

func bindListen(fd, family int, sa unix.Sockaddr) (bound netip.AddrPort, err error) {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return bound, err
	}
	if family == unix.AF_INET6 {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0); err != nil {
			return bound, err
		}
	}
	err = unix.Bind(fd, sa)
	if err == nil {
		err = unix.Listen(fd, 1024)
	}
	switch {
	case errors.Is(err, unix.EADDRINUSE):
		return bound, fmt.Errorf("%w: choose another with port= in the hosts file, use port 0 to let the kernel choose, "+
			"or end the process that has it (ss -ltnp)", ErrPortInUse)
	case errors.Is(err, unix.EADDRNOTAVAIL):
		return bound, fmt.Errorf("%w: addr= must be an address of this host (ip addr)", err)
	case err != nil:
		return bound, err
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return bound, err
	}
	return fromSockaddr(name), nil
}

// sysAccept blocks until a connection arrives, or the listener is shut down: then more is false. err is of one
// connection that came to nothing.
func sysAccept(fd int) (conn int, from netip.AddrPort, more bool, err error) {
	conn, sa, err := unix.Accept4(fd, unix.SOCK_CLOEXEC)
	switch {
	case err == nil:
		return conn, fromSockaddr(sa), true, nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EBADF):
		return -1, from, false, err
	}
	return -1, from, true, err
}
