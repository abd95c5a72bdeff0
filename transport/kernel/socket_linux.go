package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"calib/internal/plane"
	"calib/internal/units"
)

// SendFlags are those of every send: the end of a message is marked, unless messages may merge.
func SendFlags(noEOR bool) uintptr {
	if noEOR {
		return unix.MSG_NOSIGNAL
	}
	return unix.MSG_NOSIGNAL | unix.MSG_EOR
}

// ErrPortInUse: another process listens on the address.
var ErrPortInUse = errors.New("port in use")

// The four calls of the timed path are one system call each; b is not empty. Package syscall is called itself, because
// golang.org/x/sys/unix reaches it through two changes of calling convention. Each fits the compiler's inlining budget.

// SendNow, called with MSG_DONTWAIT, sends what fits without waiting and returns its length, or less than 1. Since
// it cannot block, it need not tell the scheduler, which saves 50 ns; b must be small, because the collector waits for
// it.
func SendNow(fd int, b []byte, flags uintptr) int {
	n, _, _ := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		uintptr(len(b)), flags, 0, 0)
	return int(n)
}

// Send blocks until all of b is taken, the send timeout or a signal. n is below 1 if and only if errno is set.
func Send(fd int, b []byte, flags uintptr) (n int, errno syscall.Errno) {
	r, _, errno := syscall.Syscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		uintptr(len(b)), flags, 0, 0)
	return int(r), errno
}

// RecvUnseen is Recv by a thread that keeps its processor of Go's while it waits. The round trip is shorter by
// what giving it up and taking it back costs. The socket's receive timeout bounds the wait, since the collector waits
// for it.
func RecvUnseen(fd int, b []byte, flags uintptr) (n int, errno syscall.Errno) {
	r, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		uintptr(len(b)), flags, 0, 0)
	return int(r), errno
}

// Recv blocks until something has come, or all of b with MSG_WAITALL, or the receive timeout or a signal. n is 0 at
// the end of the stream, and below 0 if and only if errno is set.
func Recv(fd int, b []byte, flags uintptr) (n int, errno syscall.Errno) {
	r, _, errno := syscall.Syscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		uintptr(len(b)), flags, 0, 0)
	return int(r), errno
}

func Close(fd int) {
	// Linux frees the descriptor whatever close returns, and a socket has no data to lose here.
	_ = unix.Close(fd)
}

func SetTimeouts(fd int, recv, send units.Nanos) error {
	// The kernel counts microseconds and reads 0 as for ever.
	tv := func(t units.Nanos) *unix.Timeval {
		if t > 0 {
			t = max(t, units.Microsecond)
		}
		v := unix.NsecToTimeval(int64(max(t, 0)))
		return &v
	}
	return errors.Join(
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, tv(recv)),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, tv(send)))
}

// SetOptions sets o. Buffer sizes take full effect before connect or listen only: they choose the window scale.
func SetOptions(fd int, o plane.Socket) error {
	nodelay := 1
	if o.Nagle {
		nodelay = 0
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, nodelay); err != nil {
		return fmt.Errorf("set TCP_NODELAY: %w", err)
	}
	return errors.Join(setCongestion(fd, o.Congestion), sysBuffers(fd, o))
}

// setCongestion sets the congestion control; empty leaves it as it is.
func setCongestion(fd int, name string) error {
	if name == "" {
		return nil
	}
	if err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name); err != nil {
		return fmt.Errorf("set congestion control %q (the host has those in "+
			"/proc/sys/net/ipv4/tcp_available_congestion_control; others need modprobe tcp_NAME): %w", name, err)
	}
	return nil
}

func sysBuffers(fd int, o plane.Socket) error {
	for _, b := range []struct {
		name   string
		option int
		size   units.Bytes
	}{{"SO_SNDBUF", unix.SO_SNDBUF, o.SndBuf}, {"SO_RCVBUF", unix.SO_RCVBUF, o.RcvBuf}} {
		if b.size <= 0 {
			continue
		}
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, b.option, Clamp(b.size)); err != nil {
			return fmt.Errorf("set %s to %s: %w", b.name, b.size, err)
		}
	}
	return nil
}

// Clamp keeps a size within what setsockopt can double.
func Clamp(b units.Bytes) int { return int(min(b, units.GiB-1)) }

// SetListenOptions gives accepted connections o's buffers and congestion control, which they take from the listener. A
// size that is 0 gives the kernel's default and its automatic tuning back. The congestion control must be the
// listener's: a connection that is accepted under BBR and then changed to another keeps BBR's pacing timer for its
// whole life.
func SetListenOptions(fd int, o, defaults plane.Socket) error {
	if err := setCongestion(fd, cmp.Or(o.Congestion, defaults.Congestion)); err != nil {
		return err
	}
	locks := 0
	if o.SndBuf > 0 {
		locks |= unix.SOCK_SNDBUF_LOCK
	} else {
		o.SndBuf = defaults.SndBuf
	}
	if o.RcvBuf > 0 {
		locks |= unix.SOCK_RCVBUF_LOCK
	} else {
		o.RcvBuf = defaults.RcvBuf
	}
	if err := sysBuffers(fd, o); err != nil {
		return err
	}
	if locks == unix.SOCK_SNDBUF_LOCK|unix.SOCK_RCVBUF_LOCK {
		return nil
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BUF_LOCK, locks); err != nil {
		return fmt.Errorf("give the listener its automatic buffers back (needs linux 5.15): %w", err)
	}
	return nil
}

