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
func (x remap) once(n int) (s seen, err error) {
	e := x.engine
	e.job = e.newJob(x.P, x.R, n)
	start, err := x.Announce(bench.Start{})
	if err != nil {
		return s, err
	}
	if err := x.G.WaitUntil(start.At); err != nil {
		return s, err
	}
	if err := e.run(); err != nil {
		return s, err
	}
	s = seen{job: e.job, began: start.At, ended: x.G.Now()}
	return s, x.end()
}

// end holds every rank until all have done their parts: until then none may send anything but messages of the remap.
func (x remap) end() error {
	e, b := x.engine, []byte{finished}
	if !x.Root() {
		if err := x.G.Send(0, b); err != nil {
			return err
		}
		return x.G.Recv(0, b)
	}
	for e.job.others > 0 {
		if err := e.receive(); err != nil {
			return err
		}
	}
	return x.SendAll(b)
}

// add records what this rank saw.
func (x remap) add(s seen, before dataset.TCP) error {
	after, err := x.counters()
	if err != nil {
		return err
	}
	tcp := after.Sub(before)
	if x.P[names.FactorInjecting] == 1 && x.P[names.FactorSync] == 0 {
		return x.addAlone(s, tcp)
	}
	lo, hi, err := x.window(s)
	if err != nil || len(s.to) == 0 {
		return err
	}
	b := x.batch(s, tcp)
	if x.P[names.FactorSync] != 0 {
		at := within(s.at, lo, hi)
		ns, averaged := bench.Intervals(at)
		b.NS, b.Aux[names.AuxAveraged] = ns, float64(averaged)
		if len(at) < minSeen {
			b.NS, b.Flags = []int64{int64(s.ended-s.began) / int64(len(s.to))}, []string{dataset.FlagUnsteady}
		}
		x.R.Add(b)
		return nil
	}
	bytes := s.log.between(lo, hi)
	all, err := x.Sum(bytes)
	if err != nil {
		return err
	}
	messages := float64(bytes) / float64(x.size)
	b.NS = []int64{int64(float64(hi-lo) / max(messages, minShare))}
	b.Aux[names.AuxAveraged] = messages
	if all < int64(minSeen*x.size*x.G.Size()) {
		b.Flags = []string{dataset.FlagUnsteady}
	}
	x.R.Add(b)
	return nil
}

// batch is a line of this rank without its times.
func (x remap) batch(s seen, tcp dataset.TCP) bench.Batch {
	aux := map[string]float64{names.AuxMessages: float64(len(s.to)), names.AuxSpan: float64(s.ended - s.began), names.AuxClock: bench.TimerCost(x.G)}
	loss := 0.
	if x.P[names.FactorSync] == 0 {
		aux[names.AuxAhead], loss = float64(s.ahead), lossShare
	}
	return bench.Batch{Loss: loss, Phase: names.PhaseRemap, Point: x.P, Ranks: []int{x.G.Rank()}, TCP: &tcp, Aux: aux}
}

// window is the part of the remap, on this rank's clock, in which all were at it: not the first part, and not what
// comes after the last injection of the rank that ends first.
func (x remap) window(s seen) (lo, hi int64, err error) {
	rank, clocks := x.G.Rank(), x.R.Clocks
	last := int64(math.MinInt64) // negative, so that the largest is the earliest
	if n := len(s.to); n > 0 {
		last = -int64(clocks.ToCommon(rank, units.Nanos(s.at[n-1])))
	}
	first, err := x.Max(last)
	if err != nil {
		return 0, 0, err
	}
	hi = int64(clocks.ToLocal(rank, units.Nanos(-first)))
	return int64(s.began) + int64(bench.RampShare*float64(hi-int64(s.began))), hi, nil
}

// within are the times from lo to hi, of some in order.
func within(at []int64, lo, hi int64) []int64 {
	from, _ := slices.BinarySearch(at, lo)
	to, _ := slices.BinarySearch(at, hi+1)
	return at[from:max(from, to)]
}

// addAlone records the interval of rank 0's injections as its messages came, at whichever ranks: nothing but the
// transport holds them up, which has taken them long before.
func (x remap) addAlone(s seen, tcp dataset.TCP) error {
	rank, clocks := x.G.Rank(), x.R.Clocks
	first, last := int64(math.MinInt64), int64(math.MinInt64)
	if n := len(s.log.at); n > 0 {
		first, last = -int64(clocks.ToCommon(rank, units.Nanos(s.first))), int64(clocks.ToCommon(rank, units.Nanos(s.log.at[n-1])))
	}
	begins, err := x.Max(first)
	if err != nil {
		return err
	}
	ends, err := x.Max(last)
	if err != nil || len(s.to) == 0 {
		return err
	}
	b := x.batch(s, tcp)
	b.NS = []int64{(ends + begins) / int64(len(s.to)-1)}
	x.R.Add(b)
	return nil
}
