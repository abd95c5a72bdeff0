package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// ChangeOptions set the search for change points. The zero value means the defaults.
type ChangeOptions struct {
	Segment      int     // fewest values between two changes; 0 means 5
	Alpha        float64 // chance of splitting a stretch that has no change; 0 means 1%
	Effect       float64 // least shift of the median, relative; 0 means 5%, a negative one takes any
	Permutations int     // 0 means 499, and for stretches of more than 500 values as few as reach Alpha: 99 for 1%
	Newest       int     // only so many of the newest values are searched; 0 means 10,000
	Seed         uint64
}

func (o ChangeOptions) defaults() ChangeOptions {
	o.Segment = max(cmp.Or(o.Segment, 5), 2)
	o.Alpha = cmp.Or(o.Alpha, 0.01)
	o.Effect = cmp.Or(o.Effect, 0.05)
	o.Newest = cmp.Or(o.Newest, 10_000)
	return o
}

// fewValues is how many values a stretch has at most that is tested with every one of them, at every split.
const fewValues = 500

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
// In a stretch of more than 500 values the permutation test compares that largest value at some splits, of the values
// rounded to some levels. A permutation test is exact whatever it compares: Alpha holds as without it.
//
// Values that are not finite are left out. The work is bounded: O(n) a permutation for the newest n = 10,000 values,
// and a test is given up as soon as its p value cannot reach Alpha, which for a stretch without a change is after a few
// permutations. Equal arguments give equal answers.
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

// permutations is how many a test of so many values has. Few of them cost power where few orders are as strong as that
// of a change, which is where values are few.
func (d *divider) permutations(values int) int {
	const usual = 499
	switch {
	case d.Permutations > 0:
		return d.Permutations
	case values > fewValues:
		return int(math.Ceil(1/d.Alpha-1e-9)) - 1
	}
	return usual
}

// test is the permutation test of a stretch that is split where it differs most; the statistic there is seen. A long
// stretch has another statistic, which is as good to tell whether there is a change, and quicker.
func (d *divider) test(e *energy, seen float64) (p float64, real bool) {
	n := len(e.order)
	if n > fewValues {
		l := newRounded(e)
		return permute(d, l.order, d.permutations(n), l.most(l.order), l.most)
	}
	return permute(d, e.order, d.permutations(n), seen, func(order []int) float64 {
		_, most := e.best(order)
		return most
	})
}

// permute returns the p value of the statistic seen of an order among n random orders. It gives up once p is above
// Alpha for certain.
func permute[T any](d *divider, order []T, n int, seen float64, statistic func([]T) float64) (p float64, real bool) {
	shuffled := slices.Clone(order)
	total := float64(n + 1)
	as := 1.0 // permutations that do as well, the observed order among them
	for range n {
		shuffle(d.rng, shuffled)
		if statistic(shuffled) >= seen {
			as++
		}
		if as/total > d.Alpha {
			return 1, false
		}
	}
	return as / total, as/total <= d.Alpha
}

// shuffle is rng.Shuffle without a call for each exchange.
func shuffle[T any](rng *rand.Rand, x []T) {
	for i := len(x) - 1; i > 0; i-- {
		j := rng.Uint64N(uint64(i + 1))
		x[i], x[j] = x[j], x[i]
	}
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
