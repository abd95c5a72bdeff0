// Package remap measures all-to-all remaps: every rank repeatedly sends a message to another rank, and they share what
// lies between.
package remap

import (
	"math"
	"math/rand/v2"
	"slices"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/units"
)

// Remap is the all-to-all remap of LoGPC (Moritz and Frank 2001, section 5.1): each rank repeatedly sends a message to
// another one, with a reply (sync 1) or without. Of the intervals between injections, while all inject or rank 0 alone
// does, the fit makes C_n and C_r.
var Remap = &bench.Experiment{
	// All ranks begin together, and an injection counts if all are still at it. One that wakes up must not take the CPU
	// from one that serves.
	Name: names.Remap, Clocks: true, Stamps: true,
	Points: points,
	Ranges: bench.Ranges{
		names.FactorSync: bench.Flag, names.FactorHosts: bench.TeamSize, names.FactorInjecting: bench.TeamSize,
		names.FactorDestinations: {Least: 0, Most: names.DestinationsNext},
		names.FactorSpan:         {Least: 0, Most: bench.MaxHosts}, names.FactorBytes: bench.Sizes,
	},
	Size: func(p bench.Point) int { return int(p[names.FactorHosts]) },
	// A batch is bounded by its time: this is what it holds if an injection takes the time guessed.
	Cost: func(l bench.Limits, p bench.Point) bench.Cost {
		path, long := l.OnPath(), l.Effort.Time(batchTime, minTime)
		n := min(int(long/guessed), l.Effort.Reps(maxInjections, windows*mostAhead)) + 2*trialInjections
		one := units.Nanos(1+p[names.FactorSync]) * path.Message(p[names.FactorBytes], int(p[names.FactorInjecting])/2)
		batch := min(bench.Repeated(one, long, minInjections, n), maxTime)
		return bench.Cost{
			Bytes: units.Bytes(int64(n)*(1+p[names.FactorSync])*p[names.FactorBytes]) + controlBytes,
			Time:  4*path.Start(int(p[names.FactorHosts])) + 2*trialInjections*one + batch,
		}
	},
	Run: func(x bench.Team) {
		e := newEngine(x)
		bench.During("first remap", func() { e.once(trialInjections) })
		var trial seen
		bench.During("trial", func() { trial = e.once(trialInjections) })
		slowest := x.Max(int64(trial.ended-trial.began) / trialInjections)
		least := minInjections
		if x.P[names.FactorSync] == 0 {
			least = max(least, windows*aheadOf(e.size))
		}
		each := units.Nanos(max(slowest, 1))
		if each*units.Nanos(least) > maxTime {
			x.Skip(units.Nanos(slowest * int64(least)))
			return
		}
		n := max(least, min(x.R.Reps(maxInjections, minInjections), int(x.R.Time(batchTime, minTime)/each)))
		before := x.CountersOf(e.others)
		s := e.once(n)
		after := x.CountersOf(e.others)
		e.add(s, after.Sub(before))
	},
}

const (
	// A batch is as many injections of each rank as take batchTime at effort 1, within these bounds.
	maxInjections = 2048
	minInjections = 12
	batchTime     = 250 * units.Millisecond
	minTime       = 60 * units.Millisecond
	// maxTime is the longest batch. One of which the least injections would take longer is skipped.
	maxTime = 6 * units.Second
	// trialInjections tell how long a batch takes. Before them come as many that open connections and windows.
	trialInjections = 4
)

// guessed is how long an injection takes at least.
const guessed = 20 * units.Microsecond

// controlBytes is what a batch exchanges on one connection beside its messages: announcements, agreements, counters.
const controlBytes = 512

// points are on all hosts every kind of destinations, rank 0 alone, and, unless the design is thin, drawn destinations
// on half of the hosts; each synchronous and asynchronous, for every size.
func points(l bench.Limits) []bench.Point {
	sizes := l.SizesOr([]units.Bytes{1, 16 * units.KiB})
	var kinds []bench.Point
	add := func(hosts, injecting, destinations, span int64) {
		kinds = append(kinds, bench.Point{names.FactorHosts: hosts, names.FactorInjecting: injecting,
			names.FactorDestinations: destinations, names.FactorSpan: span})
	}
	all := int64(l.Hosts)
	add(all, 1, names.DestinationsDrawn, 0)
	for _, s := range spans(l) {
		add(all, all, names.DestinationsDrawn, s)
		add(all, all, names.DestinationsRound, s)
	}
	add(all, all, names.DestinationsNext, 0)
	if half := (all + 1) / 2; half > 2 && !l.Effort.Thin() {
		add(half, half, names.DestinationsDrawn, 0)
		add(half, half, names.DestinationsNext, 0)
	}
	return bench.Cross(bench.Values(names.FactorSync, 1, 0), kinds, bench.Values(names.FactorBytes, sizes...))
}

// spans lists the localities: none, neighbours only, and a quarter of the way round.
func spans(l bench.Limits) []int64 {
	out := []int64{0}
	if l.Hosts > 3 {
		out = append(out, 1)
	}
	if quarter := int64(l.Hosts / 4); quarter > 1 && !l.Effort.Thin() {
		out = append(out, quarter)
	}
	return out
}

// windows is how many windows of asynchronous injections a batch has at least: the first fills the network.
const windows = 4

// destinationSeed is that of the generator of drawn destinations; a stream is one rank in one round.
const destinationSeed = 0x72656d6170

