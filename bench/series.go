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
	BasisSamples = "samples" // all timings pooled, while there are too few rounds: too narrow where rounds differ
)

// series is what the stopper keeps of one key: the median of every round and, where a point may stop before there are
// enough of those, the raw timings. A thousand hosts have half a million pairs, so nothing else outlives its slot.
type series struct {
	exp, phase string
	point      Point
	ranks      []int
	free       bool // does not hold its point open
	pools      bool // keeps raw timings while the rounds are too few

	medians []float64 // of the rounds, ascending
	pooled  []float64 // timings of the rounds, while they are fewer than stats.MinValues
	current []float64 // timings of the slot that is being added
	round   int       // of the last timing
	n, out  int       // timings used, left out
	dirty   bool

	basis         string
	median, width float64 // width is +Inf without an interval
}

// add takes a batch of the current slot.
func (s *series) add(b *dataset.Sample, round int) {
	s.round = round
	if b.Has(dataset.FlagRetrans) {
		s.out += len(b.NS)
		return
	}
	for _, ns := range b.NS {
		s.free = s.free || ns < 0
		s.current = append(s.current, float64(ns))
	}
	s.n += len(b.NS)
}

// close ends the slot, which is all that a round has of this key.
func (s *series) close() {
	if len(s.current) == 0 {
		return
	}
	m := stats.Median(s.current)
	s.medians = slices.Insert(s.medians, sort.SearchFloat64s(s.medians, m), m)
	switch {
	case len(s.medians) >= stats.MinValues:
		s.pooled = nil
	case s.pools:
		s.pooled = slices.Concat(s.pooled, s.current)
	}
	s.current, s.dirty = nil, true
}

// rounds is how many rounds have given a timing.
func (s *series) rounds() int { return len(s.medians) }

// update brings median and width up to date. Without raw timings, too few rounds have a median and no interval.
func (s *series) update() {
	if !s.dirty {
		return
	}
	s.dirty = false
	values := s.medians
	s.basis = BasisRounds
	if s.rounds() < stats.MinValues && s.pools {
		s.basis = BasisSamples
		values = slices.Clone(s.pooled)
		slices.Sort(values)
	}
	s.median, s.width = stats.SortedQuantile(values, 0.5), math.Inf(1)
	if iv, ok := stats.SortedMedianCI(values); ok {
		s.width = stats.RelativeWidth(iv, s.median)
	}
}
