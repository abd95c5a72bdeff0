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
	base := math.Abs(before)
	if base == 0 {
		base = math.Abs(after)
	}
	if base == 0 {
		return 0
	}
	return (after - before) / base
}
