package bench

import (
	"slices"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// Team is one rank's part in what a team does at one point: its Group, what it records, and the point. Where a method
// of the Group fails, that of the Team ends the task (Check): no experiment can go on without a rank.
type Team struct {
	Group
	R *Recorder
	P Point
}

func (x Team) Send(to int, b []byte) { Check(x.Group.Send(to, b)) }

func (x Team) Recv(from int, b []byte) { Check(x.Group.Recv(from, b)) }

func (x Team) RecvPolling(from int, b []byte) { Check(x.Group.RecvPolling(from, b)) }

func (x Team) RecvAt(from int, b []byte) units.Nanos { return Must(x.Group.RecvAt(from, b)) }

func (x Team) RecvAny(b []byte) (from, n int, at units.Nanos) {
	from, n, at, err := x.Group.RecvAny(b)
	Check(err)
	return from, n, at
}

func (x Team) WaitUntil(t units.Nanos) { Check(x.Group.WaitUntil(t)) }

func (x Team) Counters(peer int) dataset.TCP { return Must(x.Group.Counters(peer)) }

func (x Team) Pending(from int) int { return Must(x.Group.Pending(from)) }

func (x Team) SendSome(to int, b []byte, patience units.Nanos) int {
	return Must(x.Group.SendSome(to, b, patience))
}

func (x Team) SendDatagram(to int, b []byte) { Check(x.Group.SendDatagram(to, b)) }

func (x Team) RecvDatagram(b []byte, until units.Nanos) plane.Datagram {
	return Must(x.Group.RecvDatagram(b, until))
}

// Elapsed is the time since an earlier reading of the clock [ns].
func (x Team) Elapsed(since units.Nanos) int64 { return int64(x.Now() - since) }

// TimerCost is the median time of a timed section with nothing in it [ns].
func (x Team) TimerCost() float64 {
	const sections = 101
	var ns [sections]int64
	for i := range ns {
		ns[i] = x.Elapsed(x.Now())
	}
	slices.Sort(ns[:])
	return float64(ns[sections/2])
}

// Root reports whether this is rank 0.
func (x Team) Root() bool { return x.Rank() == 0 }

// Ranks lists every rank.
func (x Team) Ranks() []int { return FirstHosts(x.Size())[0][0] }

// Start is what rank 0 tells the team before a timed section.
type Start struct {
	At     units.Nanos // on rank 0's clock
	Period units.Nanos // between repetitions, or length of a stream
	Reps   int
}

const startBytes = 3 * 8

// Announce gives every rank the start that rank 0 chose, in the rank's own time. The start lies far enough ahead for
// the message to reach every rank first. The experiment must have Clocks.
func (x Team) Announce(s Start) Start {
	b := x.R.start[:]
	if x.Root() {
		s.At = x.Now() + x.R.Clocks.MaxRTT()*units.Nanos(x.Size()) + 2*units.Millisecond
		PutNumbers(b, int64(s.At), int64(s.Period), int64(s.Reps))
		x.SendAll(b)
	} else {
		x.Recv(0, b)
		s = Start{units.Nanos(GetNumber(b)), units.Nanos(GetNumber(b[8:])), int(GetNumber(b[16:]))}
	}
	s.At = x.R.Clocks.ToLocal(x.Rank(), s.At)
	return s
}

// SendAll sends b from rank 0 to every other rank.
func (x Team) SendAll(b []byte) {
	for k := 1; k < x.Size(); k++ {
		x.Send(k, b)
	}
}

// RecvAll receives len(b) bytes from every rank but 0, in order, and calls f with each.
func (x Team) RecvAll(b []byte, f func(rank int)) {
	for k := 1; k < x.Size(); k++ {
		x.Recv(k, b)
		f(k)
	}
}

// reduce gives rank 0 every rank's v, joined; the others get their own back.
func (x Team) reduce(v int64, join func(a, b int64) int64) int64 {
	var b [8]byte
	if x.Root() {
		x.RecvAll(b[:], func(int) { v = join(v, GetNumber(b[:])) })
	} else {
		PutNumbers(b[:], v)
		x.Send(0, b[:])
	}
	return v
}

// allReduce gives every rank what reduce gives rank 0.
func (x Team) allReduce(v int64, join func(a, b int64) int64) int64 {
	var b [8]byte
	PutNumbers(b[:], x.reduce(v, join))
	if x.Root() {
		x.SendAll(b[:])
	} else {
		x.Recv(0, b[:])
	}
	return GetNumber(b[:])
}

func larger(a, b int64) int64  { return max(a, b) }
func smaller(a, b int64) int64 { return min(a, b) }
func sum(a, b int64) int64     { return a + b }

// MaxAtRoot gives rank 0 the largest of every rank's v; the others get their own back.
func (x Team) MaxAtRoot(v units.Nanos) units.Nanos { return units.Nanos(x.reduce(int64(v), larger)) }

// SumAtRoot gives rank 0 the sum of every rank's v; the others get their own back.
func (x Team) SumAtRoot(v int64) int64 { return x.reduce(v, sum) }

// Max gives every rank the largest of all ranks' v.
func (x Team) Max(v int64) int64 { return x.allReduce(v, larger) }

// Min gives every rank the smallest of all ranks' v.
func (x Team) Min(v int64) int64 { return x.allReduce(v, smaller) }

// Sum gives every rank the sum of all ranks' v.
func (x Team) Sum(v int64) int64 { return x.allReduce(v, sum) }

// Skip records, at rank 0, that the point would take too long.
func (x Team) Skip(estimate units.Nanos) {
	if x.Root() {
		x.Add(Batch{Phase: names.PhaseSkipped, Ranks: x.Ranks(), NS: []int64{int64(estimate)}})
	}
}

// Reopened runs f on connections with other options. After a failure the connections stay as they are: some ranks would
// not come to the second Reopen, and the team's connections are given up anyway.
func (x Team) Reopened(with plane.Socket, f func()) {
	Check(x.Reopen(with))
	f()
	Check(x.Reopen(plane.Socket{}))
}
