package bench

import (
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"sort"

	"calib/internal/dataset"
	"calib/internal/stats"
)

// teamPoint is one point on one team.
type teamPoint struct {
	exp    string
	team   []int
	point  Point
	keys   *timings // the first of a list
	next   int32    // the next of Stopper.points with the same hash; 0 is none
	closed bool
}

// find returns a point on a team. Where there is none it makes one, or returns nil.
func (t *Stopper) find(exp string, team []int, p Point, create bool) *teamPoint {
	h := t.hash(exp, team, p)
	first := t.index[h]
	for i := first; i != 0; i = t.points[i].next {
		w := &t.points[i]
		if w.exp == exp && slices.Equal(w.team, team) && maps.Equal(w.point, p) {
			return w
		}
	}
	if !create {
		return nil
	}
	t.points = append(t.points, teamPoint{exp: exp, team: team, point: p, next: first})
	t.index[h] = int32(len(t.points) - 1)
	return &t.points[len(t.points)-1]
}

// hash is equal for equal points on equal teams; factors may come in any order.
func (t *Stopper) hash(exp string, team []int, p Point) uint64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	h.WriteString(exp)
	for _, host := range team {
		maphash.WriteComparable(&h, host)
	}
	sum := h.Sum64()
	for name, v := range p {
		h.Reset()
		h.WriteString(name)
		maphash.WriteComparable(&h, v)
		sum += h.Sum64()
	}
	return sum
}

// find returns the timings of a phase and ranks, or nil.
func (w *teamPoint) find(phase string, ranks []int) *timings {
	for s := w.keys; s != nil; s = s.next {
		if s.phase == phase && slices.Equal(s.ranks, ranks) {
			return s
		}
	}
	return nil
}

// What an interval is made of.
const (
	BasisRounds  = "rounds"  // the medians of the rounds, which are independent
	BasisSamples = "samples" // all timings together, while there are too few rounds: too narrow where rounds differ
)

// timings is what the stopper keeps of one key (experiment, point, phase, ranks): the median of every round and, where a
// point may stop before there are enough of those, the raw timings. A thousand hosts have half a million pairs, so nothing
// else is kept after its slot, and experiment and point are those of its teamPoint.
type timings struct {
	next  *timings // of the same teamPoint
	phase string
	ranks []int

	medians []float64 // of the rounds, ascending
	raw     *raw      // nil where no timing need be kept
	n, out  int32     // timings used, left out
	round   int32     // of the last timing
	free    bool      // does not decide whether its point stays open
	pools   bool      // keeps raw timings while the rounds are too few
	dirty   bool
	pooled  bool // the interval is that of all timings

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

// close ends the slot; a round has only one with this key. After the last round no timing need be kept.
func (s *timings) close(last bool) {
	if s.idle() {
		return
	}
	m := stats.Median(s.raw.current)
	s.medians = slices.Insert(s.medians, sort.SearchFloat64s(s.medians, m), m)
	if s.pools && len(s.medians) < stats.MinValues {
		s.raw = &raw{pooled: slices.Concat(s.raw.pooled, s.raw.current)}
	} else {
		s.raw = nil
	}
	s.dirty = true
	if last {
		s.update()
		s.raw = nil
	}
}

// rounds is how many rounds have given a timing.
func (s *timings) rounds() int { return len(s.medians) }

// update brings median and width up to date. Without raw timings, too few rounds have a median and no interval.
func (s *timings) update() {
	if !s.dirty {
		return
	}
	s.dirty = false
	values := s.medians
	s.pooled = s.rounds() < stats.MinValues && s.pools
	if s.pooled {
		values = slices.Clone(s.raw.pooled)
		slices.Sort(values)
	}
	s.median, s.width = stats.SortedQuantile(values, 0.5), math.Inf(1)
	if iv, ok := stats.SortedMedianCI(values); ok {
		s.width = stats.RelativeWidth(iv, s.median)
	}
}

// basis is what the interval is made of.
func (s *timings) basis() string {
	if s.pooled {
		return BasisSamples
	}
	return BasisRounds
}
