package transport

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"calib/internal/dataset"
	"calib/internal/kernel"
	"calib/internal/units"
)

// Conn is one blocking TCP connection to a peer. A goroutine that uses it locks its thread. One goroutine may send
// while another receives; two senders or two receivers may not share a Conn.
//
// Shutdown may come from any goroutine at any time. The descriptor is closed when the last holder has released it,
// never during a call, so no call can meet another descriptor that was given the same number.
type Conn struct {
	// The fields that Send and Recv use come first and share a cache line.
	fd      int
	flags   uintptr       // of every send
	allowed *atomic.Int64 // bytes that the pair of hosts may still move, shared by all its connections
	unseen  bool          // the first wait of Recv is hidden from Go's scheduler

	timeout units.Nanos // of Send and Recv; 0 is none
	peer    string
	epoch   uint32 // of the mesh that it belongs to
	port    uint16 // of the side that dialled
	room    int    // of the send buffer before it was bounded [B], as the kernel counts; 0 where it is not
	broken  atomic.Bool

	stamps *kernel.MessageReader // nil unless StampArrivals

	mu    sync.Mutex
	refs  int
	cause error // why this side stopped it
}

// small is the largest message [B] that is sent without telling the Go scheduler where the send buffer has room.
const small = 2048

// newConn wraps fd, with one holder and no limit on bytes yet.
func newConn(fd int, peer string) *Conn {
	return &Conn{fd: fd, flags: kernel.SendFlags(false), peer: peer, allowed: allowance(math.MaxInt64), refs: 1}
}

func allowance(n int64) *atomic.Int64 {
	left := new(atomic.Int64)
	left.Store(n)
	return left
}

// take counts n bytes that move, and reports whether they may.
func (c *Conn) take(n int) bool { return c.allowed.Add(-int64(n)) >= 0 }

// Send sends b as one message and returns when the kernel has copied all of it to the send buffer. It fails with
// ErrTimeout, ErrPeerClosed, ErrStopped or ErrTicketBytes; the connection is then of no further use.
func (c *Conn) Send(b []byte) error { return c.send(b, c.flags) }

func (c *Conn) send(b []byte, flags uintptr) error {
	if len(b) == 0 {
		return nil
	}
	if !c.take(len(b)) {
		return c.failed("send", len(b), ErrTicketBytes)
	}
	if len(b) <= small {
		switch n := kernel.SendNow(c.fd, b, flags|unix.MSG_DONTWAIT); {
		case n == len(b):
			return nil
		case n > 0:
			b = b[n:]
		}
	}
	n, errno := kernel.Send(c.fd, b, flags)
	if n == len(b) {
		return nil
	}
	if n < 0 && errno != syscall.EINTR {
		return c.failed("send", len(b), class(errno))
	}
	rest := b[max(n, 0):] // signals and timeouts cut a blocking send short
	n, err := c.push(rest, flags, cmp.Or(c.timeout, forEver))
	if err == nil && n < len(rest) {
		err = c.failed("send", len(b), ErrTimeout)
	}
	return err
}

// Recv fills b with the next len(b) bytes of the stream. It fails with ErrTimeout after a silence as long as the
// receive timeout, or with ErrPeerClosed, ErrStopped or ErrTicketBytes; the connection is then of no further use.
func (c *Conn) Recv(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if !c.take(len(b)) {
		return c.failed("receive", len(b), ErrTicketBytes)
	}
	flags := uintptr(0)
	if len(b) > small {
		flags = unix.MSG_WAITALL
	}
	var n int
	var errno syscall.Errno
	if c.unseen {
		n, errno = kernel.RecvUnseen(c.fd, b, flags)
	} else {
		n, errno = kernel.Recv(c.fd, b, flags)
	}
	if n == len(b) {
		return nil
	}
	_, err := c.recvRest(b, n, errno, nil)
	return err
}

// recvRest continues after a first read of n bytes or an error. It ends because every pass either makes progress or
// counts against the receive timeout. With stamps it returns that of the last byte, 0 if b had none left to read.
func (c *Conn) recvRest(b []byte, n int, errno syscall.Errno, stamps *kernel.MessageReader) (at units.Nanos, _ error) {
	size, since := len(b), units.Nanos(0)
	for {
		switch {
		case n > 0:
			b, since = b[n:], 0
		case errno == 0:
			return 0, c.failed("receive", size, ErrPeerClosed)
		default:
			if err := c.again(errno, &since); err != nil {
				return 0, c.failed("receive", size, err)
			}
		}
		if len(b) == 0 {
			return at, nil
		}
		if stamps == nil {
			n, errno = kernel.Recv(c.fd, b, unix.MSG_WAITALL)
		} else {
			n, at, errno = stamps.Recv(c.fd, b, unix.MSG_WAITALL)
		}
	}
}

