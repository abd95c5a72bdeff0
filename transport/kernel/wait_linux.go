package kernel

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"calib/internal/units"
)

// Poll waits until a descriptor is ready. It returns how many are, 0 after limit or a signal. It allocates nothing.
func Poll(fds []unix.PollFd, limit units.Nanos) (ready int, err error) {
	ts := unix.NsecToTimespec(int64(max(limit, 0)))
	ready, err = unix.Ppoll(fds, &ts, nil)
	if err == unix.EINTR {
		return 0, nil
	}
	return ready, err
}

// WaitFor returns when one of events holds for fd, after limit, or after a signal.
func WaitFor(fd int, events int16, limit units.Nanos) error {
	fds := [1]unix.PollFd{{Fd: int32(fd), Events: events}}
	_, err := Poll(fds[:], limit)
	return err
}

// Ended reports whether the stream has nothing more to read and never will.
func Ended(fd int) bool {
	var b [1]byte
	n, errno := Recv(fd, b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return n == 0 || n < 0 && errno != unix.EAGAIN && errno != unix.EINTR
}

// Ring adds one to an event counter, which wakes who awaits it.
func Ring(fd int) error {
	one := uint64(1)
	if _, err := unix.Write(fd, unsafe.Slice((*byte)(unsafe.Pointer(&one)), 8)); err != nil {
		return fmt.Errorf("wake the other thread: %w", err)
	}
	return nil
}

// Await sleeps until an event counter is above zero, and sets it to zero.
func Await(fd int) error {
	var n uint64
	for {
		switch _, err := unix.Read(fd, unsafe.Slice((*byte)(unsafe.Pointer(&n)), 8)); {
		case err == nil:
			return nil
		case err != unix.EINTR:
			return fmt.Errorf("wait for the other thread: %w", err)
		}
	}
}
