package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"calib/internal/units"
)

// datagramBuffer is the receive buffer asked for [B]: a burst of 16,384 small datagrams fits, by the kernel's own count
// of the memory behind each.
const datagramBuffer = 8 << 20

// sysPort opens the datagram socket on the address of the listener.
func sysPort(ap netip.AddrPort) (fd int, err error) {
	fd, err = openSocket(ap, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK, bindPort)
	if errors.Is(err, unix.EADDRINUSE) {
		err = fmt.Errorf("%w: datagrams to port %d go to another process; choose another with port= in the hosts file, use port 0 "+
			"to let the kernel choose, or end the process that has it (ss -lunp)", ErrPortInUse, ap.Port())
	}
	return fd, err
}

func bindPort(fd int, sa unix.Sockaddr) error {
	if err := takeBoth(fd, sa); err != nil {
		return err
	}
	// Beyond net.core.rmem_max needs a privilege; without it the buffer is what the host allows.
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, datagramBuffer) != nil {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, datagramBuffer); err != nil {
			return err
		}
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1); err != nil {
		return err
	}
	return unix.Bind(fd, sa)
}

// sysDrain discards the datagrams that wait in the socket, at most a full buffer of them.
func sysDrain(fd int) {
	var b [1]byte
	for range 1 << 16 {
		if _, errno := sysRecv(fd, b[:], unix.MSG_DONTWAIT); errno == unix.EAGAIN {
			return
		}
	}
}

// sysDropped is how many datagrams the socket had no room for since it was opened (SO_MEMINFO); 0 where the kernel does
// not say.
func sysDropped(fd int) uint32 {
	var mem [unix.SK_MEMINFO_VARS]uint32
	size := uint32(unsafe.Sizeof(mem))
	_, _, errno := syscall.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&mem)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return 0
	}
	return mem[unix.SK_MEMINFO_DROPS]
}

// sysEnds returns both ends of a connection.
func sysEnds(fd int) (here, there netip.AddrPort, err error) {
	a, err := unix.Getsockname(fd)
	if err != nil {
		return here, there, err
	}
	b, err := unix.Getpeername(fd)
	if err != nil {
		return here, there, err
	}
	return fromSockaddr(a), fromSockaddr(b), nil
}

// messageReader receives with what the kernel says of what it receives. Its buffers are allocated once.
type messageReader struct {
	hdr     unix.Msghdr
	iov     unix.Iovec
	name    unix.RawSockaddrInet6 // large enough for both families
	control [256]byte
	over    uint32 // with SO_RXQ_OVFL: datagrams the kernel had dropped when it queued the last one
}

// recv is sysRecv, and also returns the kernel's timestamp; 0 if there is none.
func (in *messageReader) recv(fd int, b []byte, flags uintptr) (n int, at units.Nanos, errno syscall.Errno) {
	if n, errno = in.receive(fd, b, flags); errno != 0 || n == 0 {
		return n, 0, errno
	}
	return n, in.read(), 0
}

// receive is sysRecv; what the kernel says of it is in messages until the next call.
func (in *messageReader) receive(fd int, b []byte, flags uintptr) (n int, errno syscall.Errno) {
	in.prepare(b)
	r, _, errno := syscall.Syscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&in.hdr)), flags)
	return int(r), errno
}

func (in *messageReader) prepare(b []byte) {
	in.iov.Base = unsafe.SliceData(b)
	in.iov.SetLen(len(b))
	in.hdr.Iov, in.hdr.Iovlen = &in.iov, 1
	in.hdr.Name, in.hdr.Namelen = (*byte)(unsafe.Pointer(&in.name)), uint32(unsafe.Sizeof(in.name))
	in.hdr.Control = &in.control[0]
	in.hdr.SetControllen(len(in.control))
}

// messages goes through the control messages of the last call.
func (in *messageReader) messages() controlMessages {
	return controlMessages{rest: in.control[:min(int(in.hdr.Controllen), len(in.control))]}
}

// controlMessages is a place in a list of control messages (cmsg(3)).
type controlMessages struct {
	level, kind int32
	body        []byte
	rest        []byte
}

// next goes on to the next message and reports whether there is one. What is cut short ends the list.
func (m *controlMessages) next() bool {
	const head = unix.SizeofCmsghdr
	if len(m.rest) < head {
		return false
	}
	h := (*unix.Cmsghdr)(unsafe.Pointer(&m.rest[0]))
	size := int(h.Len)
	if size < head || size > len(m.rest) {
		return false
	}
	m.level, m.kind, m.body = h.Level, h.Type, m.rest[head:size]
	m.rest = m.rest[min(unix.CmsgSpace(size-head), len(m.rest)):]
	return true
}

