package drift

import (
	"math"
	"slices"
	"sort"
	"time"

	"calib/internal/stats"
)

// sample is what is usual of a subject.
type sample struct {
	centre float64      // their median
	sorted []float64    // values less it
	least  float64      // by how much a value counts as less than it is
	wander *[24]float64 // likewise by the hour, of the network; nil of others
	tough  float64      // factor of the limit, above 1 where values in a row are alike
}

const (
	// lossMargin is the share of segments sent again that does not matter.
	lossMargin = 2e-4
	// scatters is the share of the usual scatter by which what is usual may itself wander.
	scatters = 0.2
	// days is by how many of its scatters an hour may be slower on one day than on others: a day is one observation, of
	// which a fortnight has few.
	days = 3
)

// newSample is of values in the order of time.
func newSample(values []float64, margin float64) *sample {
	s := &sample{sorted: slices.Sorted(slices.Values(values)), tough: 1}
	s.centre = stats.SortedQuantile(s.sorted, 0.5)
	for i := range s.sorted {
		s.sorted[i] -= s.centre
	}
	s.least = max(margin, scatters*stats.MAD(s.sorted))
	var t tracker
	most := t.mean()
	for _, v := range values {
		t.add(s.p(v-s.centre), time.Time{})
		most = max(most, t.mean())
	}
	s.tough = max(1, math.Log(most)/math.Log(3*float64(len(values))))
	return s
}

// offset is by how much a value at a time counts as less than it is.
func (s *sample) offset(at time.Time) float64 {
	if s.wander == nil {
		return s.least
	}
	return max(s.least, s.wander[at.UTC().Hour()])
}

// p is the share of usual values that are x or more. Half of those that are equal count.
func (s *sample) p(x float64) float64 {
	from, _ := slices.BinarySearch(s.sorted, x)
	to, n := s.upTo(x), len(s.sorted)
	return (float64(n-to) + float64(to-from)/2 + 1) / float64(n+1)
}

// below is p of the other side: the share of usual values that are x or less.
func (s *sample) below(x float64) float64 { return float64(s.upTo(x)+1) / float64(len(s.sorted)+1) }

// upTo counts the usual values that are x or less.
func (s *sample) upTo(x float64) int {
	return sort.Search(len(s.sorted), func(i int) bool { return s.sorted[i] > x })
}

// powers are those of p-values: the small ones see large changes, the large ones small changes.
var powers = [...]float64{0.8, 0.5, 0.2}

var logs = [...]float64{math.Log(powers[0]), math.Log(powers[1]), math.Log(powers[2])}

// tracker follows the evidence that values have become larger, whenever they did.
type tracker struct {
	sum  [len(powers)]float64 // Shiryaev, Roberts
	log  [len(powers)]float64 // of the products since from, where they are largest
	from [len(powers)]time.Time
}

func (t *tracker) add(p float64, at time.Time) {
	log := math.Log(p)
	for i, k := range powers {
		t.step(i, logs[i]+(k-1)*log, at)
	}
}

// addLog adds an e-value, as its logarithm.
func (t *tracker) addLog(e float64, at time.Time) {
	for i := range powers {
		t.step(i, e, at)
	}
}

func (t *tracker) step(i int, e float64, at time.Time) {
	t.sum[i] = min((1+t.sum[i])*math.Exp(e), 1e300)
	if t.log[i] <= 0 {
		t.log[i], t.from[i] = 0, at
	}
	t.log[i] += e
}

// evidence is the logarithm of the mean over powers.
func (t *tracker) evidence() float64 { return math.Log(t.mean()) }

func (t *tracker) mean() float64 { return stats.Mean(t.sum[:]) }

// since is when the change is likely to have begun.
func (t *tracker) since() time.Time {
	best := 0
	for i := range powers {
		if t.log[i] > t.log[best] {
			best = i
		}
	}
	return t.from[best]
}
