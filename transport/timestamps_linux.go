package transport

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"calib/internal/units"
)

// stamper receives with the kernel's timestamp of the arrival (SO_TIMESTAMPNS). Its buffers are allocated once, so that
// receiving allocates nothing.
type stamper struct {
	hdr     unix.Msghdr
	iov     unix.Iovec
	control [64]byte
	last    units.Nanos
}

// newStamper turns the stamps of fd on.
func newStamper(fd int) (*stamper, error) {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		return nil, err
	}
	return &stamper{}, nil
}

// recv is sysRecv, and also returns when the last byte arrived at this host, on the clock of Now; 0 where the kernel did not
// say. A stream arrives in order, so its timestamps never decrease.
func (s *stamper) recv(fd int, b []byte, flags uintptr) (n int, at units.Nanos, errno syscall.Errno) {
	s.iov.Base = unsafe.SliceData(b)
	s.iov.SetLen(len(b))
	s.hdr.Iov, s.hdr.Iovlen = &s.iov, 1
	s.hdr.Control = &s.control[0]
	s.hdr.SetControllen(len(s.control))
	r, _, errno := syscall.Syscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&s.hdr)), flags)
	if errno != 0 || int(r) <= 0 {
		return int(r), 0, errno
	}
	if at = s.stamp(); at != 0 {
		at = max(at, s.last)
		s.last = at
	}
	return int(r), at, 0
}

// stamp reads the control message.
func (s *stamper) stamp() units.Nanos {
	const head = unix.SizeofCmsghdr
	if int(s.hdr.Controllen) < head+int(unsafe.Sizeof(unix.Timespec{})) {
		return 0
	}
	h := (*unix.Cmsghdr)(unsafe.Pointer(&s.control[0]))
	if h.Level != unix.SOL_SOCKET || h.Type != unix.SO_TIMESTAMPNS {
		return 0
	}
	ts := (*unix.Timespec)(unsafe.Pointer(&s.control[head]))
	return arrival(ts)
}

// arrival converts a timestamp of the wall clock to the clock of Now. The result is never later than now.
func arrival(ts *unix.Timespec) units.Nanos {
	now := time.Now()
	age := max(now.UnixNano()-ts.Nano(), 0)
	return clockOffset + units.Nanos(now.Sub(clockBase)) - units.Nanos(age)
}
