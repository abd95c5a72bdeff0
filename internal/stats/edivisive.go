package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"calib/internal/lists"
)

// ChangeOptions set the search for change points. The zero value means the defaults.
type ChangeOptions struct {
	Segment int     // fewest values between two changes; 0 means 5
	Alpha   float64 // chance of splitting a stretch that has no change; 0 means 1%
	Effect  float64 // least shift of the median, relative; 0 means 5%, a negative one takes any
	Newest  int     // only so many of the newest values are searched; 0 means 10,000
	Seed    uint64
}

func (o ChangeOptions) defaults() ChangeOptions {
	o.Segment = max(cmp.Or(o.Segment, 5), 2)
	o.Alpha = cmp.Or(o.Alpha, 0.01)
	o.Effect = cmp.Or(o.Effect, 0.05)
	o.Newest = cmp.Or(o.Newest, 10_000)
	return o
}

// A test has usual permutations. Few of them cost power where few orders are as strong as that of a change, which is
// where values are few: a stretch of more than fewValues has as few as reach Alpha, 99 for 1%.
const usual, fewValues = 499, 500

// ChangePoint is where a series takes another level.
type ChangePoint struct {
	Index         int     // of the first value of the new level
	P             float64 // of the permutation test that split here
	Before, After float64 // medians up to the neighbouring changes
	// Effect is (After − Before)/|Before|; over |After| where Before is 0.
	Effect float64
}

// EDivisive returns the change points of a series, oldest first. It divides hierarchically: a stretch is split where
// the energy distance (with exponent 1) between its two parts, times mn/(m+n), is largest, if a permutation test of
// that largest value rejects that the stretch is exchangeable; then its parts likewise. Of what it finds, the change
// with the smallest shift of the median is dropped until none is below the least effect: so small a change matters to
// nobody, and most false alarms in correlated noise are that small.
//
// Values that are not finite are left out. The work is bounded: O(n·log n) a permutation for the newest n = 10,000
// values, and a test is given up as soon as its p value cannot reach Alpha, which for a stretch without a change is
// after a few permutations. Equal arguments give equal answers.
//
// Source: Matteson and James, A nonparametric approach for multiple change point analysis of multivariate data, J. Am.
// Stat. Assoc. 109, 2014. The right part always ends with the stretch, as in Daly et al., The use of change point
// detection to identify software performance regressions in a continuous integration system, ICPE 2020; the paper also
// tries shorter ones.
func EDivisive(x []float64, o ChangeOptions) []ChangePoint {
	o = o.defaults()
	var at []int // where each value was
	var v []float64
	for i, f := range x {
		if !math.IsNaN(f) && !math.IsInf(f, 0) {
			at, v = append(at, i), append(v, f)
		}
	}
	skip := max(len(v)-o.Newest, 0)
	at, v = at[skip:], v[skip:]
	d := divider{ChangeOptions: o, rng: rand.New(rand.NewPCG(o.Seed, 0x65646976)), x: v}
	d.split(0, len(v))
	slices.SortFunc(d.found, func(a, b ChangePoint) int { return a.Index - b.Index })
	out := d.dropSmall()
	for i := range out {
		out[i].Index = at[out[i].Index]
	}
	return out
}

type divider struct {
	ChangeOptions
	rng   *rand.Rand
	x     []float64
	found []ChangePoint
}

// split finds the changes within x[from:to]. It ends: each part is shorter.
func (d *divider) split(from, to int) {
	if to-from < 2*d.Segment {
		return
	}
	e := newEnergy(d.x[from:to], d.Segment)
	at, seen := e.best(e.order)
	if seen <= 0 {
		return
	}
	p, real := d.test(e, seen)
	if !real {
		return
	}
	d.found = append(d.found, ChangePoint{Index: from + at, P: p})
	d.split(from, from+at)
	d.split(from+at, to)
}

// test is the permutation test of a stretch that is split where it differs most; the statistic there is seen. It gives
// up once p is above Alpha for certain.
func (d *divider) test(e *energy, seen float64) (p float64, real bool) {
	n, shuffled := usual, slices.Clone(e.order)
	if len(shuffled) > fewValues {
		n = int(math.Ceil(1/d.Alpha-1e-9)) - 1
	}
	total := float64(n + 1)
	as := 1.0 // permutations that do as well, the observed order among them
	for range n {
		for i := len(shuffled) - 1; i > 0; i-- { // rng.Shuffle without a call for each exchange
			j := d.rng.Uint64N(uint64(i + 1))
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		}
		if _, most := e.best(shuffled); most >= seen {
			as++
		}
		if as/total > d.Alpha {
			return 1, false
		}
	}
	return as / total, as/total <= d.Alpha
}

// dropSmall drops the changes of too small an effect, the smallest first, and fills in the levels of the others.
func (d *divider) dropSmall() []ChangePoint {
	out := d.found
	for {
		least := -1
		for i := range out {
			from, to := 0, len(d.x)
			if i > 0 {
				from = out[i-1].Index
			}
			if i+1 < len(out) {
				to = out[i+1].Index
			}
			c := &out[i]
			c.Before, c.After = Median(d.x[from:c.Index]), Median(d.x[c.Index:to])
			c.Effect = shift(c.Before, c.After)
			if least < 0 || math.Abs(c.Effect) < math.Abs(out[least].Effect) {
				least = i
			}
		}
		if least < 0 || math.Abs(out[least].Effect) >= d.Effect {
			return out
		}
		out = slices.Delete(out, least, least+1)
	}
}

func shift(before, after float64) float64 {
	if before == after {
		return 0
	}
	return (after - before) / cmp.Or(math.Abs(before), math.Abs(after))
}

// energy finds the best split of one set of values in any order. Values are known by their rank: a Fenwick tree over
// the ranks holds how many values, and which sum, have moved to the left part.
type energy struct {
	order   []int     // rank of each value, in the order of the series
	value   []float64 // by rank
	toAll   []float64 // Σ of the distances of the value of a rank to all
	total   float64   // Σ of all distances between two
	segment int
	within  []float64 // by the size of a part: the factor of the distances within it in the statistic
	tree    []node    // a Fenwick tree
}

// node holds how many values of a range of ranks there are, and their sum.
type node struct{ count, sum float64 }

func newEnergy(x []float64, segment int) *energy {
	n := len(x)
	e := &energy{segment: segment, order: make([]int, n), value: make([]float64, n), toAll: make([]float64, n),
		within: make([]float64, n), tree: make([]node, n+1)}
	by := lists.Upto(n)
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
	for size := 2; size < n; size++ {
		e.within[size] = 2 * (1 + float64(n-size)/float64(size-1)) / float64(n)
	}
	return e
}

// at is the statistic of a split behind m of m+n values, from the sums of the distances within both parts:
//
//	mn/(m+n) · (2/(mn)·Σ|x−y| − 2/(m(m−1))·Σ|x−x'| − 2/(n(n−1))·Σ|y−y'|), each sum over pairs.
func (e *energy) at(m int, left, right float64) float64 {
	return 2*e.total/float64(len(e.order)) - e.within[m]*left - e.within[len(e.order)-m]*right
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
		if q := e.at(t+1, within, rest); q > most {
			at, most = t+1, q
		}
	}
	return at, most
}
