package transport

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"calib/internal/plane"
	"calib/internal/units"
	"calib/transport/kernel"
)

// Lines calls f for each of k connections to a rank, all at once, and returns when all calls have. Line 0 is the
// connection of Send and Recv, on the caller's thread; the others are new, end with the call, and have a thread each,
// which may run on any CPU of the process. The rank calls Lines with the same k at the same time. When a line fails,
// all are shut down.
func (g *Group) Lines(rank, k int, f func(i int, l plane.Line) error) error {
	if k < 1 || k > plane.MaxLines {
		return fmt.Errorf("%d lines to rank %d, want 1 to %d", k, rank, plane.MaxLines)
	}
	first, err := g.link(rank)
	if err != nil {
		return err
	}
	conns := []*Conn{first}
	for i := 1; i < k; i++ {
		c, err := g.openLine(rank, i)
		if err != nil {
			g.closeLines(rank, conns)
			return err
		}
		conns = append(conns, c)
	}
	run := func(i int) error {
		l, err := newLine(g, conns[i])
		if err == nil {
			err = f(i, l)
		}
		if err != nil {
			shutdown(conns)
		}
		return err
	}
	errs := make([]error, k)
	var wg sync.WaitGroup
	for i := 1; i < k; i++ {
		wg.Go(func() {
			runtime.LockOSThread() // the thread ends with the goroutine
			errs[i] = run(i)
		})
	}
	errs[0] = run(0)
	wg.Wait()
	g.closeLines(rank, conns)
	if err := errors.Join(errs...); err != nil {
		return g.failed(rank, err)
	}
	return nil
}

// openLine opens a line to a rank; Abort shuts it down.
func (g *Group) openLine(rank, line int) (*Conn, error) {
	c, err := g.mesh.take(g.life, g.team[rank], line, true)
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", line, err)
	}
	if err := c.SetTimeouts(g.timeout, g.timeout); err != nil {
		c.Shutdown()
		c.Release()
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		c.stop(g.reason())
	}
	g.lines = append(g.lines, c)
	return c, nil
}

// closeLines ends all lines to a rank but line 0.
func (g *Group) closeLines(rank int, conns []*Conn) {
	g.mu.Lock()
	g.lines = nil
	g.mu.Unlock()
	for i, c := range conns {
		if i > 0 {
			g.mesh.unlink(linkID{g.team[rank], i}, c)
			c.Shutdown()
			c.Release()
		}
	}
}

// line is a plane.Line.
type line struct {
	*Conn
	g   *Group
	bbr bool
}

func newLine(g *Group, c *Conn) (plane.Line, error) {
	n, err := c.Counters()
	return line{c, g, n.Congestion == "bbr"}, err
}

// Send implements plane.Line: no end of a message is marked.
func (l line) Send(b []byte) error { return l.sendBytes(b) }

func (l line) Now() units.Nanos { return kernel.Now() }

func (l line) WaitUntil(t units.Nanos) error { return l.g.WaitUntil(t) }

// State implements plane.Line. StealTicks are the machine's.
func (l line) State() (plane.LineState, error) {
	s := plane.LineState{At: kernel.Now()}
	var err error
	if s.TCP, err = l.Counters(); err != nil {
		return s, err
	}
	s.TCP.StealTicks = kernel.StealTicks()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return s, fmt.Errorf("read the thread's CPU time: %w", err)
	}
	s.CPU = units.Nanos(ts.Nano())
	return s, nil
}

// bbrUnit is a gain of 1 (BBR_UNIT in net/ipv4/tcp_bbr.c).
const bbrUnit = 256

// ProbesRTT implements plane.Line. In PROBE_RTT, and nowhere else, bbr's window has a gain of 1 (bbr_update_gains);
// other congestion controls do not probe so.
func (l line) ProbesRTT() (bool, error) {
	if !l.bbr {
		return false, nil
	}
	info, err := unix.GetsockoptTCPCCBBRInfo(l.fd, unix.IPPROTO_TCP, unix.TCP_CC_INFO)
	if err != nil {
		return false, fmt.Errorf("read the state of bbr, %s: %w", l.peer, err)
	}
	return info.Cwnd_gain == bbrUnit, nil
}

// sendBytes is Send without the mark of a message's end.
func (c *Conn) sendBytes(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if !c.take(&c.sendLeft, len(b)) {
		return c.failed("send", len(b), ErrTicketBytes)
	}
	c.sent += int64(len(b))
	flags := c.flags &^ unix.MSG_EOR
	n, errno := kernel.Send(c.fd, b, flags)
	if n == len(b) {
		return nil
	}
	return c.sendRest(b, n, errno, flags)
}

// RecvSome waits until bytes have come, and reads at most len(b) of them. It fails as Recv does.
func (c *Conn) RecvSome(b []byte) (int, error) {
	wait := stall{limit: c.rcvWait}
	for len(b) > 0 {
		n, errno := kernel.Recv(c.fd, b, 0)
		switch {
		case n > 0:
			if !c.take(&c.recvLeft, n) {
				return 0, c.failed("receive", n, ErrTicketBytes)
			}
			return n, nil
		case errno == 0:
			return 0, c.failed("receive", len(b), ErrPeerClosed)
		default:
			if err := c.again(errno, &wait); err != nil {
				return 0, c.failed("receive", len(b), err)
			}
		}
	}
	return 0, nil
}
