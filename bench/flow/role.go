// Package flow is one-way traffic from one sender to one receiver, or to several in turn: the roles of the ranks,
// streams of messages sent back to back, and streams of bytes. Its experiments are paired and gap.
package flow

import (
	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Role is one rank's place in a batch.
type Role struct {
	bench.Team
	Direction int   // 0, 1, …: which rank of the team, or of each pair, sends
	From      int   // the sender's rank
	To        []int // the receivers of that sender
}

// inPairs is a rank's place among pairs: direction 0 sends from even to odd ranks, direction 1 back.
func inPairs(x bench.Team, direction int) Role {
	from := x.Rank()&^1 | direction
	return Role{Team: x, Direction: direction, From: from, To: []int{from ^ 1}}
}

// BothDirections runs f for pairs in direction 0 and then in direction 1.
func BothDirections(x bench.Team, f func(Role)) {
	for direction := range 2 {
		f(inPairs(x, direction))
	}
}

// Sends reports whether this rank is the sender.
func (x Role) Sends() bool { return x.Rank() == x.From }

// Peer is the sender, or for the sender its first receiver.
func (x Role) Peer() int { return x.peers()[0] }

// peers are all that this rank exchanges messages with.
func (x Role) peers() []int {
	if x.Sends() {
		return x.To
	}
	return []int{x.From}
}

// Batch is a line of this rank with its peer first: at a receiver, sender and receiver.
func (x Role) Batch(phase string, ns []int64, tcp *dataset.TCP) bench.Batch {
	return bench.Batch{
		Phase: phase, Ranks: []int{x.Peer(), x.Rank()}, NS: ns, TCP: tcp,
		Aux: map[string]float64{names.AuxDirection: float64(x.Direction)},
	}
}

// AllCounters reads those of every peer.
func (x Role) AllCounters() []dataset.TCP {
	var all []dataset.TCP
	for _, peer := range x.peers() {
		all = append(all, x.Counters(peer))
	}
	return all
}

// trip gives every rank the longest of the smallest round trips between senders and their peers.
func (x Role) trip() units.Nanos {
	return units.Nanos(x.Max(x.Counters(x.Peer()).MinRTT * int64(units.Microsecond)))
}

// HandOver moves the sender's numbers and counters to each receiver, which returns them. before is by peer.
func (x Role) HandOver(numbers []int64, before []dataset.TCP) (sent *dataset.TCP) {
	for i, peer := range x.peers() {
		sent = x.CountersSince(peer, before[i])
		x.hand(peer, numbers, sent)
	}
	return sent
}

// hand overwrites a receiver's numbers and counters by those of the sender. How the receiver's thread was disturbed is
// kept where that is worse.
func (x Role) hand(peer int, numbers []int64, tcp *dataset.TCP) {
	b := x.R.Bytes(int64(8*len(numbers) + bench.CounterBytes))
	counters := b[8*len(numbers):]
	if x.Sends() {
		bench.PutNumbers(b, numbers...)
		bench.PutCounters(counters, tcp)
		x.Send(peer, b)
		return
	}
	x.Recv(peer, b)
	bench.GetNumbers(b, numbers)
	own := *tcp
	bench.GetCounters(counters, tcp) // keeps the congestion control and the buffers
	tcp.Retrans += own.Retrans
	tcp.Involuntary, tcp.StealTicks = max(tcp.Involuntary, own.Involuntary), max(tcp.StealTicks, own.StealTicks)
}

// RecvSpan receives n messages of len(b) bytes from the sender. It returns the time from the first to the last.
func (x Role) RecvSpan(n int, b []byte) units.Nanos {
	var first units.Nanos
	for i := range n {
		x.Recv(x.From, b)
		if i == 0 {
			first = x.Now()
		}
	}
	return x.Now() - first
}

// span sends n messages of b to each receiver in turn, or receives them and returns the time from the first to the
// last.
func (x Role) span(n int, b []byte) units.Nanos {
	if !x.Sends() {
		return x.RecvSpan(n, b)
	}
	for i := range n * len(x.To) {
		x.Send(x.To[i%len(x.To)], b)
	}
	return 0
}
