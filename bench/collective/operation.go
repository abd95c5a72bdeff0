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
// has ended. The experiment must be Synchronised.
type operation struct {
	bench.Team
	// part performs this rank's part with m bytes, from a start on its own clock. It returns when the rank began and
	// ended.
	part func(start units.Nanos, m int) (began, ended units.Nanos, err error)
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
func (x *operation) measure(m int, b bounds) (t batch, err error) {
	short := min(m, b.short)
	if _, err := x.repeat(short, 1); err != nil { // opens connections
		return t, err
	}
	trial, err := x.repeat(short, 1)
	if err != nil {
		return t, err
	}
	t.estimate = max(1, units.Nanos(float64(trial.took()[0])*float64(m)/float64(short)))
	reps := min(b.most, max(b.least, int(b.time/t.estimate)))
	if b.longest > 0 && t.estimate > b.longest {
		reps = 0
	}
	s, err := x.Announce(bench.Start{Reps: reps, Period: t.estimate + t.estimate/4})
	if err != nil || s.Reps == 0 {
		return t, err
	}
	x.quiet = s.Period
	if short < m { // opens the windows
		if _, err := x.repeat(m, 1); err != nil {
			return t, err
		}
	}
	before, err := x.counters()
	if err != nil {
		return t, err
	}
	if t.times, err = x.repeat(m, s.Reps); err != nil {
		return t, err
	}
	if t.tcp, err = x.counters(); err != nil {
		return t, err
	}
	lost, err := x.SumAtRoot(t.tcp.Retrans - before.Retrans)
	t.tcp = dataset.TCP{Retrans: lost, SndBuf: t.tcp.SndBuf, Congestion: t.tcp.Congestion}
	return t, err
}

// counters sums those of the connections to this rank's peers.
func (x *operation) counters() (t dataset.TCP, err error) {
	for _, k := range x.peers {
		c, err := x.G.Counters(k)
		if err != nil {
			return t, err
		}
		t = t.Add(c)
	}
	return t, nil
}

// repeat performs the operation n times, and gathers their times.
func (x *operation) repeat(m, n int) (t times, err error) {
	t = times{x.R.Buffer(n), x.R.Buffer(n), x.R.Buffer(n)}
	for i := range n {
		if t.early[i], t.ended[i], err = x.once(m); err != nil {
			return t, err
		}
		t.late[i] = t.early[i]
		if !x.first {
			t.early[i], t.late[i] = math.MaxInt64, math.MinInt64
		}
	}
	return t, x.toLast(t)
}

// once performs the operation once. It ends when every rank has done its part, so that the next does not overlap.
func (x *operation) once(m int) (began, ended int64, err error) {
	s, err := x.Announce(bench.Start{})
	if err != nil {
		return 0, 0, err
	}
	b, e, err := x.part(s.At, m)
	if err != nil {
		return 0, 0, err
	}
	began, ended = int64(b-s.At), int64(e-s.At)
	if x.Root() {
		return began, ended, x.RecvAll(x.signal[:], func(int) {})
	}
	if err := x.G.WaitUntil(s.At + x.quiet); err != nil {
		return 0, 0, err
	}
	return began, ended, x.G.Send(0, x.signal[:])
}

// toLast makes rank 0's times those of all ranks.
func (x *operation) toLast(t times) error {
	n := len(t.ended)
	b := x.R.Bytes(3 * 8 * int64(n))
	if !x.Root() {
		bench.PutNumbers(b, slices.Concat(t.early, t.late, t.ended)...)
		return x.G.Send(0, b)
	}
	of := x.R.Buffer(3 * n)
	return x.RecvAll(b, func(int) {
		bench.GetNumbers(b, of)
		for i := range n {
			t.early[i], t.late[i], t.ended[i] = min(t.early[i], of[i]), max(t.late[i], of[n+i]), max(t.ended[i], of[2*n+i])
		}
	})
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
		x.R.Add(bench.Batch{Phase: phase, Point: x.P, Ranks: x.Ranks(), NS: t.took(), TCP: &t.tcp, Aux: aux})
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
