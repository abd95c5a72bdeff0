package remap

import (
	"math"
	"slices"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

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
		at := within(s.at, lo, hi)
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
	aux := map[string]float64{names.AuxMessages: float64(len(s.to)), names.AuxSpan: float64(s.ended - s.began), names.AuxClock: e.TimerCost()}
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

// within are the times from lo to hi, of some in order.
func within(at []int64, lo, hi int64) []int64 {
	from, _ := slices.BinarySearch(at, lo)
	to, _ := slices.BinarySearch(at, hi+1)
	return at[from:max(from, to)]
}

// addAlone records the interval of rank 0's injections as its messages came, at whichever ranks: nothing but the
// transport holds them up, which has taken them long before.
func (e *engine) addAlone(s seen, tcp dataset.TCP) {
	rank, clocks := e.Rank(), e.R.Clocks
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	if n := len(s.log.at); n > 0 {
		first, last = int64(clocks.ToCommon(rank, units.Nanos(s.first))), int64(clocks.ToCommon(rank, units.Nanos(s.log.at[n-1])))
	}
	begins, ends := e.Min(first), e.Max(last)
	if len(s.to) > 0 {
		b := e.batch(s, tcp)
		b.NS = []int64{(ends - begins) / int64(len(s.to)-1)}
		e.AddLossy(b, lossShare)
	}
}
