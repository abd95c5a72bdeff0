package kernel

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"calib/internal/units"
)

// datagramBuffer is the receive buffer asked for [B]: a burst of 16,384 small datagrams fits, by the kernel's own count
// of the memory behind each.
const datagramBuffer = 8 << 20

func roomForDatagrams(fd int) error {
	// Beyond net.core.rmem_max needs a privilege; without it the buffer is what the host allows.
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, datagramBuffer) == nil {
		return nil
	}
	return set(fd, option{unix.SOL_SOCKET, unix.SO_RCVBUF, datagramBuffer, "SO_RCVBUF"})
}

// Drain discards the datagrams that wait in the socket, at most a full buffer of them.
func Drain(fd int) {
	var b [1]byte
	for range 1 << 16 {
		if _, errno := Recv(fd, b[:], unix.MSG_DONTWAIT); errno == unix.EAGAIN {
			return
		}
	}
}

// Dropped is how many datagrams the socket had no room for since it was opened (SO_MEMINFO); 0 where the kernel does
// not say.
func Dropped(fd int) uint32 {
	var mem [unix.SK_MEMINFO_VARS]uint32
	size := uint32(unsafe.Sizeof(mem))
	_, _, errno := syscall.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&mem)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return 0
	}
	return mem[unix.SK_MEMINFO_DROPS]
}

func Ends(fd int) (here, there netip.AddrPort, err error) {
	a, err := unix.Getsockname(fd)
	if err != nil {
		return here, there, err
	}
	b, err := unix.Getpeername(fd)
	if err != nil {
		return here, there, err
	}
	return AddrPort(a), AddrPort(b), nil
}

// Target is where datagrams go, as the kernel is told. It is made once.
type Target struct {
	to   unix.Sockaddr
	from []byte // the control message that says where from; none where the socket is bound to an address
}

// Aim is a target of a socket that is bound to an address: datagrams go to a port from the address here. A socket of
// IPv6 takes IPv4 mapped.
func Aim(bound, here netip.Addr, to netip.AddrPort) (t Target, err error) {
	switch every := bound.IsUnspecified(); {
	case !every && bound.Is6() != to.Addr().Is6():
		return t, fmt.Errorf("the agent here takes them on %v only, of the other address family "+
			"(calib agent --data :0 takes both)", bound)
	case every && bound.Is6():
		t.from = unix.PktInfo6(&unix.Inet6Pktinfo{Addr: here.As16()})
	case every:
		t.from = unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: here.As4()})
	}
	if bound.Is6() {
		t.to = sockaddr6(to)
	} else {
		t.to = &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().Unmap().As4()}
	}
	return t, nil
}

// Send hands b, which is not empty, to the kernel. EAGAIN: it has no room now.
func (t *Target) Send(fd int, b []byte) error {
	_, err := unix.SendmsgN(fd, b, t.from, t.to, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	return err
}

// SetStamps asks for the kernel's timestamp of what arrives (SO_TIMESTAMPNS), or no longer.
func SetStamps(fd int, on bool) error {
	return set(fd, option{unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, flag(on), "SO_TIMESTAMPNS"})
}

// arrival converts a timestamp of the wall clock to the clock of Now. The result is never later than now.
func arrival(ts *unix.Timespec) units.Nanos {
	now := time.Now()
	age := max(now.UnixNano()-ts.Nano(), 0)
	return clockOffset + units.Nanos(now.Sub(clockBase)) - units.Nanos(age)
}

// MessageReader receives with what the kernel says of what it receives. Its buffers are allocated once.
type MessageReader struct {
	Stream bool // arrives in order, so its timestamps never decrease
	last   units.Nanos

	hdr     unix.Msghdr
	iov     unix.Iovec
	name    unix.RawSockaddrInet6 // large enough for both families
	control [256]byte
}

// Recv is the function Recv, and also returns when the last byte arrived at this host, on the clock of Now, 0 where the
// kernel did not say.
func (in *MessageReader) Recv(fd int, b []byte, flags uintptr) (n int, at units.Nanos, errno syscall.Errno) {
	in.iov.Base = unsafe.SliceData(b)
	in.iov.SetLen(len(b))
	in.hdr.Iov, in.hdr.Iovlen = &in.iov, 1
	in.hdr.Name, in.hdr.Namelen = (*byte)(unsafe.Pointer(&in.name)), uint32(unsafe.Sizeof(in.name))
	in.hdr.Control = &in.control[0]
	in.hdr.SetControllen(len(in.control))
	r, _, errno := syscall.Syscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&in.hdr)), flags)
	if errno != 0 || r == 0 {
		return int(r), 0, errno
	}
	rest := in.control[:min(int(in.hdr.Controllen), len(in.control))]
	for len(rest) >= unix.SizeofCmsghdr {
		h, body, more, err := unix.ParseOneSocketControlMessage(rest)
		switch {
		case err != nil: // what is cut short ends the list
			return int(r), at, 0
		case h.Level != unix.SOL_SOCKET:
		case h.Type == unix.SO_TIMESTAMPNS && len(body) >= int(unsafe.Sizeof(unix.Timespec{})):
			if at = arrival((*unix.Timespec)(unsafe.Pointer(&body[0]))); in.Stream {
				at = max(at, in.last)
				in.last = at
			}
		}
		rest = more
	}
	return int(r), at, 0
}

// Source is where the last datagram came from, without a zone.
func (in *MessageReader) Source() netip.AddrPort {
	bytes := (*[2]byte)(unsafe.Pointer(&in.name.Port))
	port := binary.BigEndian.Uint16(bytes[:])
	if in.name.Family == unix.AF_INET6 {
		return netip.AddrPortFrom(netip.AddrFrom16(in.name.Addr).Unmap(), port)
	}
	v4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(&in.name))
	return netip.AddrPortFrom(netip.AddrFrom4(v4.Addr), port)
}
