// Package pattern holds communication patterns: what every rank of a team sends and receives, as one function that all
// ranks run (SPMD). A pattern runs in three worlds: on a cluster and on the simulator, where its Comm is made of a
// bench.Group (On), and on paper, where it is written down as a Schedule (Of) that models of communication cost
// evaluate.
//
// Patterns move bytes and compute nothing. None ever blocks because two ranks both send more than the buffers between
// them hold: ranks that send to each other at the same time do so by Exchange.
package pattern

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/bench"
	"calib/internal/lists"
)

// Comm is what a pattern may do: one rank's view of its team. What fails ends the pattern (bench.Check).
type Comm interface {
	Rank() int
	Size() int
	// Send sends b to a rank as one message, and returns when the transport has taken it.
	Send(to int, b []byte)
	// Recv fills b with the next message from a rank.
	Recv(from int, b []byte)
	// Exchange sends the messages of out in order and receives those of in in order, both at the same time. It ends
	// whatever the buffers hold, if the other ranks send and receive what belongs to it, and if all messages of the
	// exchange can be listed in one order that every rank's out and in keep: then the first of them that has not passed
	// can always move.
	Exchange(out, in []Message)
}

type Message struct {
	Peer int
	Data []byte
}

// run performs one rank's part with M bytes. It allocates as little as it can: data are parts of the scratch.
type run = func(c Comm, m int, s *Scratch)

// Pattern is one algorithm of one operation. docs/reference/experiments.md says of each what its M bytes are, and its
// source.
type Pattern struct {
	// ID is the pattern's number in samples.jsonl. It is never given to another.
	ID int64
	// Operation is what is done (bcast, allreduce), Algorithm how (binary, ring).
	Operation, Algorithm string
	Run                  run
	// Fits reports whether the pattern is defined for a team of a size; nil is every size from Least.
	Fits func(size int) bool
	// Fixed patterns move the same whatever M is.
	Fixed bool
	// Segment is the size of the pieces in which a segmented algorithm passes a message on [B]; 0 is no such algorithm.
	Segment int
	// segmented makes Run for pieces of a size; nil is no segmented algorithm.
	segmented func(segment int) run
	// gridded makes Run for a grid with so many strips in a plane, 0 of one's own choice; nil is an algorithm without a
	// grid.
	gridded func(strips int) run
}

// All lists the patterns, by ID.
var All = complete(
	Pattern{Operation: "p2p", Algorithm: "direct", Run: rootToEach, Fits: func(size int) bool { return size == 2 }},
	Pattern{Operation: "bcast", Algorithm: "serial", Run: rootToEach},
	Pattern{Operation: "bcast", Algorithm: "binary", Run: whole(binary, sendEach)},
	Pattern{Operation: "bcast", Algorithm: "binomial", Run: whole(binomial, sendEach)},
	Pattern{Operation: "bcast", Algorithm: "pipelined", segmented: pipelined},
	Pattern{Operation: "bcast", Algorithm: "scatter-allgather", Run: scatterAllgather},
	Pattern{Operation: "globalop", Algorithm: "p4", Run: globalOperation},
	Pattern{Operation: "allreduce", Algorithm: "recursive-doubling", Run: recursiveDoubling},
	Pattern{Operation: "allreduce", Algorithm: "ring", Run: ringAllreduce},
	Pattern{Operation: "allreduce", Algorithm: "rabenseifner", Run: rabenseifner},
	Pattern{Operation: "barrier", Algorithm: "dissemination", Run: disseminationBarrier, Fixed: true},
	Pattern{Operation: "barrier", Algorithm: "p4", Run: p4Barrier, Fixed: true},
	Pattern{Operation: "neighbour", Algorithm: "ring", Run: ringNeighbours},
	Pattern{Operation: "gather", Algorithm: "direct", Run: eachToRoot},
	Pattern{Operation: "gather", Algorithm: "windows", Run: windowsToRoot},
	Pattern{Operation: "scatter", Algorithm: "direct", Run: rootToEach},
	Pattern{Operation: "alltoall", Algorithm: "pairwise", Run: pairwiseAlltoall},
	Pattern{Operation: "alltoall", Algorithm: "shifted", Run: shiftedAlltoall},
	Pattern{Operation: "alltoall", Algorithm: "random", Run: randomAlltoall},
	Pattern{Operation: "incast", Algorithm: "direct", Run: eachToRoot},
	Pattern{Operation: "dd", Algorithm: "exchange", Run: domainExchange},
	Pattern{Operation: "mg", Algorithm: "overlap", gridded: multigridOverlap},
	Pattern{Operation: "mg", Algorithm: "staggered", gridded: multigridStaggered},
	Pattern{Operation: "bcast", Algorithm: "knomial", segmented: over(knomial(4), sendAll)},
	Pattern{Operation: "bcast", Algorithm: "binary-segmented", segmented: over(spreadBinary, sendAll)},
	Pattern{Operation: "bcast", Algorithm: "binomial-segmented", segmented: over(highBinomial, sendAll)},
	Pattern{Operation: "bcast", Algorithm: "chains", segmented: over(chains(Chains), sendAll)},
	Pattern{Operation: "bcast", Algorithm: "split-binary", segmented: splitBinary},
	Pattern{Operation: "bcast", Algorithm: "scatter-doubling", Run: scatterDoubling, Fits: powerOfTwo},
	Pattern{Operation: "allreduce", Algorithm: "linear", Run: linearAllreduce},
	Pattern{Operation: "allreduce", Algorithm: "rabenseifner-near", Run: rabenseifnerNear},
	Pattern{Operation: "alltoall", Algorithm: "bruck", Run: bruckAlltoall},
	Pattern{Operation: "gather", Algorithm: "binomial", Run: binomialGather},
	Pattern{Operation: "gather", Algorithm: "synchronised", segmented: synchronisedGather},
)

