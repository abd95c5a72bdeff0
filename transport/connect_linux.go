package transport

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"

	"calib/internal/plane"
	"calib/internal/units"
)

// connectSlice is how long one wait for the peer's host lasts before the context is checked.
const connectSlice = 50 * units.Millisecond

// sysConnect opens a connection to ap with o set, within ctx. It returns ErrTimeout, or what the network said. The
// connection comes from the address here, unless that is unspecified or of another family.
func sysConnect(ctx context.Context, here netip.Addr, ap netip.AddrPort, o plane.Socket) (int, error) {
	return openSocket(ap, unix.SOCK_STREAM, func(fd int, sa unix.Sockaddr) error {
		if err := errors.Join(sysOptions(fd, o), sysTimeouts(fd, connectSlice, connectSlice)); err != nil {
			return err
		}
		if err := bindFrom(fd, here, ap.Addr()); err != nil {
			return err
		}
		if err := connect(ctx, fd, sa); err != nil {
			return err
		}
		return sysCongestion(fd, o.Congestion) // a route may name another (ip-route(8), congctl), which connect has set
	})
}

// bindFrom gives a socket that will connect to there the address here, and leaves its port to connect.
func bindFrom(fd int, here, there netip.Addr) error {
	here, there = here.Unmap(), there.Unmap()
	if here.IsUnspecified() || here.Is4() != there.Is4() {
		return nil
	}
	_, sa, err := sockaddr(netip.AddrPortFrom(here, 0))
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
	}
	if err == nil {
		err = unix.Bind(fd, sa)
	}
	if err != nil {
		return fmt.Errorf("connect from %v: %w", here, err)
	}
	return nil
}

// connect repeats a blocking connect bounded by the send timeout: called again, it continues to wait for the same
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
