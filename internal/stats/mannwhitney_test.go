package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	moremath "github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
	"pgregory.net/rapid"
)

// Figures of other programs: R's wilcox.test(exact=TRUE) on distinct values, and the tables of Mann and Whitney 1947.
func TestMannWhitneyKnown(t *testing.T) {
	seq := func(from, n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = float64(from + i)
		}
		return out
	}
	for name, c := range map[string]struct {
		a, b []float64
		want float64
	}{
		"4 apart from 4": {seq(1, 4), seq(5, 4), 2.0 / 70},
		"3 apart from 3": {seq(1, 3), seq(4, 3), 2.0 / 20},
		"1 and 1":        {seq(1, 1), seq(2, 1), 1},
		"3 below 60":     {seq(1, 3), seq(4, 60), 2.0 / 39711},
		"60 above 3":     {seq(4, 60), seq(1, 3), 2.0 / 39711},
		// Mann and Whitney's table for n = 3, m = 3: P(U ≤ 2) = 0.2.
		"U of 2 with 3 and 3": {[]float64{1, 2, 5}, []float64{3, 4, 6}, 0.4},
		// Hollander and Wolfe 1973, p. 69: permeability; W = 35, R gives 0.2544 two-sided.
		"Hollander and Wolfe": {[]float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46},
			[]float64{1.15, 0.88, 0.90, 0.74, 1.21}, 0.25441225},
		"all equal":            {seq(1, 1), seq(1, 1), 1},
		"all equal, many":      {make([]float64, 40), make([]float64, 60), 1},
		"ties across":          {[]float64{1, 1, 2}, []float64{2, 3, 3}, 0.2}, // 2 of 20 splits as low
		"infinities are ranks": {[]float64{math.Inf(-1), 1, 2, 3}, []float64{4, 5, 6, math.Inf(1)}, 2.0 / 70},
	} {
		got, err := MannWhitney(c.a, c.b)
		if err != nil || math.Abs(got-c.want) > 1e-8 {
			t.Errorf("%s: %v (%v), want %v", name, got, err, c.want)
		}
	}
	if _, err := MannWhitney(nil, []float64{1}); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
	if _, err := MannWhitney([]float64{1}, []float64{math.NaN()}); !errors.Is(err, ErrNaN) {
		t.Error(err)
	}
}

// enumerate is the definition of the exact test: every split of the values.
func enumerate(a, b []float64) float64 {
	all := slices.Concat(a, b)
	ranks, _ := doubledRanks(all)
	seen := 0
	for _, r := range ranks[:len(a)] {
		seen += r
	}
	var below, above, total float64
	for split := range splits(len(all), len(a), 1) {
		s := 0
		for _, j := range split {
			s += ranks[j]
		}
		total++
		if s <= seen {
			below++
		}
		if s >= seen {
			above++
		}
	}
	return math.Min(1, 2*math.Min(below, above)/total)
}

func TestMannWhitneyIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Map(rapid.IntRange(0, rapid.SampledFrom([]int{2, 6, 1000}).Draw(t, "values")), func(i int) float64 { return float64(i) })
		a := rapid.SliceOfN(value, 1, 5).Draw(t, "a")
		b := rapid.SliceOfN(value, 1, 6).Draw(t, "b")
		got, err := MannWhitney(a, b)
		if want := enumerate(a, b); err != nil || math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v, %v: want %v", got, err, want)
		}
	})
}

// benchmath is an oracle for larger samples.
func TestMannWhitneyAgrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{5, 12, 20} {
		a, b := make([]float64, n), make([]float64, n+3)
		for i := range a {
			a[i] = rng.NormFloat64()
		}
		for i := range b {
			b[i] = rng.NormFloat64() + 0.5
		}
		got, err := MannWhitney(a, b)
		if err != nil {
			t.Fatal(err)
		}
		th := benchmath.DefaultThresholds
		want := benchmath.AssumeNothing.Compare(benchmath.NewSample(slices.Clone(a), &th), benchmath.NewSample(slices.Clone(b), &th)).P
		if math.Abs(got-want) > 1e-6 {
			t.Errorf("%d against %d: p is %v, benchmath's is %v", n, n+3, got, want)
		}
	}
}

// approximate is the normal approximation of go-moremath, which MannWhitney uses beyond the exact range.
func approximate(t *testing.T, a, b []float64) float64 {
	t.Helper()
	plain, tied := moremath.MannWhitneyExactLimit, moremath.MannWhitneyTiesExactLimit
	defer func() { moremath.MannWhitneyExactLimit, moremath.MannWhitneyTiesExactLimit = plain, tied }()
	moremath.MannWhitneyExactLimit, moremath.MannWhitneyTiesExactLimit = 0, 0
	r, err := moremath.MannWhitneyUTest(a, b, moremath.LocationDiffers)
	if err != nil {
		t.Fatal(err)
	}
	return r.P
}

// Exact and approximate meet where one takes over from the other.
func TestMannWhitneyApproximation(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, rounded := range []bool{false, true} {
		a, b := make([]float64, 24), make([]float64, 24)
		for i := range a {
			a[i], b[i] = rng.NormFloat64(), rng.NormFloat64()+0.6
			if rounded {
				a[i], b[i] = math.Round(4*a[i]), math.Round(4*b[i])
			}
		}
		exact, err := MannWhitney(a, b)
		if err != nil {
			t.Fatal(err)
		}
		if approx := approximate(t, a, b); math.Abs(approx-exact) > 0.08*exact {
			t.Errorf("ties %v: exact %v, approximate %v", rounded, exact, approx)
		}
	}
}
