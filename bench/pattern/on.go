package pattern

import (
	"time"

	"calib/bench"
)

// On performs this rank's part of a pattern with m bytes in the team of g.
func (p Pattern) On(g bench.Group, m int, s *Scratch) error {
	return bench.Caught(func() { p.Run(On(g), m, s) })
}

// On is the team of g as a Comm. Its Exchange sends what the transport takes; when it takes no more, it receives what
// is there, and when nothing moves, it waits a little for room to send. When all is sent, it receives as Recv does.
func On(g bench.Group) Comm { return team{bench.Team{Group: g}} }

type team struct{ bench.Team }

// Exchange implements Comm. It ends when all messages have passed, with a failure of the group, or when nothing has
// moved for bench.LongestWait.
func (t team) Exchange(out, in []Message) {
	x := exchange{Team: t.Team, in: in}
	for _, m := range out {
		x.send(m)
	}
	for len(x.in) > 0 {
		x.recv(len(x.in[0].Data) - x.got)
	}
}

// exchange is what is left to receive.
type exchange struct {
	bench.Team
	in  []Message
	got int // bytes of in[0]
}

// send sends all of m, and receives while it cannot.
func (x *exchange) send(m Message) {
	var wait bench.Wait
	for rest := m.Data; ; {
		n := x.SendSome(m.Peer, rest, wait.For)
		if rest = rest[n:]; len(rest) == 0 {
			return
		}
		if wait.TooLong(x.Group, n+x.drain()) {
			bench.Fail("send %d bytes to rank %d: it has taken none of the last %d within %v", len(m.Data), m.Peer, len(rest),
				time.Duration(bench.LongestWait))
		}
	}
}

// drain receives what is there, in order, and returns how many bytes that were.
func (x *exchange) drain() (total int) {
	for len(x.in) > 0 {
		n := min(x.Pending(x.in[0].Peer), len(x.in[0].Data)-x.got)
		if n == 0 {
			break
		}
		x.recv(n)
		total += n
	}
	return total
}

// recv receives n bytes of the first message.
func (x *exchange) recv(n int) {
	m := x.in[0]
	x.Recv(m.Peer, m.Data[x.got:x.got+n])
	if x.got += n; x.got == len(m.Data) {
		x.in, x.got = x.in[1:], 0
	}
}