// failed shuts the connection down, since the position in its stream is now unknown, and returns the error to report.
func (c *Conn) failed(verb string, size int, err error) error {
	c.mu.Lock()
	if c.cause != nil {
		err = c.cause
	}
	c.mu.Unlock()
	c.Shutdown()
	return fmt.Errorf("%s %s, %s: %w", verb, units.Bytes(size), c.peer, err)
}

// SetTimeouts bounds how long Recv waits for a silent peer, and Send for one that takes nothing. 0 waits for ever.
func (c *Conn) SetTimeouts(limit units.Nanos) error {
	c.timeout = limit
	if err := kernel.SetTimeouts(c.fd, min(cmp.Or(limit, recvSlice), recvSlice), limit); err != nil {
		return fmt.Errorf("set timeouts, %s: %w", c.peer, err)
	}
	return nil
}

// Counters reads the kernel's counters. It makes several system calls: do not call it in a timed section.
func (c *Conn) Counters() (dataset.TCP, error) {
	n, err := kernel.Counters(c.fd)
	if err != nil {
		return n, fmt.Errorf("read the counters, %s: %w", c.peer, err)
	}
	n.Port = int64(c.port)
	return n, nil
}

// Bound bounds what the kernel takes and has not sent, and the send buffer, which holds what the other end has not
// acknowledged. 0 unsent is the kernel's own bound, which is none unless its administrator set
// net.ipv4.tcp_notsent_lowat. A buffer that the user has fixed stays as it is, and so does one that the kernel would
// make smaller than room (net.core.wmem_max); 0 gives the kernel's own back, which grows.
func (c *Conn) Bound(unsent, room int64) error {
	err := unix.SetsockoptInt(c.fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, int(min(unsent, math.MaxInt32)))
	if err = errors.Join(err, kernel.LimitRoom(c.fd, kernel.Clamp(units.Bytes(room)), &c.room)); err != nil {
		return fmt.Errorf("bound the unsent bytes (TCP_NOTSENT_LOWAT) to %d and the send buffer (SO_SNDBUF) to %d, %s: %w",
			unsent, room, c.peer, err)
	}
	return nil
}

// Shutdown ends the connection in both directions. Calls blocked in Send or Recv, here and at the peer, return. It is
// safe from any goroutine and more than once.
func (c *Conn) Shutdown() { c.stop(nil) }

// stop is Shutdown with a reason, which the holder's calls then return. The first reason stays.
func (c *Conn) stop(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.broken.Swap(true) {
		c.cause = cmp.Or(cause, ErrStopped)
	}
	if c.refs > 0 {
		_ = unix.Shutdown(c.fd, unix.SHUT_RDWR) // fails only where the peer was first
	}
}

// hold adds a holder beside the mesh. It fails where there is another, and once the mesh has released the connection.
func (c *Conn) hold() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.refs {
	case 0:
		return ErrStopped
	case 1:
		c.refs++
		return nil
	}
	return ErrBusy
}

// Release gives up one hold; the last one closes the descriptor.
func (c *Conn) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refs == 1 {
		c.broken.Store(true)
		c.cause = cmp.Or(c.cause, ErrStopped)
		kernel.Close(c.fd)
	}
	c.refs = max(0, c.refs-1)
}

// alive reports whether the connection is usable: not stopped here, and established according to the kernel.
func (c *Conn) alive() bool {
	if c.broken.Load() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refs > 0 && kernel.Established(c.fd)
}

// StampArrivals makes RecvAt return when the kernel took the last byte from the network, not when this thread read it,
// or ends that.
func (c *Conn) StampArrivals(on bool) error {
	if on == (c.stamps != nil) {
		return nil
	}
	if err := kernel.SetStamps(c.fd, on); err != nil {
		return fmt.Errorf("stamp what arrives from %s: %w", c.peer, err)
	}
	c.stamps = nil
	if on {
		c.stamps = &kernel.MessageReader{Stream: true}
	}
	return nil
}

// RecvAt is Recv, and also returns when the last byte came: the kernel's timestamp after StampArrivals, otherwise the
// time at which RecvAt had read it. It fails as Recv does.
func (c *Conn) RecvAt(b []byte) (at units.Nanos, err error) {
	if c.stamps == nil {
		err = c.Recv(b)
		return kernel.Now(), err
	}
	if len(b) > 0 {
		if !c.take(len(b)) {
			return 0, c.failed("receive", len(b), ErrTicketBytes)
		}
		n, first, errno := c.stamps.Recv(c.fd, b, unix.MSG_WAITALL)
		if at, err = c.recvRest(b, n, errno, c.stamps); err != nil {
			return 0, err
		}
		at = max(at, first)
	}
	if at == 0 {
		at = kernel.Now()
	}
	return at, nil
}