// read takes the stamp, and the count of drops, which is absent while it is 0.
func (in *messageReader) read() (at units.Nanos) {
	for m := in.messages(); m.next(); {
		switch {
		case m.level != unix.SOL_SOCKET:
		case m.kind == unix.SO_TIMESTAMPNS && len(m.body) >= int(unsafe.Sizeof(unix.Timespec{})):
			at = arrival((*unix.Timespec)(unsafe.Pointer(&m.body[0])))
		case m.kind == unix.SO_RXQ_OVFL && len(m.body) >= 4:
			in.over = binary.NativeEndian.Uint32(m.body)
		}
	}
	return at
}

// dropped is how many datagrams the kernel had dropped since start when it queued the last one.
func (in *messageReader) dropped(start uint32) uint32 {
	if d := int32(in.over - start); d > 0 {
		return uint32(d)
	}
	return 0
}

// source is where the last datagram came from, without a zone.
func (in *messageReader) source() netip.AddrPort {
	bytes := (*[2]byte)(unsafe.Pointer(&in.name.Port))
	port := binary.BigEndian.Uint16(bytes[:])
	if in.name.Family == unix.AF_INET6 {
		return netip.AddrPortFrom(netip.AddrFrom16(in.name.Addr).Unmap(), port)
	}
	v4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(&in.name))
	return netip.AddrPortFrom(netip.AddrFrom4(v4.Addr), port)
}

// datagramWriter sends datagrams to one rank. Its header is made once.
type datagramWriter struct {
	hdr     unix.Msghdr
	iov     unix.Iovec
	name    unix.RawSockaddrInet6 // large enough for both families
	control [64]byte              // the address to send from
}

func newDatagramWriter(r route) *datagramWriter {
	o := &datagramWriter{}
	o.hdr.Name, o.hdr.Namelen = (*byte)(unsafe.Pointer(&o.name)), o.address(r)
	o.hdr.Iov, o.hdr.Iovlen = &o.iov, 1
	if r.from.IsValid() {
		o.hdr.Control = &o.control[0]
		o.hdr.SetControllen(o.origin(r))
	}
	return o
}

// address writes where to, for a socket of r's family, and returns its length.
func (o *datagramWriter) address(r route) uint32 {
	port := [2]byte{}
	binary.BigEndian.PutUint16(port[:], r.to.Port())
	if r.six {
		o.name.Family, o.name.Addr = unix.AF_INET6, r.to.Addr().As16()
		*(*[2]byte)(unsafe.Pointer(&o.name.Port)) = port
		if id, err := zoneIndex(r.to.Addr().Zone()); err == nil {
			o.name.Scope_id = id
		}
		return unix.SizeofSockaddrInet6
	}
	v4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(&o.name))
	v4.Family, v4.Addr = unix.AF_INET, r.to.Addr().As4()
	*(*[2]byte)(unsafe.Pointer(&v4.Port)) = port
	return unix.SizeofSockaddrInet4
}

// origin writes the control message that says where from, and returns its length. A socket of IPv6 takes IPv4 mapped.
func (o *datagramWriter) origin(r route) int {
	const head = unix.SizeofCmsghdr
	h := (*unix.Cmsghdr)(unsafe.Pointer(&o.control[0]))
	if r.six {
		h.Level, h.Type = unix.IPPROTO_IPV6, unix.IPV6_PKTINFO
		h.SetLen(unix.CmsgLen(unix.SizeofInet6Pktinfo))
		info := (*unix.Inet6Pktinfo)(unsafe.Pointer(&o.control[head]))
		info.Addr = r.from.As16()
		return unix.CmsgSpace(unix.SizeofInet6Pktinfo)
	}
	h.Level, h.Type = unix.IPPROTO_IP, unix.IP_PKTINFO
	h.SetLen(unix.CmsgLen(unix.SizeofInet4Pktinfo))
	info := (*unix.Inet4Pktinfo)(unsafe.Pointer(&o.control[head]))
	info.Spec_dst = r.from.As4()
	return unix.CmsgSpace(unix.SizeofInet4Pktinfo)
}

// send hands b, which is not empty, to the kernel. EAGAIN: it has no room now.
func (o *datagramWriter) send(fd int, b []byte) syscall.Errno {
	o.iov.Base = unsafe.SliceData(b)
	o.iov.SetLen(len(b))
	_, _, errno := syscall.Syscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&o.hdr)),
		unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	return errno
}
