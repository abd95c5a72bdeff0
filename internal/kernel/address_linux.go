package kernel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"calib/internal/lists"
	"calib/internal/plane"
)

var ErrPortInUse = errors.New("port in use")

// portTries is how often another port is tried where the kernel chose one that is free for connections only.
const portTries = 16

// ListenBoth opens a listener for addr, and a datagram socket on the port of the same number. An empty host is every
// address, of both families where the system has both.
func ListenBoth(addr string) (fd, udp int, bound netip.AddrPort, err error) {
	every := strings.HasPrefix(addr, ":")
	if !every {
		addrs, err := Resolve(context.Background(), addr)
		if err != nil {
			return -1, -1, bound, err
		}
		addr = addrs[0].String()
	}
	for range portTries {
		if fd, bound, err = listen(addr, !every); err != nil {
			break
		}
		if udp, err = listenDatagrams(bound); err == nil {
			return fd, udp, bound, nil
		}
		Close(fd)
		if !strings.HasSuffix(addr, ":0") || !errors.Is(err, ErrPortInUse) {
			break
		}
	}
	return -1, -1, bound, err
}

// listen listens on a literal address. One of IPv4 takes nothing else, not even where it is unspecified.
func listen(addr string, literal bool) (fd int, bound netip.AddrPort, err error) {
	config := net.ListenConfig{}
	config.SetMultipathTCP(false)
	l, err := config.Listen(context.Background(), family("tcp", addr, literal), addr)
	switch {
	case errors.Is(err, unix.EADDRINUSE):
		return -1, bound, fmt.Errorf("%w: choose another with port= in the hosts file, use port 0 to let the kernel choose, "+
			"or end the process that has it (ss -ltnp)", ErrPortInUse)
	case errors.Is(err, unix.EADDRNOTAVAIL):
		return -1, bound, fmt.Errorf("%w: addr= must be an address of this host (ip addr)", err)
	case err != nil:
		return -1, bound, err
	}
	fd, err = descriptor(l.(*net.TCPListener))
	return fd, l.Addr().(*net.TCPAddr).AddrPort(), errors.Join(err, unix.SetNonblock(fd, false))
}

func listenDatagrams(bound netip.AddrPort) (fd int, err error) {
	config := net.ListenConfig{Control: before(roomForDatagrams)}
	addr := bound.String()
	c, err := config.ListenPacket(context.Background(), family("udp", addr, true), addr)
	if errors.Is(err, unix.EADDRINUSE) {
		err = fmt.Errorf("%w: datagrams to port %d go to another process; choose another with port= in the hosts file, "+
			"use port 0 to let the kernel choose, or end the process that has it (ss -lunp)", ErrPortInUse, bound.Port())
	}
	if err != nil {
		return -1, err
	}
	return descriptor(c.(*net.UDPConn))
}

// family is the network by which package net takes a literal address for what it is: 0.0.0.0 is every address of IPv4.
func family(network, addr string, literal bool) string {
	if literal && !strings.HasPrefix(addr, "[") {
		return network + "4"
	}
	return network
}

// before is what package net does to a socket before it binds or connects it.
func before(setUp func(fd int) error) func(string, string, syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) (err error) {
		failed := c.Control(func(fd uintptr) { err = setUp(int(fd)) })
		return errors.Join(failed, err)
	}
}

// descriptor takes a socket out of package net.
func descriptor(c interface {
	syscall.Conn
	io.Closer
}) (fd int, err error) {
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	failed := raw.Control(func(s uintptr) { fd, err = unix.FcntlInt(s, unix.F_DUPFD_CLOEXEC, 0) })
	return fd, errors.Join(failed, err)
}

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
	return lists.Map(ips, func(ip netip.Addr) netip.AddrPort { return netip.AddrPortFrom(ip.Unmap(), port) }), nil
}

// Connect opens a connection to ap with o set. It returns the cause of ctx's end, or what the network said. The
// connection comes from the address here, unless that is unspecified or of another family.
func Connect(ctx context.Context, here netip.Addr, ap netip.AddrPort, o plane.Socket) (int, error) {
	from := here.Unmap()
	bind := !from.IsUnspecified() && from.Is4() == ap.Addr().Unmap().Is4()
	d := net.Dialer{KeepAlive: -1, Control: before(func(fd int) error {
		err := SetOptions(fd, o)
		if bind { // connect chooses the port
			err = errors.Join(err, set(fd, option{unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1, "IP_BIND_ADDRESS_NO_PORT"}))
		}
		return err
	})}
	if bind {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0))
	}
	c, err := d.DialContext(ctx, "tcp", ap.String())
	if err != nil && ctx.Err() != nil {
		return -1, context.Cause(ctx)
	}
	switch said, ok := errors.AsType[*os.SyscallError](err); {
	case errors.Is(err, unix.ECONNREFUSED):
		return -1, fmt.Errorf("%w (is the agent running there, and is the port open?)", said)
	case errors.Is(err, unix.EADDRNOTAVAIL):
		return -1, fmt.Errorf("%w (every local port is taken: wait a minute, or widen net.ipv4.ip_local_port_range)", said)
	case ok:
		return -1, said
	case err != nil:
		return -1, err
	}
	fd, err := descriptor(c.(*net.TCPConn))
	// Package net has set TCP_NODELAY, and connect the congestion control that a route may name (ip-route(8), congctl).
	err = errors.Join(err, unix.SetNonblock(fd, false),
		SetOptions(fd, plane.Socket{Nagle: o.Nagle, Congestion: o.Congestion}))
	if err != nil {
		Close(fd)
	}
	return fd, err
}