// Linear is broadcast serial as MPI libraries perform it: the root's sends are one exchange. The messages are the same,
// so that All holds the other only.
var Linear = Pattern{Operation: "bcast", Algorithm: "linear", Run: linearBroadcast}

// segment is what the segmented algorithms of All pass on at a time [B].
const segment = 8 << 10

// Segments are those that Variants tries [B].
var Segments = []int{1 << 10, 2 << 10, 4 << 10, segment, 16 << 10, 32 << 10, 64 << 10}

// complete numbers the patterns of a list, and gives the segmented ones their usual segment.
func complete(list ...Pattern) []Pattern {
	for i, p := range list {
		if p.Segmented() {
			list[i] = p.WithSegment(segment)
		}
		if p.gridded != nil {
			list[i].Run = p.gridded(0)
		}
		list[i].ID = int64(i + 1)
	}
	return list
}

// Name is "operation-algorithm", unique among All.
func (p Pattern) Name() string { return p.Operation + "-" + p.Algorithm }

// Least is the smallest team of any pattern.
const Least = 2

func (p Pattern) Defined(size int) bool { return size >= Least && (p.Fits == nil || p.Fits(size)) }

// Segmented reports whether the algorithm cuts a message into pieces of a size that can be chosen.
func (p Pattern) Segmented() bool { return p.segmented != nil }

// WithSegment returns a segmented algorithm with another size of its pieces [B]; 0 passes messages on whole. Other
// algorithms stay as they are.
func (p Pattern) WithSegment(n int) Pattern {
	if !p.Segmented() {
		return p
	}
	p.Segment = n
	p.Run = p.segmented(cmp.Or(n, math.MaxInt))
	return p
}

// WithStrips returns an algorithm on a grid of p_x strips and p_t planes with another p_x, which teams must be a
// multiple of. ok is false for one that has no grid.
func (p Pattern) WithStrips(n int) (with Pattern, ok bool) {
	if p.gridded == nil || n < 1 {
		return p, false
	}
	p.Run, p.Fits = p.gridded(n), func(size int) bool { return size%n == 0 }
	return p, true
}

// Variants lists the algorithms of an operation for messages of m bytes: segmented ones whole, and with each of
// Segments that is shorter.
func Variants(operation string, m int) []Pattern {
	var out []Pattern
	for _, p := range OfOperation(operation) {
		out = append(out, p.WithSegment(0))
		for _, n := range Segments {
			if p.Segmented() && n < m {
				out = append(out, p.WithSegment(n))
			}
		}
	}
	return out
}

// Operations lists the operations, in the order of All.
func Operations() []string {
	var out []string
	for _, p := range All {
		if !slices.Contains(out, p.Operation) {
			out = append(out, p.Operation)
		}
	}
	return out
}

// OfOperation lists the algorithms of an operation.
func OfOperation(operation string) []Pattern {
	return lists.Where(All, func(p Pattern) bool { return p.Operation == operation })
}