// SetPace bounds the rate at which a connection sends [B/s]; 0 is no limit.
func SetPace(fd int, rate units.Bytes) error {
	if rate <= 0 {
		return nil
	}
	if err := unix.SetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, uint64(rate)); err != nil {
		return fmt.Errorf("limit the rate to %s/s: %w", rate, err)
	}
	return nil
}

// ListenDefaults returns the listener's own options, buffers in the unit in which they are set.
func ListenDefaults(fd int) (plane.Socket, error) {
	snd, rcv, err := Buffers(fd)
	if err != nil {
		return plane.Socket{}, err
	}
	congestion, err := Congestion(fd)
	return plane.Socket{SndBuf: units.Bytes(snd / 2), RcvBuf: units.Bytes(rcv / 2), Congestion: congestion}, err
}

func Congestion(fd int) (string, error) {
	name, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	return strings.TrimRight(name, "\x00"), err
}

func Buffers(fd int) (snd, rcv int, err error) {
	snd, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
	if err != nil {
		return 0, 0, err
	}
	rcv, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	return snd, rcv, err
}

func sockaddr(ap netip.AddrPort) (family int, sa unix.Sockaddr, err error) {
	addr := ap.Addr().Unmap()
	if addr.Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(ap.Port()), Addr: addr.As4()}, nil
	}
	sa, err = sockaddr6(ap)
	return unix.AF_INET6, sa, err
}

// sockaddr6 is an address of either family for a socket of IPv6.
func sockaddr6(ap netip.AddrPort) (sa *unix.SockaddrInet6, err error) {
	sa = &unix.SockaddrInet6{Port: int(ap.Port()), Addr: ap.Addr().As16()}
	if zone := ap.Addr().Zone(); zone != "" {
		sa.ZoneId, err = zoneIndex(zone)
	}
	return sa, err
}

func zoneIndex(zone string) (uint32, error) {
	if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
		return uint32(n), nil
	}
	ifi, err := net.InterfaceByName(zone)
	if err != nil {
		return 0, fmt.Errorf("zone %q is no interface of this host: %w", zone, err)
	}
	return uint32(ifi.Index), nil
}

func AddrPort(sa unix.Sockaddr) netip.AddrPort {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		addr := netip.AddrFrom16(a.Addr).Unmap()
		if a.ZoneId != 0 {
			addr = addr.WithZone(strconv.FormatUint(uint64(a.ZoneId), 10))
		}
		return netip.AddrPortFrom(addr, uint16(a.Port))
	}
	return netip.AddrPort{}
}

// openSocket opens a socket of kind (unix.SOCK_STREAM with its flags, for example) and sets it up for an address.
func openSocket(ap netip.AddrPort, kind int, setUp func(fd int, sa unix.Sockaddr) error) (int, error) {
	family, sa, err := sockaddr(ap)
	if err != nil {
		return -1, err
	}
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open a socket: %w", err)
	}
	if err := setUp(fd, sa); err != nil {
		Close(fd)
		return -1, err
	}
	return fd, nil
}

// takeBoth makes a socket bound to the unspecified IPv6 address take IPv4 as well.
func takeBoth(fd int, sa unix.Sockaddr) error {
	if _, six := sa.(*unix.SockaddrInet6); !six {
		return nil
	}
	return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0)
}

// listen listens on ap. An unspecified IPv6 address takes IPv4 as well.
func listen(ap netip.AddrPort) (fd int, bound netip.AddrPort, err error) {
	fd, err = openSocket(ap, unix.SOCK_STREAM, func(fd int, sa unix.Sockaddr) error {
		err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
		if err == nil {
			err = takeBoth(fd, sa)
		}
		if err == nil {
			err = unix.Bind(fd, sa)
		}
		if err == nil {
			err = unix.Listen(fd, 1024)
		}
		switch {
		case errors.Is(err, unix.EADDRINUSE):
			return fmt.Errorf("%w: choose another with port= in the hosts file, use port 0 to let the kernel choose, "+
				"or end the process that has it (ss -ltnp)", ErrPortInUse)
		case errors.Is(err, unix.EADDRNOTAVAIL):
			return fmt.Errorf("%w: addr= must be an address of this host (ip addr)", err)
		case err != nil:
			return err
		}
		name, err := unix.Getsockname(fd)
		bound = AddrPort(name)
		return err
	})
	return fd, bound, err
}

func LocalPort(fd int) (uint16, error) {
	name, err := unix.Getsockname(fd)
	return AddrPort(name).Port(), err
}

// Accept blocks until a connection arrives, or the listener is shut down: then more is false. err with more true
// concerns that one connection only.
func Accept(fd int) (conn int, from netip.AddrPort, more bool, err error) {
	conn, sa, err := unix.Accept4(fd, unix.SOCK_CLOEXEC)
	switch {
	case err == nil:
		return conn, AddrPort(sa), true, nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EBADF):
		return -1, from, false, err
	}
	return -1, from, true, err
}
