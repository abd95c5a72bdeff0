package collective

import (
	"math"
	"slices"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/stats"
	"calib/internal/units"
)

// operation is one rank's part in what a team does together, and what is timed as a whole: all begin at a time that
// they were told, and the time runs from when the first of those that begin by sending has begun until the last rank
// has ended. The experiment must have Clocks.
type operation struct {
	bench.Team
	// part performs this rank's part with m bytes, from a start on its own clock. It returns when the rank began and
	// ended.
	part func(start units.Nanos, m int) (began, ended units.Nanos)
	// first says that this rank begins by sending: others wait for it, and when it begins matters.
	first bool
	peers []int // whose connections are counted
	// quiet is for how long after the start a rank keeps still when it has done its part, so that what it says of it
	// does not meet the parts of others.
	quiet  units.Nanos
	signal [1]byte
}

// bounds are those of a batch.
type bounds struct {
	short       int         // bytes of the first operations, which open connections and tell how long the whole takes
	most, least int         // repetitions
	time        units.Nanos // of a batch, unless the least repetitions need more
	longest     units.Nanos // of one repetition; above, there is none. 0 is no bound
}

// untimed is how many operations come before the repetitions, at most.
const untimed = 3

// repeatedTime is how long a batch of an operation is expected to take that takes one, on so many hosts.
func repeatedTime(path bench.Path, hosts int, one, within units.Nanos, least, most int) units.Nanos {
	n := min(most, max(least, int(within/max(1, one))))
	return units.Nanos(n+untimed)*(path.Start(hosts)+one+one/4) + units.Nanos(hosts)*path.Latency
}

// batch is what the repetitions gave.
type batch struct {
	times
	tcp      dataset.TCP // of rank 0, with what all ranks lost
	estimate units.Nanos // rank 0: of a repetition, before the first
}

// times are those of repetitions, from the announced start [ns]: when the rank began, twice, and when it ended. At rank
// 0 they are, once all are in, when the first and the last of those that send first began, and when the last rank
// ended.
type times struct{ early, late, ended []int64 }

// measure makes the repetitions of a point with m bytes. Rank 0 gets their times; none, if one would take too long.
func (x *operation) measure(m int, b bounds) (t batch) {
	short := min(m, b.short)
	x.repeat(short, 1) // opens connections
	trial := x.repeat(short, 1)
	t.estimate = max(1, units.Nanos(float64(trial.took()[0])*float64(m)/float64(short)))
	reps := min(b.most, max(b.least, int(b.time/t.estimate)))
	if b.longest > 0 && t.estimate > b.longest {
		reps = 0
	}
	s := x.Announce(bench.Start{Reps: reps, Period: t.estimate + t.estimate/4})
	if s.Reps == 0 {
		return t
	}
	x.quiet = s.Period
	if short < m { // opens the windows
		x.repeat(m, 1)
	}
	before := x.CountersOf(x.peers)
	t.times = x.repeat(m, s.Reps)
	after := x.CountersOf(x.peers)
	lost := x.SumAtRoot(after.Retrans - before.Retrans)
	t.tcp = dataset.TCP{Retrans: lost, SndBuf: after.SndBuf, Congestion: after.Congestion}
	return t
}

// repeat performs the operation n times, and makes rank 0's times those of all ranks.
func (x *operation) repeat(m, n int) times {
	t := times{x.R.Buffer(n), x.R.Buffer(n), x.R.Buffer(n)}
	for i := range n {
		t.early[i], t.ended[i] = x.once(m)
		t.late[i] = t.early[i]
		if !x.first {
			t.early[i], t.late[i] = math.MaxInt64, math.MinInt64
		}
	}
	b := x.R.Bytes(3 * 8 * int64(n))
	if !x.Root() {
		bench.PutNumbers(b, slices.Concat(t.early, t.late, t.ended)...)
		x.Send(0, b)
		return t
	}
	of := x.R.Buffer(3 * n)
	x.RecvAll(b, func(int) {
		bench.GetNumbers(b, of)
		for i := range n {
			t.early[i], t.late[i], t.ended[i] = min(t.early[i], of[i]), max(t.late[i], of[n+i]), max(t.ended[i], of[2*n+i])
		}
	})
	return t
}

// once performs the operation once. It ends when every rank has done its part, so that the next does not overlap.
func (x *operation) once(m int) (began, ended int64) {
	at := x.Announce(bench.Start{}).At
	b, e := x.part(at, m)
	if x.Root() {
		x.RecvAll(x.signal[:], func(int) {})
	} else {
		x.WaitUntil(at + x.quiet)
		x.Send(0, x.signal[:])
	}
	return int64(b - at), int64(e - at)
}

// took are the times of the operations at rank 0.
func (t times) took() []int64 {
	out := make([]int64, len(t.ended))
	for i := range out {
		out[i] = t.ended[i] - t.early[i]
	}
	return out
}

// add records a batch at rank 0.
func (x *operation) add(phase string, t batch, aux map[string]float64) {
	if x.Root() {
		x.Add(bench.Batch{Phase: phase, Ranks: x.Ranks(), NS: t.took(), TCP: &t.tcp, Aux: aux})
	}
}

// skews are the auxiliary values that say how far apart the ranks that send first began.
func (t times) skews() map[string]float64 {
	apart := make([]float64, len(t.late))
	for i := range apart {
		apart[i] = float64(t.late[i] - t.early[i])
	}
	return map[string]float64{names.AuxStartSkew: slices.Max(apart), names.AuxStartSkewMedian: stats.Median(apart)}
}
