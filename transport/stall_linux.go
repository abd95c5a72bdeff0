package transport

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"calib/internal/units"
)

// recvSlice is the longest wait of one system call that receives. Recv's first is hidden from the scheduler: the thread
// then holds one of Go's processors for so long at most, and gets its bytes without asking for one.
const recvSlice = 10 * units.Millisecond

// stall bounds a call without progress that signals interrupt: the kernel's own timeout starts again after each signal.
type stall struct {
	limit units.Nanos
	since units.Nanos
}

func (p *stall) reset() { p.since = 0 }

func (p *stall) spent() bool {
	if p.since == 0 {
		p.since = Now()
		return false
	}
	return p.limit > 0 && Now()-p.since > p.limit
}

// again returns nil when the receive that ended with errno should be made again. The kernel ends a receive after
// recvSlice; from then on the wait is a poll, for as long as the receive timeout allows.
func (c *Conn) again(errno syscall.Errno, wait *stall) error {
	if errno != syscall.EAGAIN {
		return c.check(errno, wait)
	}
	if wait.since == 0 {
		wait.since = Now() - recvSlice
	}
	left := waitSlice
	if wait.limit > 0 {
		if left = wait.since + wait.limit - Now(); left <= 0 {
			return ErrTimeout
		}
	}
	return waitFor(c.fd, unix.POLLIN, left)
}

// check returns nil when the call should be made again.
func (c *Conn) check(errno syscall.Errno, wait *stall) error {
	switch errno {
	case syscall.EINTR:
		if wait.spent() {
			return ErrTimeout
		}
		return nil
	case syscall.EAGAIN:
		return ErrTimeout
	case syscall.EPIPE, syscall.ECONNRESET:
		return fmt.Errorf("%w (%w)", ErrPeerClosed, errno)
	case syscall.ETIMEDOUT: // the peer's host stopped acknowledging
		return fmt.Errorf("%w (%w)", ErrTimeout, errno)
	}
	return errno
}
