package transport

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"calib/internal/units"
)

// stamper receives from a connection with the kernel's timestamp of the arrival (SO_TIMESTAMPNS). Receiving allocates
// nothing.
type stamper struct {
	in   messageReader
	last units.Nanos
}

// sysStamp turns the stamps of what arrives at a socket on or off.
func sysStamp(fd int, on bool) error {
	value := 0
	if on {
		value = 1
	}
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, value)
}

// recv is sysRecv, and also returns when the last byte arrived at this host, on the clock of Now; 0 where the kernel
// did not say. A stream arrives in order, so its timestamps never decrease.
func (s *stamper) recv(fd int, b []byte, flags uintptr) (n int, at units.Nanos, errno syscall.Errno) {
	n, at, errno = s.in.recv(fd, b, flags)
	if at != 0 {
		at = max(at, s.last)
		s.last = at
	}
	return n, at, errno
}

// arrival converts a timestamp of the wall clock to the clock of Now. The result is never later than now.
func arrival(ts *unix.Timespec) units.Nanos {
	now := time.Now()
	age := max(now.UnixNano()-ts.Nano(), 0)
	return clockOffset + units.Nanos(now.Sub(clockBase)) - units.Nanos(age)
}
