package transport

import (
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"calib/internal/plane"
	"calib/internal/units"
)

// messageStamps takes the stamps of one connection's messages (SO_TIMESTAMPING,
// Documentation/networking/timestamping.rst). Reading them allocates nothing.
type messageStamps struct {
	in, queue messageReader // of the stream, of the error queue
	none      [1]byte       // for the bytes of a stamp, which has none
	base      int64         // bytes sent on the connection when the kernel began to count
	nic       bool          // the interface stamps, too
}

const (
	softwareStamps = unix.SOF_TIMESTAMPING_SOFTWARE | unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_TX_SOFTWARE |
		unix.SOF_TIMESTAMPING_TX_SCHED | unix.SOF_TIMESTAMPING_OPT_TSONLY | unix.SOF_TIMESTAMPING_OPT_ID
	hardwareStamps = unix.SOF_TIMESTAMPING_RAW_HARDWARE | unix.SOF_TIMESTAMPING_RX_HARDWARE | unix.SOF_TIMESTAMPING_TX_HARDWARE |
		unix.SOF_TIMESTAMPING_OPT_TX_SWHW
)

// StampMessages lets this host stamp the messages to and from a rank, or ends that: by the kernel, and by the network
// interface where that can and its administrator has switched it on (SIOCSHWTSTAMP). No message may be under way. It
// ends with the group.
func (g *Group) StampMessages(peer int, on bool) error {
	c, err := g.link(peer)
	if err != nil {
		return err
	}
	return c.stampMessages(on)
}

// RecvStamped is Recv, or RecvPolling, and returns the stamps of the last byte. It needs StampMessages.
func (g *Group) RecvStamped(from int, b []byte, polls bool) (plane.Arrival, error) {
	c, err := g.link(from)
	if err != nil {
		return plane.Arrival{}, err
	}
	at, err := c.recvStamped(b, polls)
	if err != nil {
		return at, g.failed(from, err)
	}
	return at, nil
}

// Departure returns the stamps of the last message that was sent to a rank, and waits up to patience for those that are
// still to come. A stamp that the host does not take is 0. It needs StampMessages.
func (g *Group) Departure(to int, patience units.Nanos) (plane.Departure, error) {
	c, err := g.link(to)
	if err != nil {
		return plane.Departure{}, err
	}
	return c.departure(patience)
}

// StampClock compares the clock of the stamps, the wall clock, with that of Now: it returns by how much the former is
// ahead, and how far that may be off. Of several pairs of readings the closest counts.
func (g *Group) StampClock() (ahead, bound units.Nanos) {
	const readings = 16
	for i := range readings {
		before := Now()
		wall := units.Nanos(time.Now().UnixNano())
		after := Now()
		if half := (after - before + 1) / 2; i == 0 || half < bound {
			ahead, bound = wall-before-(after-before)/2, half
		}
	}
	return ahead, bound
}

// stampMessages turns the stamps of messages on or off.
func (c *Conn) stampMessages(on bool) error {
	if on == (c.messages != nil) {
		return nil
	}
	if !on {
		if err := sysStampMessages(c.fd, 0); err != nil {
			return fmt.Errorf("stop the stamps of messages, %s: %w", c.peer, err)
		}
		for c.messages.drop(c.fd) {
		}
		c.messages = nil
		return nil
	}
	s := &messageStamps{nic: sysNICStamps(c.fd)}
	flags := softwareStamps
	if s.nic {
		flags |= hardwareStamps
	}
	if err := s.begin(c, flags); err != nil {
		return fmt.Errorf("stamp messages (SO_TIMESTAMPING), %s: %w", c.peer, err)
	}
	c.messages = s
	return nil
}

var errUnackedBytes = errors.New("bytes are acknowledged while the kernel begins to count them")

// begin makes the kernel count the bytes by which it names stamps. Since Linux 6.2 it can count from what was written
// (SOF_TIMESTAMPING_OPT_ID_TCP); before, it counts from what is not acknowledged.
func (s *messageStamps) begin(c *Conn, flags int) error {
	s.base = c.sent
	err := sysStampMessages(c.fd, flags|unix.SOF_TIMESTAMPING_OPT_ID_TCP)
	if !errors.Is(err, unix.EINVAL) {
		return err
	}
	return s.beginUnacked(c, flags)
}

func (s *messageStamps) beginUnacked(c *Conn, flags int) error {
	const attempts = 8 // an acknowledgement may come meanwhile
	for range attempts {
		before, err := unix.IoctlGetInt(c.fd, unix.TIOCOUTQ)
		if err != nil {
			return err
		}
		if err := sysStampMessages(c.fd, flags); err != nil {
			return err
		}
		after, err := unix.IoctlGetInt(c.fd, unix.TIOCOUTQ)
		if err != nil {
			return err
		}
		if before == after {
			s.base = c.sent - int64(before)
			return nil
		}
		if err := sysStampMessages(c.fd, 0); err != nil {
			return err
		}
	}
	return errUnackedBytes
}

