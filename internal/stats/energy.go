package stats

import (
	"cmp"
	"math"
	"slices"
)

// energy finds the best split of one set of values in any order. Values are known by their rank: a Fenwick tree over
// the ranks holds how many values, and which sum, have moved to the left part.
type energy struct {
	order   []int     // rank of each value, in the order of the series
	value   []float64 // by rank
	toAll   []float64 // Σ of the distances of the value of a rank to all
	total   float64   // Σ of all distances between two
	segment int
	weights weights
	tree    []node // a Fenwick tree
}

// node holds how many values of a range of ranks there are, and their sum.
type node struct{ count, sum float64 }

func newEnergy(x []float64, segment int) *energy {
	n := len(x)
	e := &energy{segment: segment, order: make([]int, n), value: make([]float64, n), toAll: make([]float64, n),
		tree: make([]node, n+1)}
	by := make([]int, n)
	for i := range by {
		by[i] = i
	}
	slices.SortStableFunc(by, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	centre := x[by[n/2]] // distances do not change, and their sums stay exact
	all := 0.0
	for r, i := range by {
		e.order[i], e.value[r] = r, x[i]-centre
		all += e.value[r]
	}
	below := 0.0
	for r, v := range e.value {
		e.toAll[r] = v*float64(r) - below + (all - below - v) - v*float64(n-1-r)
		below += v
		e.total += e.toAll[r] / 2
	}
	e.weights = newWeights(n, e.total)
	return e
}

// weights are what the statistic takes the sums of distances by.
type weights struct {
	all    float64   // its part that no split changes
	within []float64 // by the size of a part: the factor of the distances within it
}

// newWeights are those of n values with a sum of the distances of all pairs.
func newWeights(n int, all float64) weights {
	w := weights{2 * all / float64(n), make([]float64, n)}
	for size := 2; size < n; size++ {
		w.within[size] = 2 * (1 + float64(n-size)/float64(size-1)) / float64(n)
	}
	return w
}

// at is the statistic of a split behind m of m+n values, from the sums of the distances within both parts:
//
//	mn/(m+n) · (2/(mn)·Σ|x−y| − 2/(m(m−1))·Σ|x−x'| − 2/(n(n−1))·Σ|y−y'|), each sum over pairs.
func (w *weights) at(m int, left, right float64) float64 {
	return w.all - w.within[m]*left - w.within[len(w.within)-m]*right
}

// best returns the size of the left part and the statistic of the best split of the values in an order of their ranks.
func (e *energy) best(order []int) (at int, most float64) {
	clear(e.tree)
	var within, rest, leftSum float64 // pairs on the left, on the right; Σ of the left values
	rest = e.total
	n := len(order)
	for t, r := range order[:n-e.segment] {
		v := e.value[r]
		var c, s float64 // left values of lower rank
		for i := r + 1; i > 0; i &= i - 1 {
			c += e.tree[i].count
			s += e.tree[i].sum
		}
		toLeft := v*c - s + (leftSum - s) - v*(float64(t)-c)
		within += toLeft
		rest -= e.toAll[r] - toLeft
		leftSum += v
		for i := r + 1; i <= n; i += i & -i {
			e.tree[i].count++
			e.tree[i].sum += v
		}
		if t+1 < e.segment {
			continue
		}
		if q := e.weights.at(t+1, within, rest); q > most {
			at, most = t+1, q
		}
	}
	return at, most
}

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
