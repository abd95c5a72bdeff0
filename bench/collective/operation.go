// Package collective measures collective operations, to compare predictions and exported platforms with. No model is
// fitted on them.
package collective

import (
	"math"
	"slices"

	"calib/bench"
	"calib/bench/pattern"
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
	// Of the repetitions: what rank 0 counted, with what all ranks lost, and how long one was expected to take.
	tcp      dataset.TCP
	estimate units.Nanos
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

// times are those of repetitions, from the announced start [ns]: when the rank began, twice, and when it ended. At rank
// 0 they are, once all are in, when the first and the last of those that send first began, and when the last rank
// ended.
type times struct{ early, late, ended []int64 }

// measure makes the repetitions of a point with m bytes. Rank 0 gets their times; none, if one would take too long.
func (x *operation) measure(m int, b bounds) (t times) {
	short := min(m, b.short)
	x.repeat(short, 1) // opens connections
	trial := x.repeat(short, 1)
	x.estimate = max(1, units.Nanos(float64(trial.took()[0])*float64(m)/float64(short)))
	reps := min(b.most, max(b.least, int(b.time/x.estimate)))
	if b.longest > 0 && x.estimate > b.longest {
		reps = 0
	}
	s := x.Announce(bench.Start{Reps: reps, Period: x.estimate + x.estimate/4})
	if s.Reps == 0 {
		return t
	}
	x.quiet = s.Period
	if short < m { // opens the windows
		x.repeat(m, 1)
	}
	before := x.CountersOf(x.peers)
	t = x.repeat(m, s.Reps)
	after := x.CountersOf(x.peers)
	lost := x.SumAtRoot(after.Retrans - before.Retrans)
	x.tcp = dataset.TCP{Retrans: lost, SndBuf: after.SndBuf, Congestion: after.Congestion}
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
func (t times) took() []int64 { return minus(t.ended, t.early) }

func minus(a, b []int64) []int64 {
	out := make([]int64, len(a))
	for i := range out {
		out[i] = a[i] - b[i]
	}
	return out
}

// add records a batch at rank 0.
func (x *operation) add(phase string, t times, aux map[string]float64) {
	if x.Root() {
		x.Add(bench.Batch{Phase: phase, Ranks: x.Ranks(), NS: t.took(), TCP: &x.tcp, Aux: aux})
	}
}

// skews are the auxiliary values that say how far apart the ranks that send first began.
func (t times) skews() map[string]float64 {
	apart := stats.Floats(minus(t.late, t.early))
	return map[string]float64{names.AuxStartSkew: slices.Max(apart), names.AuxStartSkewMedian: stats.Median(apart)}
}

// Bcast is a broadcast of one message from host 0 to all others over a binomial tree. A host that has the whole message
// sends it on, to the largest subtree first. A time is that from the first byte at host 0 to the last host's last byte.
var Bcast = &bench.Experiment{
	Name: names.Bcast, Clocks: true, Stamps: true, // the start and the last arrival are on two clocks
	Points: func(l bench.Limits) []bench.Point {
		sizes := l.SizesUpTo(bcastMost, bench.Thinned(l, bcastSizes, bcastSizesQuick))
		return bench.Cross(bench.Values(names.FactorHosts, l.Hosts), bench.Values(names.FactorBytes, sizes...))
	},
	Ranges: bench.Ranges{names.FactorHosts: bench.TeamSize, names.FactorBytes: bench.Sizes},
	Size:   hostsOf,
	Cost: func(l bench.Limits, p bench.Point) bench.Cost {
		hosts, size := hostsOf(p), p[names.FactorBytes]
		path, most, children := l.OnPath(), maxBcasts(l.Effort, size), len(pattern.BinomialChildren(0, hosts))
		return bench.Cost{
			Bytes: units.Bytes(int64((untimed+most)*children) * size),
			Time: repeatedTime(path, hosts, units.Nanos(children)*path.Message(size, 1), l.Effort.Time(bcastTime, 0),
				bcastLeast, most),
		}
	},
	Run: func(x bench.Team) { // the root alone begins by its clock
		msg := x.R.Payload(x.P[names.FactorBytes])
		parent, children := pattern.BinomialParent(x.Rank()), pattern.BinomialChildren(x.Rank(), x.Size())
		o := operation{Team: x, peers: children, first: x.Root()}
		o.part = func(start units.Nanos, m int) (began, ended units.Nanos) {
			began = start
			if x.Root() {
				x.WaitUntil(start)
				began = x.Now()
				ended = began
			} else {
				ended = x.RecvAt(parent, msg[:m])
			}
			for _, k := range children {
				x.Send(k, msg[:m])
			}
			return began, ended
		}
		o.add(names.PhaseBinomial, o.measure(len(msg), bounds{
			short: int(bcastShort), most: maxBcasts(x.R.Effort, int64(len(msg))), least: bcastLeast,
			time: x.R.Time(bcastTime, 0)}), nil)
	},
}

const (
	bcastReps  = 20
	bcastLeast = 3
	bcastTime  = 600 * units.Millisecond // length of a batch at effort 1
	bcastBytes = 16 * units.MiB          // of a batch at effort 1, over the root's link
	bcastShort = 64 * units.KiB          // of the first broadcast, which tells how long one takes
	bcastMost  = 4 * units.MiB
)

var (
	bcastSizes = []units.Bytes{1, 64, units.KiB, 4 * units.KiB, 16 * units.KiB, 64 * units.KiB, 256 * units.KiB, units.MiB,
		4 * units.MiB}
	bcastSizesQuick = []units.Bytes{1, 4 * units.KiB, 64 * units.KiB}
)

func maxBcasts(e bench.Effort, size int64) int {
	return max(bcastLeast, min(e.Reps(bcastReps, bcastLeast), int(e.Bytes(bcastBytes, 0))/int(size)))
}

func hostsOf(p bench.Point) int { return int(p[names.FactorHosts]) }
