package resample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The interval of a quantile holds it in at least 95% of samples, and there is none of too few values.
func TestSortedQuantileCI(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		p    float64
		n    int
		want bool
	}{{0.99, 367, false}, {0.99, 368, true}, {0.99, 2000, true}, {0.999, 3687, false}, {0.999, 3688, true}, {0.5, 6, true},
		{0.5, 5, false}} {
		const runs = 1000
		hits, have := 0, 0
		for range runs {
			s := make([]float64, c.n)
			for i := range s {
				s[i] = rng.ExpFloat64()
			}
			slices.Sort(s)
			iv, ok := SortedQuantileCI(s, c.p, c.n)
			truth := -math.Log(1 - c.p)
			if ok {
				have++
			}
			if ok && iv[0] <= truth && truth <= iv[1] {
				hits++
			}
		}
		if want := map[bool]int{true: runs}[c.want]; have != want || hits < want*94/100 {
			t.Errorf("p = %g, n = %d: %d of %d have an interval, %d hold the quantile; want an interval %t", c.p, c.n, have,
				runs, hits, c.want)
		}
	}
	if _, ok := SortedQuantileCI(nil, 0.5, 0); ok {
		t.Error("an interval of nothing")
	}
}

// Groups whose values are independent are worth all of them in 95% of cases, and those of which each is one value fewer
// than one a value.
func TestWorthOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const runs, groups, each = 400, 12, 500
	whole, most := 0, 0
	for range runs {
		free, tied := make([][]float64, groups), make([][]float64, groups)
		for g := range groups {
			level := rng.NormFloat64()
			for range each {
				free[g] = append(free[g], rng.NormFloat64())
				tied[g] = append(tied[g], level+rng.NormFloat64())
			}
		}
		if WorthOf(free, 2) == groups*each {
			whole++
		}
		most = max(most, WorthOf(tied, 2))
	}
	if whole < runs*92/100 || most > groups*each/4 {
		t.Errorf("independent: %d of %d are worth all; tied: worth at most %d of %d", whole, runs, most, groups*each)
	}
	if got := WorthOf([][]float64{{1, 2, 3}}, 2); got != 3 {
		t.Errorf("one group: worth %d, want 3", got)
	}
}
