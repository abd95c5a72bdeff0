package stats

import "math"

// What a long stretch is tested with: so many levels of value, and splits so much apart, as a share of the shorter
// part.
const (
	maxLevels  = 64
	splitsStep = 0.03
)

// rounded finds how good the best split of a long stretch is, about: the values are rounded to levels, and not every
// split is tried. Neither depends on the order of the values: in a permutation test, its answer is as exact as any.
type rounded struct {
	order   []uint8   // level of each value, in the order of the series
	upTo    []float64 // how many values are of a level or below
	gap     []float64 // from a level to the next, 0 for the last
	splits  []int     // sizes of the left part that are tried
	weights weights
}

// newRounded rounds the values of e. A level ends where the sum of the roots of the steps from value to value has grown
// by its share: there are many levels where there are many values, and values far from the others have levels of their
// own.
func newRounded(e *energy) *rounded {
	n := len(e.order)
	l := &rounded{order: make([]uint8, n), splits: splitsOf(n, e.segment)}
	grown := make([]float64, n)
	for r := 1; r < n; r++ {
		grown[r] = grown[r-1] + math.Sqrt(e.value[r]-e.value[r-1])
	}
	level := make([]uint8, n) // by rank
	mean, from, share := 0.0, 0, grown[n-1]/maxLevels
	for r := 1; r <= n; r++ {
		if r < n && math.Floor(grown[r]/share) == math.Floor(grown[from]/share) {
			level[r] = level[from]
			continue
		}
		before := mean
		mean = Mean(e.value[from:r])
		if from > 0 {
			l.gap = append(l.gap, mean-before)
		}
		l.upTo = append(l.upTo, float64(r))
		if from = r; r < n {
			level[r] = uint8(len(l.upTo))
		}
	}
	l.gap = append(l.gap, 0)
	total := 0.0 // Σ of all distances between two
	for k, c := range l.upTo {
		total += l.gap[k] * c * (float64(n) - c)
	}
	l.weights = newWeights(n, total)
	for i, r := range e.order {
		l.order[i] = level[r]
	}
	return l
}

// splitsOf lists sizes of the left part, each side the mirror of the other.
func splitsOf(n, segment int) []int {
	var out []int
	for size := segment; size <= n/2; size += 1 + int(splitsStep*float64(size)) {
		out = append(out, size)
	}
	for i := len(out) - 1; i >= 0; i-- {
		if size := n - out[i]; size > out[len(out)-1] {
			out = append(out, size)
		}
	}
	return out
}

// most returns the statistic of the best split of the values in an order of their levels.
func (l *rounded) most(order []uint8) float64 {
	var left [maxLevels + 1]float64 // how many values of a level there are on the left
	n, from, most := float64(len(order)), 0, 0.0
	for _, size := range l.splits {
		for _, k := range order[from:size] {
			left[k]++
		}
		from = size
		m := float64(size)
		var a, within, rest float64 // a: values on the left of this level or below; b: those on the right
		for k, gap := range l.gap {
			a += left[k]
			b := l.upTo[k] - a
			within += gap * a * (m - a)
			rest += gap * b * (n - m - b)
		}
		most = max(most, l.weights.at(size, within, rest))
	}
	return most
}
