package kernel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"calib/internal/plane"
	"calib/internal/units"
)

// ListenBoth opens a listener for addr, and a datagram socket on the port of the same number. An empty host is every
// address, of both families where the system has both.
func ListenBoth(addr string) (fd, udp int, bound netip.AddrPort, err error) {
	port, every := strings.CutPrefix(addr, ":")
	if every {
		addr = "[::]:" + port
	}
	addrs, err := Resolve(context.Background(), addr)
	if err != nil {
		return -1, -1, bound, err
	}
	fd, udp, bound, err = listenBoth(addrs[0])
	if err != nil && every {
		return listenBoth(netip.AddrPortFrom(netip.IPv4Unspecified(), addrs[0].Port()))
	}
	return fd, udp, bound, err
}

// portTries is how often another port is tried where the kernel chose one that is free for connections only.
const portTries = 16

func listenBoth(ap netip.AddrPort) (fd, udp int, bound netip.AddrPort, err error) {
	for range portTries {
		if fd, bound, err = listen(ap); err != nil {
			break
		}
		if udp, err = listenDatagrams(bound); err == nil {
			return fd, udp, bound, nil
		}
		Close(fd)
		if ap.Port() != 0 || !errors.Is(err, ErrPortInUse) {
			break
		}
	}
	return -1, -1, bound, err
}

// Split reads host:port.
func Split(addr string) (host string, port uint16, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, fmt.Errorf("%w (want host:port)", err)
	}
	p, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("port %q: want 0 to 65535", text)
	}
	return host, uint16(p), nil
}

// Resolve returns the addresses of host:port, at least one. A literal address asks no resolver.
func Resolve(ctx context.Context, addr string) ([]netip.AddrPort, error) {
	if ap, err := netip.ParseAddrPort(addr); err == nil {
		return []netip.AddrPort{ap}, nil
	}
	host, port, err := Split(addr)
	if err != nil {
		return nil, err
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("%w (give the data address with addr= in the hosts file)", err)
	}
	out := make([]netip.AddrPort, len(ips))
	for i, ip := range ips {
		out[i] = netip.AddrPortFrom(ip.Unmap(), port)
	}
	return out, nil
}

// connectSlice is how long one wait for the peer's host lasts before the context is checked.
const connectSlice = 50 * units.Millisecond

// Connect opens a connection to ap with o set. It returns the cause of ctx's end, or what the network said. The
// connection comes from the address here, unless that is unspecified or of another family.
func Connect(ctx context.Context, here netip.Addr, ap netip.AddrPort, o plane.Socket) (int, error) {
	return openSocket(ap, unix.SOCK_STREAM, func(fd int, sa unix.Sockaddr) error {
		if err := errors.Join(SetOptions(fd, o), SetTimeouts(fd, connectSlice, connectSlice)); err != nil {
			return err
		}
		if err := bindFrom(fd, here, ap.Addr()); err != nil {
			return err
		}
		if err := connect(ctx, fd, sa); err != nil {
			return err
		}
		return setCongestion(fd, o.Congestion) // a route may name another (ip-route(8), congctl), which connect has set
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
			return context.Cause(ctx)
		}
	}
}
