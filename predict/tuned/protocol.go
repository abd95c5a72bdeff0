package tuned

import (
	"math"

	"calib/bench/pattern"
)

// What Open MPI adds to the messages of a pattern over TCP (ob1 over btl/tcp).
const (
	// header precedes every message [B]: 8 of the btl, and 14 of ob1's match header. Those of a rendezvous are up to 40
	// longer.
	header = 8 + 14
	// eagerLimit is btl_tcp_eager_limit and btl_tcp_rndv_eager_limit [B], of which ob1 subtracts its largest header: a
	// message of 65,480 bytes is eager, one of 65,484 is not (Open MPI 4.1.4, by the packets that it sends).
	eagerLimit    = 64 << 10
	largestHeader = 56
	eager         = eagerLimit - largestHeader
)

// overTCP is a pattern whose messages are sent as Open MPI sends them: with a header, and those above the eager limit
// by rendezvous, in which the rest follows when the receiver has acknowledged the first part.
func overTCP(p pattern.Pattern) pattern.Pattern {
	run := p.Run
	p.Run = func(c pattern.Comm, m int, s *pattern.Scratch) { run(&messages{Comm: c}, m, s) }
	return p
}

// messages is the Comm of Open MPI's messages.
type messages struct {
	pattern.Comm
	memory []byte
}

func (c *messages) Send(to int, b []byte) {
	c.Exchange([]pattern.Message{{Peer: to, Data: b}}, nil)
}

func (c *messages) Recv(from int, b []byte) {
	c.Exchange(nil, []pattern.Message{{Peer: from, Data: b}})
}

// Exchange sends and receives the first parts, then the acknowledgements of those that have more, then the rest.
func (c *messages) Exchange(out, in []pattern.Message) {
	first := func(n int) int { return header + min(n, eager) }
	rest := func(n int) int {
		if n <= eager {
			return 0
		}
		return header + n - eager
	}
	ack := func(n int) int { return min(header, rest(n)) }
	c.round(c.parts(out, first), c.parts(in, first))
	c.round(c.parts(in, ack), c.parts(out, ack))
	c.round(c.parts(out, rest), c.parts(in, rest))
}

func (c *messages) round(out, in []pattern.Message) {
	if len(out)+len(in) > 0 {
		c.Comm.Exchange(out, in)
	}
}

// parts are messages of as many bytes as a function of their length says; none where that is 0.
func (c *messages) parts(of []pattern.Message, length func(int) int) []pattern.Message {
	var out []pattern.Message
	for _, m := range of {
		if n := length(len(m.Data)); n > 0 {
			out = append(out, pattern.Message{Peer: m.Peer, Data: c.bytes(n)})
		}
	}
	return out
}

// bytes are any n bytes.
func (c *messages) bytes(n int) []byte {
	if n > len(c.memory) {
		c.memory = make([]byte, int(math.Exp2(math.Ceil(math.Log2(float64(n))))))
	}
	return c.memory[:n]
}
