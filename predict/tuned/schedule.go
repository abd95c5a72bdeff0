package tuned

import (
	"calib/bench/pattern"
	"calib/reports/export"
)

// Option is one way to perform a collective: the number of an algorithm, and its parameters in a rule.
type Option struct {
	Algorithm, Fanout, Segment int
}

// widest is the largest predefined datatype [B]: with fewer elements than ranks some algorithms become others, and how
// many elements a message has is not known.
const widest = 16

// row is one of Open MPI's algorithms as a pattern.
type row struct {
	number  int
	pattern string // algorithm of the pattern, of the collective's name
	fanout  int
	blocks  bool // cuts a message into a block for each rank
}

// rows are the algorithms whose messages a pattern of calib sends (TestTraffic holds them against those that Open MPI
// sends). Some are left out: allreduce 2 performs whatever the rules of reduce and bcast say, allreduce 5 is 4 without
// a segment, alltoall 5 is for two ranks.
var rows = map[string][]row{
	"bcast": {{1, "linear", 0, false}, {2, "chains", pattern.Chains, false}, {3, "pipelined", 0, false},
		{4, "split-binary", 0, false}, {5, "binary-segmented", 0, false}, {6, "binomial-segmented", 0, false},
		{7, "knomial", 0, false}, {8, "scatter-doubling", 0, true}, {9, "scatter-allgather", 0, true}},
	"allreduce": {{1, "linear", 0, false}, {3, "recursive-doubling", 0, false}, {4, "ring", 0, true},
		{6, "rabenseifner-near", 0, true}},
	"alltoall": {{4, "shifted", 0, false}, {2, "pairwise", 0, false}, {3, "bruck", 0, false}},
	"gather":   {{1, "direct", 0, false}, {2, "binomial", 0, false}, {3, "synchronised", 0, false}},
}

// asFixed are the algorithms as the compiled-in decision takes them: without segments, and with one chain for a fan-out
// of 0.
var asFixed = map[string]map[int]int{"bcast": {2: 3}, "allreduce": {5: 4}, "alltoall": {1: 4}}

// options lists how a collective may be performed on that many hosts with m bytes or more, and the patterns of the
// messages: every algorithm, segmented ones whole and in segments that are shorter than m.
func options(c export.Collective, hosts, m int) (all []Option, sent []pattern.Pattern) {
	for _, r := range rows[c.Name] {
		p, ok := r.of(c, hosts, m)
		if !ok {
			continue
		}
		all, sent = append(all, Option{r.number, r.fanout, 0}), append(sent, p.WithSegment(0))
		for _, n := range pattern.Segments {
			if p.Segmented() && n < m {
				all, sent = append(all, Option{r.number, r.fanout, n}), append(sent, p.WithSegment(n))
			}
		}
	}
	return all, sent
}

// Default is what the compiled-in decision takes, as one of the options where it is.
func Default(c export.Collective, hosts, m int) Option {
	n := c.Fixed(hosts, m)
	if same, ok := asFixed[c.Name][n]; ok {
		n = same
	}
	return Option{Algorithm: n}
}

func (r row) of(c export.Collective, hosts, m int) (pattern.Pattern, bool) {
	if r.pattern == pattern.Linear.Algorithm && c.Name == pattern.Linear.Operation {
		return pattern.Linear, true
	}
	p, err := pattern.Find(c.Name, r.pattern)
	return p, err == nil && p.Defined(hosts) && (!r.blocks || m >= widest*hosts)
}

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

type messages struct {
	pattern.Comm
	memory pattern.Scratch
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
			out = append(out, pattern.Message{Peer: m.Peer, Data: c.memory.Out(n)})
		}
	}
	return out
}
