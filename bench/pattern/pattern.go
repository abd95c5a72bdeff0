// Package pattern holds communication patterns: what every rank of a team sends and receives, as one function that all
// ranks run (SPMD). A pattern runs in three worlds: on a cluster and on the simulator, where its Comm is made of a
// bench.Group (On), and on paper, where it is written down as a Schedule (Of) that models of communication cost
// evaluate.
//
// Patterns move bytes and compute nothing. None ever blocks because two ranks both send more than the buffers between
// them hold: ranks that send to each other at the same time do so by Exchange.
package pattern

import (
	"fmt"
	"slices"
	"strings"
)

// Comm is what a pattern may do: one rank's view of its team.
type Comm interface {
	Rank() int
	Size() int
	// Send sends b to a rank as one message, and returns when the transport has taken it.
	Send(to int, b []byte) error
	// Recv fills b with the next message from a rank.
	Recv(from int, b []byte) error
	// Exchange sends the messages of out in order and receives those of in in order, both at the same time. It ends
	// whatever the buffers hold, if the other ranks send and receive what belongs to it, and if all messages of the
	// exchange can be listed in one order that every rank's out and in keep: then the first of them that has not passed
	// can always move.
	Exchange(out, in []Message) error
}

// Message is one message of an Exchange.
type Message struct {
	Peer int
	Data []byte
}

// All lists the patterns, by ID.
var All = whole(slices.Concat(pointToPoint, broadcasts, globalOperations, allreductions, barriers, neighbours, rooted, alltoalls, incasts,
	applications, trees, halvings, bruck, gathers))

// Pattern is one algorithm of one operation.
type Pattern struct {
	// ID is the pattern's number in samples.jsonl. It is never given to another.
	ID int64
	// Operation is what is done (bcast, allreduce), Algorithm how (binary, ring).
	Operation, Algorithm string
	// Bytes says what the size M of the pattern is.
	Bytes string
	// Fixed patterns move the same whatever M is.
	Fixed bool
	// Segment is the size of the pieces in which a segmented algorithm passes a message on [B]; 0 is no such algorithm.
	Segment int
	// Source is the paper and section, or the usual name's origin.
	Source string
	// Least is the smallest team.
	Least int
	// Fits reports whether the pattern is defined for a team of a size; nil is every size from Least.
	Fits func(size int) bool
	// Run performs one rank's part with M bytes. It allocates as little as it can: data are parts of c's scratch.
	Run func(c Comm, m int, s *Scratch) error
	// segmented makes Run for pieces of a size; nil is no segmented algorithm.
	segmented func(segment int) func(c Comm, m int, s *Scratch) error
}

// Name is "operation-algorithm", unique among All.
func (p Pattern) Name() string { return p.Operation + "-" + p.Algorithm }

// Defined reports whether the pattern is defined for a team of that size.
func (p Pattern) Defined(size int) bool { return size >= p.Least && (p.Fits == nil || p.Fits(size)) }

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
	return slices.DeleteFunc(slices.Clone(All), func(p Pattern) bool { return p.Operation != operation })
}

// Names lists the names of All.
func Names() []string {
	var out []string
	for _, p := range All {
		out = append(out, p.Name())
	}
	return out
}

// Find returns the pattern of an operation and algorithm. The error lists what there is.
func Find(operation, algorithm string) (Pattern, error) {
	i := slices.IndexFunc(All, func(p Pattern) bool { return p.Operation == operation && p.Algorithm == algorithm })
	if i < 0 {
		return Pattern{}, fmt.Errorf("no algorithm %q of operation %q (have %s)", algorithm, operation, strings.Join(Names(), ", "))
	}
	return All[i], nil
}

// ByID returns the pattern of that number.
func ByID(id int64) (Pattern, bool) {
	i := slices.IndexFunc(All, func(p Pattern) bool { return p.ID == id })
	if i < 0 {
		return Pattern{}, false
	}
	return All[i], true
}
