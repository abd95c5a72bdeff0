package transport

import (
	"syscall"
	"unsafe"

	"calib/internal/units"
	"golang.org/x/sys/unix"
)

// poller waits until one of several descriptors can be read. Its memory is kept, so that waiting allocates nothing.
type poller struct {
	fds []unix.PollFd
	ts  unix.Timespec
}

func (p *poller) reset() { p.fds = p.fds[:0] }

func (p *poller) add(fd int) { p.fds = append(p.fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}) }

// ready reports whether the last wait found something at place i: bytes, an end or an error.
func (p *poller) ready(i int) bool { return p.fds[i].Revents != 0 }

func (p *poller) clear(i int) { p.fds[i].Revents = 0 }

// wait returns how many are ready, 0 after limit or a signal.
func (p *poller) wait(limit units.Nanos) (int, syscall.Errno) { return sysPoll(p.fds, &p.ts, limit) }

func sysPoll(fds []unix.PollFd, ts *unix.Timespec, limit units.Nanos) (int, syscall.Errno) {
	*ts = unix.NsecToTimespec(int64(max(limit, 0)))
	n, _, errno := syscall.Syscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(unsafe.SliceData(fds))), uintptr(len(fds)),
		uintptr(unsafe.Pointer(ts)), 0, 0, 0)
	switch errno {
	case 0:
		return int(n), 0
	case unix.EINTR:
		return 0, 0
	}
	return 0, errno
}

// waitRead returns when fd can be read, after limit, or after a signal.
func waitRead(fd int, limit units.Nanos) syscall.Errno { return waitFor(fd, unix.POLLIN, limit) }

// waitWrite returns when fd has room, after limit, or after a signal. The kernel calls a TCP socket writable once a third
// of its buffer is free, so a send may succeed earlier.
func waitWrite(fd int, limit units.Nanos) syscall.Errno { return waitFor(fd, unix.POLLOUT, limit) }

func waitFor(fd int, events int16, limit units.Nanos) syscall.Errno {
	var ts unix.Timespec
	fds := [1]unix.PollFd{{Fd: int32(fd), Events: events}}
	_, errno := sysPoll(fds[:], &ts, limit)
	return errno
}

// sysPending is the number of bytes that wait to be read (SIOCINQ).
func sysPending(fd int) (int, error) { return unix.IoctlGetInt(fd, unix.TIOCINQ) }

func sysUnacked(fd int) (int, error) { return unix.IoctlGetInt(fd, unix.TIOCOUTQ) }

// sysEnded reports whether the stream has nothing more to read and never will.
func sysEnded(fd int) bool {
	var b [1]byte
	n, errno := sysRecv(fd, b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return n == 0 || n < 0 && errno != unix.EAGAIN && errno != unix.EINTR
}
