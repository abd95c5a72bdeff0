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

// series is what the stopper keeps of one key: the median of every round and, until there are enough of those, the raw
// timings. Every timing is sorted a bounded number of times.
type series struct {
	exp, phase string
	point      Point
	ranks      []int
	free       bool // does not hold its point open

	medians []float64 // of the rounds before the current one, ascending
	pooled  []float64 // timings of those rounds, while they are fewer than stats.MinValues
	current []float64 // timings of the current round
	round   int       // the current round
	n, out  int       // timings used, left out
	dirty   bool

	basis         string
	median, width float64 // width is +Inf without an interval
}

// add takes a batch. Batches come in the order of their rounds.
func (s *series) add(b *dataset.Sample, round int) {
	if round != s.round {
		s.close()
		s.round = round
	}
	if b.Has(dataset.FlagRetrans) {
		s.out += len(b.NS)
		return
	}
	for _, ns := range b.NS {
		s.free = s.free || ns < 0
		s.current = append(s.current, float64(ns))
	}
	s.n += len(b.NS)
	s.dirty = true
}

// close ends the current round.
func (s *series) close() {
	if len(s.current) == 0 {
		return
	}
	m := stats.Median(s.current)
	s.medians = slices.Insert(s.medians, sort.SearchFloat64s(s.medians, m), m)
	if len(s.medians) < stats.MinValues {
		s.pooled = append(s.pooled, s.current...)
	} else {
		s.pooled = nil
	}
	s.current = s.current[:0]
}

// rounds is how many rounds have given a timing.
func (s *series) rounds() int {
	if len(s.current) > 0 {
		return len(s.medians) + 1
	}
	return len(s.medians)
}

// update brings median and width up to date, the current round included.
func (s *series) update() {
	if !s.dirty || s.n == 0 {
		return
	}
	s.dirty = false
	var values []float64
	if s.rounds() >= stats.MinValues {
		s.basis = BasisRounds
		values = slices.Clone(s.medians)
		if len(s.current) > 0 {
			values = append(values, stats.Median(s.current))
		}
	} else {
		s.basis = BasisSamples
		values = slices.Concat(s.pooled, s.current)
	}
	slices.Sort(values)
	s.median, s.width = stats.SortedQuantile(values, 0.5), math.Inf(1)
	if iv, ok := stats.SortedMedianCI(values); ok {
		s.width = stats.RelativeWidth(iv, s.median)
	}
}
