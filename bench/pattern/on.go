package pattern

import (
	"fmt"
	"time"

	"calib/bench"
	"calib/internal/units"
)

// On is the team of g as a Comm. Its Exchange sends what the transport takes; when it takes no more, it receives what
// is there, and when nothing moves, it waits a little for room to send. When all is sent, it receives as Recv does.
func On(g bench.Group) Comm { return team{g} }

type team struct{ bench.Group }

const (
	// A rank that can neither send nor receive waits as long as it has waited already, within these bounds.
	minWait = 50 * units.Microsecond
	maxWait = units.Millisecond
	// longestWait is after what time without a byte an exchange is given up: longer than retransmission time-outs in a
	// row.
	longestWait = 8 * units.Second
)

// Exchange implements Comm. It ends when all messages have passed, with an error of the group, or when nothing has
// moved for longestWait.
func (t team) Exchange(out, in []Message) error {
	x := exchange{Group: t.Group, in: in}
	for _, m := range out {
		if err := x.send(m); err != nil {
			return err
		}
	}
	for len(x.in) > 0 {
		if err := x.recv(len(x.in[0].Data) - x.got); err != nil {
			return err
		}
	}
	return nil
}

// exchange is what is left to receive.
type exchange struct {
	bench.Group
	in  []Message
	got int // bytes of in[0]
}

// send sends all of m, and receives while it cannot.
func (x *exchange) send(m Message) error {
	var since, wait units.Nanos // since when nothing moves, and how long to wait for it; 0 while something does
	for rest := m.Data; ; {
		n, err := x.SendSome(m.Peer, rest, wait)
		if err != nil {
			return err
		}
		if rest = rest[n:]; len(rest) == 0 {
			return nil
		}
		got, err := x.drain()
		switch {
		case err != nil:
			return err
		case n+got > 0:
			since, wait = 0, 0
			continue
		}
		now := x.Now()
		if wait == 0 {
			since = now
		}
		if now-since > longestWait {
			return fmt.Errorf("send %d bytes to rank %d: it has taken none of the last %d within %v", len(m.Data), m.Peer, len(rest),
				time.Duration(longestWait))
		}
		wait = min(max(now-since, minWait), maxWait)
	}
}

// drain receives what is there, in order, and returns how many bytes that were.
func (x *exchange) drain() (total int, err error) {
	for len(x.in) > 0 {
		n, err := x.Pending(x.in[0].Peer)
		if err != nil || n == 0 {
			return total, err
		}
		n = min(n, len(x.in[0].Data)-x.got)
		if err := x.recv(n); err != nil {
			return total, err
		}
		total += n
	}
	return total, nil
}

// recv receives n bytes of the first message.
func (x *exchange) recv(n int) error {
	m := x.in[0]
	if err := x.Recv(m.Peer, m.Data[x.got:x.got+n]); err != nil {
		return err
	}
	if x.got += n; x.got == len(m.Data) {
		x.in, x.got = x.in[1:], 0
	}
	return nil
}
