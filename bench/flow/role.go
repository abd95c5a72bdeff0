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

// InPairs is a rank's place among pairs: direction 0 sends from even to odd ranks, direction 1 back.
func InPairs(x bench.Team, direction int) Role {
	from := x.G.Rank()&^1 | direction
	return Role{Team: x, Direction: direction, From: from, To: []int{from ^ 1}}
}

// BothDirections runs f for pairs in direction 0 and then in direction 1.
func BothDirections(g bench.Group, p bench.Point, r *bench.Recorder, f func(Role) error) error {
	for direction := range 2 {
		if err := f(InPairs(bench.Team{G: g, R: r, P: p}, direction)); err != nil {
			return err
		}
	}
	return nil
}

// Sends reports whether this rank is the sender.
func (x Role) Sends() bool { return x.G.Rank() == x.From }

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
		Phase: phase, Point: x.P, Ranks: []int{x.Peer(), x.G.Rank()}, NS: ns, TCP: tcp,
		Aux: map[string]float64{names.AuxDirection: float64(x.Direction)},
	}
}

// Counters reads those of every peer.
func (x Role) Counters() ([]dataset.TCP, error) {
	var all []dataset.TCP
	for _, peer := range x.peers() {
		c, err := x.G.Counters(peer)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// trip gives every rank the longest of the smallest round trips between senders and their peers.
func (x Role) trip() (units.Nanos, error) {
	c, err := x.G.Counters(x.Peer())
	if err != nil {
		return 0, err
	}
	t, err := x.Max(c.MinRTT * int64(units.Microsecond))
	return units.Nanos(t), err
}

// HandOver moves the sender's numbers and counters to each receiver, which returns them. before is by peer.
func (x Role) HandOver(numbers []int64, before []dataset.TCP) (sent *dataset.TCP, err error) {
	b := x.R.Bytes(int64(8*len(numbers) + bench.CounterBytes))
	counters := b[8*len(numbers):]
	for i, peer := range x.peers() {
		if sent, err = bench.CountersSince(x.G, peer, before[i]); err != nil {
			return nil, err
		}
		if x.Sends() {
			bench.PutNumbers(b, numbers...)
			bench.PutCounters(counters, sent)
			if err := x.G.Send(peer, b); err != nil {
				return nil, err
			}
			continue
		}
		if err := x.G.Recv(peer, b); err != nil {
			return nil, err
		}
		bench.GetNumbers(b, numbers)
		own := *sent
		bench.GetCounters(counters, sent) // keeps the congestion control and the buffers
		sent.Retrans += own.Retrans
		disturbed(sent, own)
	}
	return sent, nil
}

// disturbed takes over how the thread of one end was disturbed, where that is worse than at the other.
func disturbed(one *dataset.TCP, other dataset.TCP) {
	one.Involuntary = max(one.Involuntary, other.Involuntary)
	one.StealTicks = max(one.StealTicks, other.StealTicks)
}

// RecvSpan receives n messages of len(b) bytes from the sender. It returns the time from the first to the last.
func (x Role) RecvSpan(n int, b []byte) (units.Nanos, error) {
	var first units.Nanos
	for i := range n {
		if err := x.G.Recv(x.From, b); err != nil {
			return 0, err
		}
		if i == 0 {
			first = x.G.Now()
		}
	}
	return x.G.Now() - first, nil
}
