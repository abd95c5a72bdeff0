package stats

import (
	"cmp"
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