// destinations fills out with whom a rank sends its messages to; it returns none where the rank sends none. All ranks
// know those of all, so that each knows what it will receive.
func destinations(p bench.Point, round, rank int, out []int) []int {
	size := int(p[names.FactorHosts])
	if int64(rank) >= p[names.FactorInjecting] {
		return nil
	}
	near := offsets(size, int(p[names.FactorSpan]))
	if p[names.FactorDestinations] == names.DestinationsNext {
		near = near[:1]
	}
	rng := rand.New(rand.NewPCG(destinationSeed, uint64(round)<<32|uint64(rank)))
	for i := range out {
		by := near[i%len(near)]
		if p[names.FactorDestinations] == names.DestinationsDrawn {
			by = near[rng.IntN(len(near))]
		}
		out[i] = (rank + by) % size
	}
	return out
}

// offsets lists how far round the ring of ranks a message may go, upwards. A span of 0 is all ranks in order; with one
// the nearest come first, up and down in turn.
func offsets(size, span int) []int {
	if span == 0 {
		return lists.Upto(size)[1:]
	}
	var out []int
	for by := 1; by <= span && 2*by <= size; by++ {
		out = append(out, by)
		if 2*by < size {
			out = append(out, size-by)
		}
	}
	return out
}

const (
	// minSeen is how many injections of a rank, or messages that came to one on average, count at least.
	minSeen = 4
	// lossShare is the share of the segments of asynchronous messages that may be sent again: it costs as much. A
	// message that waits for a reply would wait for a time-out.
	lossShare = 0.02
	// minShare stands for the messages that came to a rank where there are fewer: an interval is finite.
	minShare = 1. / 8
)

// seen is what a rank saw of a remap, on its own clock.
type seen struct {
	job
	began, ended units.Nanos // the common start, and when the rank had done its part
}

// once makes one remap of n injections of each rank. It ends when all ranks have done their parts.
func (e *engine) once(n int) (s seen) {
	e.job = e.newJob(n)
	s.began = e.Announce(bench.Start{}).At
	e.WaitUntil(s.began)
	e.run()
	s.job, s.ended = e.job, e.Now()
	e.end()
	return s
}

// end holds every rank until all have done their parts: until then none may send anything but messages of the remap.
func (e *engine) end() {
	b := []byte{finished}
	if !e.Root() {
		e.Send(0, b)
		e.Recv(0, b)
		return
	}
	for e.job.others > 0 {
		e.receive()
	}
	e.SendAll(b)
}

// add records what this rank saw.
func (e *engine) add(s seen, tcp dataset.TCP) {
	if e.P[names.FactorInjecting] == 1 && e.P[names.FactorSync] == 0 {
		e.addAlone(s, tcp)
		return
	}
	lo, hi := e.window(s)
	if len(s.to) == 0 {
		return
	}
	b := e.batch(s, tcp)
	if e.P[names.FactorSync] != 0 {
		from, _ := slices.BinarySearch(s.at, lo)
		to, _ := slices.BinarySearch(s.at, hi+1)
		at := s.at[from:max(from, to)]
		ns, averaged := bench.Intervals(at)
		b.NS, b.Aux[names.AuxAveraged] = ns, float64(averaged)
		if len(at) < minSeen {
			b.NS, b.Flags = []int64{int64(s.ended-s.began) / int64(len(s.to))}, []string{dataset.FlagUnsteady}
		}
		e.Add(b)
		return
	}
	bytes := s.log.between(lo, hi)
	all := e.Sum(bytes)
	messages := float64(bytes) / float64(e.size)
	b.NS = []int64{int64(float64(hi-lo) / max(messages, minShare))}
	b.Aux[names.AuxAveraged] = messages
	if all < int64(minSeen*e.size*e.Size()) {
		b.Flags = []string{dataset.FlagUnsteady}
	}
	e.AddLossy(b, lossShare)
}

// batch is a line of this rank without its times.
func (e *engine) batch(s seen, tcp dataset.TCP) bench.Batch {
	aux := map[string]float64{names.AuxMessages: float64(len(s.to)), names.AuxSpan: float64(s.ended - s.began),
		names.AuxClock: e.TimerCost()}
	if e.P[names.FactorSync] == 0 {
		aux[names.AuxAhead] = float64(s.ahead)
	}
	return bench.Batch{Phase: names.PhaseRemap, Ranks: []int{e.Rank()}, TCP: &tcp, Aux: aux}
}

// window is the part of the remap, on this rank's clock, in which all were at it: not the first part, and not what
// comes after the last injection of the rank that ends first.
func (e *engine) window(s seen) (lo, hi int64) {
	rank, clocks := e.Rank(), e.R.Clocks
	last := int64(math.MaxInt64)
	if n := len(s.to); n > 0 {
		last = int64(clocks.ToCommon(rank, units.Nanos(s.at[n-1])))
	}
	hi = int64(clocks.ToLocal(rank, units.Nanos(e.Min(last))))
	return int64(s.began) + int64(bench.RampShare*float64(hi-int64(s.began))), hi
}

// addAlone records the interval of rank 0's injections as its messages came, at whichever ranks: nothing but the
// transport holds them up, which has taken them long before.
func (e *engine) addAlone(s seen, tcp dataset.TCP) {
	rank, clocks := e.Rank(), e.R.Clocks
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	if n := len(s.log.at); n > 0 {
		first = int64(clocks.ToCommon(rank, units.Nanos(s.first)))
		last = int64(clocks.ToCommon(rank, units.Nanos(s.log.at[n-1])))
	}
	begins, ends := e.Min(first), e.Max(last)
	if len(s.to) > 0 {
		b := e.batch(s, tcp)
		b.NS = []int64{(ends - begins) / int64(len(s.to)-1)}
		e.AddLossy(b, lossShare)
	}
}