func Names() []string {
	return lists.Map(All, Pattern.Name)
}

// Find returns the pattern of an operation and algorithm. The error lists what there is.
func Find(operation, algorithm string) (Pattern, error) {
	i := slices.IndexFunc(All, func(p Pattern) bool { return p.Operation == operation && p.Algorithm == algorithm })
	if i < 0 {
		return Pattern{}, fmt.Errorf("no algorithm %q of operation %q (have %s)",
			algorithm, operation, strings.Join(Names(), ", "))
	}
	return All[i], nil
}

func ByID(id int64) (Pattern, bool) {
	if id < 1 || id > int64(len(All)) {
		return Pattern{}, false
	}
	return All[id-1], true
}

// Scratch is memory that a rank's patterns send from and receive into. The zero value is ready.
type Scratch struct {
	out, in      []byte
	sends, recvs []Message // of the exchange that is put together
	random       randomOrder
	ranks        []int // of a tree's children
}

// mostRoom bounds a message, which may be of as many blocks as there are hosts [B]: a program that asks for more memory
// than there is ends without a word to its user.
const mostRoom int64 = 1 << 34

// Use makes patterns send from out and receive into in, as far as they reach.
func (s *Scratch) Use(out, in []byte) { s.out, s.in = out, in }

// Out returns n bytes to send, the same each time.
func (s *Scratch) Out(n int) []byte { return room(&s.out, n) }

// In returns n bytes to receive into.
func (s *Scratch) In(n int) []byte { return room(&s.in, n) }

// room returns the first n bytes of b, which becomes as long.
func room(b *[]byte, n int) []byte {
	if int64(n) > mostRoom {
		bench.Fail("a message of %d B, of at most %d", n, mostRoom)
	}
	if n > len(*b) {
		*b = make([]byte, n)
	}
	return (*b)[:n]
}

// send adds a message of n bytes to the next exchange; one of none is no message.
func (s *Scratch) send(to, n int) {
	if n > 0 {
		s.sends = append(s.sends, Message{to, s.Out(n)})
	}
}

// recv adds a message of n bytes to receive.
func (s *Scratch) recv(from, n int) {
	if n > 0 {
		s.recvs = append(s.recvs, Message{from, s.In(n)})
	}
}

// exchange performs what send and recv have put together.
func (s *Scratch) exchange(c Comm) {
	out, in := s.sends, s.recvs
	s.sends, s.recvs = out[:0], in[:0]
	if len(out)+len(in) > 0 {
		c.Exchange(out, in)
	}
}

// swap sends n bytes to a rank and receives k from one, at the same time.
func (s *Scratch) swap(c Comm, to, n, from, k int) {
	s.send(to, n)
	s.recv(from, k)
	s.exchange(c)
}

// On performs this rank's part of a pattern with m bytes in the team of g.
func (p Pattern) On(g bench.Group, m int, s *Scratch) error {
	return bench.Caught(func() { p.Run(On(g), m, s) })
}

// On is the team of g as a Comm. Its Exchange sends what the transport takes; when it takes no more, it receives what
// is there, and when nothing moves, it waits a little for room to send. When all is sent, it receives as Recv does.
func On(g bench.Group) Comm { return &team{Team: bench.Team{Group: g}} }

type team struct {
	bench.Team
	in  []Message // left to receive in an exchange
	got int       // bytes of in[0]
}

// Exchange implements Comm. It ends when all messages have passed, with a failure of the group, or when nothing has
// moved for bench.LongestWait.
func (t *team) Exchange(out, in []Message) {
	t.in, t.got = in, 0
	for _, m := range out {
		t.SendWhile(m.Peer, m.Data, t.drain)
	}
	for len(t.in) > 0 {
		t.recv(len(t.in[0].Data) - t.got)
	}
}

// drain receives what is there, in order, and returns how many bytes that were.
func (t *team) drain() (total int) {
	for len(t.in) > 0 {
		n := min(t.Pending(t.in[0].Peer), len(t.in[0].Data)-t.got)
		if n == 0 {
			break
		}
		t.recv(n)
		total += n
	}
	return total
}

// recv receives n bytes of the first message.
func (t *team) recv(n int) {
	m := t.in[0]
	t.Recv(m.Peer, m.Data[t.got:t.got+n])
	if t.got += n; t.got == len(m.Data) {
		t.in, t.got = t.in[1:], 0
	}
}