// recvStamped is Recv by recvmsg.
func (c *Conn) recvStamped(b []byte, polls bool) (at plane.Arrival, err error) {
	s := c.messages
	if s == nil {
		return at, fmt.Errorf("receive with stamps, %s: StampMessages was not called", c.peer)
	}
	if int64(len(b)) > c.recvLeft && !c.allowed.take(&c.recvLeft, len(b)) {
		return at, c.failed("receive", len(b), ErrTicketBytes)
	}
	c.recvLeft -= int64(len(b))
	flags := uintptr(0)
	switch {
	case polls:
		flags = unix.MSG_DONTWAIT
	case len(b) > small:
		flags = unix.MSG_WAITALL
	}
	size, wait, unseen := len(b), stall{limit: c.rcvWait}, c.unseen && !polls
	for len(b) > 0 {
		var n int
		var errno syscall.Errno
		if unseen {
			n, errno = s.in.receiveUnseen(c.fd, b, flags)
			unseen = false
		} else {
			n, errno = s.in.receive(c.fd, b, flags)
		}
		switch {
		case n > 0:
			b = b[n:]
			at = s.in.arrival()
			wait.reset()
		case errno == 0:
			return at, c.failed("receive", size, ErrPeerClosed)
		case polls && (errno == syscall.EAGAIN || errno == syscall.EINTR):
			if wait.spent() {
				return at, c.failed("receive", size, ErrTimeout)
			}
		default:
			if err := c.again(errno, &wait); err != nil {
				return at, c.failed("receive", size, err)
			}
		}
	}
	return at, nil
}

// departure reads the error queue until it has all stamps of the last message. Those of earlier messages, which nobody
// asked for, are dropped.
func (c *Conn) departure(patience units.Nanos) (d plane.Departure, err error) {
	s := c.messages
	if s == nil {
		return d, fmt.Errorf("the stamps of a message, %s: StampMessages was not called", c.peer)
	}
	last := uint32(c.sent - s.base - 1) // the kernel names a stamp by the last byte that was sent
	for began := units.Nanos(0); ; {
		for {
			st, errno := s.next(c.fd)
			if errno != 0 {
				break
			}
			if st.key == last {
				st.add(&d)
			}
			if d.Scheduled != 0 && d.Sent != 0 && (d.NIC != 0 || !s.nic) {
				return d, nil
			}
		}
		now := Now()
		if began == 0 {
			began = now
		}
		if now-began >= patience || c.broken.Load() {
			return d, nil
		}
		if err := waitFor(c.fd, 0, began+patience-now); err != nil { // a stamp is an error to poll
			return d, fmt.Errorf("wait for the stamps of a message, %s: %w", c.peer, err)
		}
	}
}

// sendStamp is one message of the error queue.
type sendStamp struct {
	kind, key uint32
	at        socketStamps
}

func (st *sendStamp) add(d *plane.Departure) {
	switch {
	case st.kind == unix.SCM_TSTAMP_SCHED:
		d.Scheduled = st.at.software()
	case st.kind != unix.SCM_TSTAMP_SND:
	case st.at.software() != 0:
		d.Sent = st.at.software()
	default:
		d.NIC = st.at.hardware()
	}
}

// drop takes a stamp off the error queue and reports whether there was one.
func (s *messageStamps) drop(fd int) bool {
	_, errno := s.next(fd)
	return errno == 0
}

// next takes a stamp off the error queue, and does not wait for one (EAGAIN).
func (s *messageStamps) next(fd int) (st sendStamp, errno syscall.Errno) {
	if _, errno = s.queue.receive(fd, s.none[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT); errno != 0 {
		return st, errno
	}
	for m := s.queue.messages(); m.next(); {
		switch {
		case m.level == unix.SOL_SOCKET && m.kind == unix.SO_TIMESTAMPING:
			st.at.read(m.body)
		case m.level == unix.SOL_IP && m.kind == unix.IP_RECVERR || m.level == unix.SOL_IPV6 && m.kind == unix.IPV6_RECVERR:
			if len(m.body) < int(unsafe.Sizeof(unix.SockExtendedErr{})) {
				continue
			}
			if e := (*unix.SockExtendedErr)(unsafe.Pointer(&m.body[0])); e.Origin == unix.SO_EE_ORIGIN_TIMESTAMPING {
				st.kind, st.key = e.Info, e.Data
			} else {
				st.kind = ^uint32(0)
			}
		}
	}
	return st, 0
}

// arrival is the stamps of what receive has returned.
func (in *messageReader) arrival() (at plane.Arrival) {
	for m := in.messages(); m.next(); {
		if m.level == unix.SOL_SOCKET && m.kind == unix.SO_TIMESTAMPING {
			var st socketStamps
			st.read(m.body)
			at = plane.Arrival{Taken: st.software(), NIC: st.hardware()}
		}
	}
	return at
}

// socketStamps is the kernel's struct scm_timestamping: software, nothing, hardware.
type socketStamps [3]unix.Timespec

func (t *socketStamps) read(body []byte) {
	if len(body) >= int(unsafe.Sizeof(*t)) {
		*t = *(*socketStamps)(unsafe.Pointer(&body[0]))
	}
}

func (t *socketStamps) software() units.Nanos { return units.Nanos(t[0].Nano()) }
func (t *socketStamps) hardware() units.Nanos { return units.Nanos(t[2].Nano()) }
