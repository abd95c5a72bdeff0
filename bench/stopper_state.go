package bench

import (
	"math"
	"slices"
	"sort"

	"calib/internal/dataset"
	"calib/internal/stats"
)

// What an interval is made of.
const (
	BasisRounds  = "rounds"  // the medians of the rounds, which are independent
	BasisSamples = "samples" // all timings together, while there are too few rounds: too narrow where rounds differ
)

// timings is what the stopper keeps of one key (experiment, point, phase, ranks): the median of every round and, where a
// point may stop before there are enough of those, the raw timings. A thousand hosts have half a million pairs, so nothing
// else is kept after its slot.
type timings struct {
	phase string
	ranks []int

	medians []float64 // of the rounds, ascending
	raw     *raw      // nil where no timing need be kept
	n, out  int32     // timings used, left out
	round   int32     // of the last timing
	free    bool      // does not decide whether its point stays open
	pools   bool      // keeps raw timings while the rounds are too few
	pooled  bool      // the interval is that of all timings

	median, width float64 // width is +Inf without an interval
}

// raw holds timings for as long as they are needed.
type raw struct {
	pooled  []float64 // of the rounds, while they are fewer than stats.MinValues
	current []float64 // of the slot that is being added
}

// add takes a batch of the current slot.
func (s *timings) add(b *dataset.Sample, round int) {
	s.round = int32(round)
	if b.Has(dataset.FlagRetrans) {
		s.out += int32(len(b.NS))
		return
	}
	if s.raw == nil && len(b.NS) > 0 {
		s.raw = &raw{}
	}
	for _, ns := range b.NS {
		s.free = s.free || ns < 0
		s.raw.current = append(s.raw.current, float64(ns))
	}
	s.n += int32(len(b.NS))
}

// idle reports whether the current slot has given no timing yet.
func (s *timings) idle() bool { return s.raw == nil || len(s.raw.current) == 0 }

// close ends the slot; a round has only one with this key. It brings median and width up to date. After the last round no
// timing need be kept.
func (s *timings) close(last bool) {
	if s.idle() {
		return
	}
	m := stats.Median(s.raw.current)
	s.medians = slices.Insert(s.medians, sort.SearchFloat64s(s.medians, m), m)
	values := s.medians
	s.pooled = s.pools && s.rounds() < stats.MinValues
	if s.pooled {
		values = slices.Concat(s.raw.pooled, s.raw.current)
		slices.Sort(values)
	}
	s.raw = nil
	if s.pooled && !last {
		s.raw = &raw{pooled: values}
	}
	s.median, s.width = stats.SortedQuantile(values, 0.5), math.Inf(1)
	if iv, ok := stats.SortedMedianCI(values); ok {
		s.width = stats.RelativeWidth(iv, s.median)
	}
}

// rounds is how many rounds have given a timing.
func (s *timings) rounds() int { return len(s.medians) }

// basis is what the interval is made of.
func (s *timings) basis() string {
	if s.pooled {
		return BasisSamples
	}
	return BasisRounds
}
