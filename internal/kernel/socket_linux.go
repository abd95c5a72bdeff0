package kernel

import (
	"cmp"
	"errors"
	"fmt"
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

// SetTimeouts bounds each call that waits; 0 is for ever. The kernel counts microseconds, to which both are rounded up.
func SetTimeouts(fd int, recv, send units.Nanos) error {
	return errors.Join(
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, new(unix.NsecToTimeval(int64(recv)))),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, new(unix.NsecToTimeval(int64(send)))))
}

type option struct {
	level, name, value int
	what               string
}

func set(fd int, options ...option) error {
	for _, o := range options {
		if err := unix.SetsockoptInt(fd, o.level, o.name, o.value); err != nil {
			return fmt.Errorf("set %s to %d: %w", o.what, o.value, err)
		}
	}
	return nil
}

func flag(on bool) int {
	if on {
		return 1
	}
	return 0
}

func buffers(snd, rcv units.Bytes) (out []option) {
	if snd > 0 {
		out = append(out, option{unix.SOL_SOCKET, unix.SO_SNDBUF, Clamp(snd), "SO_SNDBUF"})
	}
	if rcv > 0 {
		out = append(out, option{unix.SOL_SOCKET, unix.SO_RCVBUF, Clamp(rcv), "SO_RCVBUF"})
	}
	return out
}

// SetOptions sets o. Buffer sizes take full effect before connect or listen only: they choose the window scale.
func SetOptions(fd int, o plane.Socket) error {
	nodelay := option{unix.IPPROTO_TCP, unix.TCP_NODELAY, flag(!o.Nagle), "TCP_NODELAY"}
	return errors.Join(setCongestion(fd, o.Congestion), set(fd, append(buffers(o.SndBuf, o.RcvBuf), nodelay)...))
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

// Clamp keeps a size within what setsockopt can double.
func Clamp(b units.Bytes) int { return int(min(b, units.GiB-1)) }

// SetListenOptions gives accepted connections o's buffers and congestion control, which they take from the listener. A
// size that is 0 gives the kernel's default and its automatic tuning back. The congestion control must be the
// listener's: a connection that is accepted under BBR and then changed to another keeps BBR's pacing timer for its
// whole life. before is what was set last. Where the kernel could not give automatic buffers back, none are fixed.
func SetListenOptions(fd int, o, before, defaults plane.Socket) error {
	same := o.SndBuf == before.SndBuf && o.RcvBuf == before.RcvBuf
	if _, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BUF_LOCK); err != nil && !same {
		return fmt.Errorf("fixed buffers of accepted connections need linux 5.15: %w", err)
	}
	err := setCongestion(fd, cmp.Or(o.Congestion, defaults.Congestion))
	if same {
		return err
	}
	free := option{unix.SOL_SOCKET, unix.SO_BUF_LOCK, 0, "SO_BUF_LOCK"}
	if o.SndBuf > 0 {
		free.value |= unix.SOCK_SNDBUF_LOCK
	}
	if o.RcvBuf > 0 {
		free.value |= unix.SOCK_RCVBUF_LOCK
	}
	options := buffers(cmp.Or(o.SndBuf, defaults.SndBuf), cmp.Or(o.RcvBuf, defaults.RcvBuf))
	if o.SndBuf <= 0 || o.RcvBuf <= 0 {
		options = append(options, free)
	}
	return errors.Join(err, set(fd, options...))
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

// sockaddr6 is an address of either family for a socket of IPv6. A zone is a number, as AddrPort has it.
func sockaddr6(ap netip.AddrPort) *unix.SockaddrInet6 {
	zone, _ := strconv.ParseUint(ap.Addr().Zone(), 10, 32)
	return &unix.SockaddrInet6{Port: int(ap.Port()), Addr: ap.Addr().As16(), ZoneId: uint32(zone)}
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
