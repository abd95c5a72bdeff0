package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

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
		"ties across":          {[]float64{1, 1, 2}, []float64{2, 3, 3}, 0.2}, // 2 of 20 deals as low
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

// enumerate is the definition of the exact test: every deal of the values.
func enumerate(a, b []float64) float64 {
	all := slices.Concat(a, b)
	ranks, _ := midranks(all)
	seen := 0
	for _, r := range ranks[:len(a)] {
		seen += r
	}
	var below, above, total float64
	for deal := range deals(len(all), len(a), 1) {
		s := 0
		for _, j := range deal {
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
		ranks, ties := midranks(slices.Concat(a, b))
		sum := 0
		for _, r := range ranks[:24] {
			sum += r
		}
		if approx := normalTails(24, 24, sum, ties); math.Abs(approx-exact) > 0.08*exact {
			t.Errorf("ties %v: exact %v, approximate %v", rounded, exact, approx)
		}
	}
}

func TestHolm(t *testing.T) {
	for _, c := range []struct{ p, want []float64 }{
		// R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.9, 0.8}, []float64{1, 1}},
		{[]float64{0.01, math.NaN()}, []float64{0.02, math.NaN()}},
		{nil, nil},
	} {
		got := Holm(c.p)
		for i, w := range c.want {
			if math.IsNaN(w) != math.IsNaN(got[i]) || math.Abs(got[i]-w) > 1e-12 {
				t.Errorf("Holm(%v) = %v, want %v", c.p, got, c.want)
			}
		}
	}
}

func TestNeeded(t *testing.T) {
	if m, n := NeededEach(1, 1, 0.05, 1); m != 4 || n != 4 {
		t.Errorf("%d against %d", m, n)
	}
	if m, n := NeededEach(20, 1, 0.05, 1); m != 20 || n != 2 {
		t.Errorf("%d against %d", m, n)
	}
	if m, n := NeededEach(0, 0, 0.05, 40); m != 6 || n != 7 {
		t.Errorf("%d against %d", m, n)
	}
	if n, ok := NeededMore(20, 0.05, 1); n != 2 || !ok {
		t.Error(n, ok)
	}
	if n, ok := NeededMore(1, 0.001, 1); n != 0 || ok {
		if !ok || SmallestP(1, n) > 0.001 {
			t.Error(n, ok)
		}
	}
	if SmallestP(0, 5) != 1 || SmallestP(1, 1) != 1 {
		t.Error("no test with nothing")
	}
}

func TestDeals(t *testing.T) {
	seen := map[[3]int]bool{}
	for d := range deals(7, 3, 1) {
		if !(d[0] < d[1] && d[1] < d[2] && d[2] < 7) {
			t.Fatal(d)
		}
		seen[[3]int(d)] = true
	}
	if len(seen) != 35 {
		t.Errorf("%d of 35 deals", len(seen))
	}
}

// One quantity of 1,000 has changed: the runs of a few are enough, where a rank test adjusted for 1,000 never is.
func TestMaxT(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	rows := make([][]float64, 1000)
	for i := range rows {
		rows[i] = make([]float64, 12)
		for j := range rows[i] {
			rows[i][j] = 1 + 0.02*rng.NormFloat64()
			if i == 77 && j >= 7 {
				rows[i][j] *= 1.2
			}
		}
	}
	p := MaxT(rows, 7, 1)
	for i, v := range p {
		if (v <= 0.05) != (i == 77) {
			t.Errorf("p of %d is %v", i, v)
		}
	}
	if got := SmallestP(7, 5) * 1000; got <= 0.05 {
		t.Errorf("%v: the example shows nothing", got)
	}
	for _, c := range []struct {
		rows [][]float64
		m    int
	}{{[][]float64{{1, 2}}, 0}, {[][]float64{{1, 2}}, 2}, {[][]float64{{1, 1, 1, 1}}, 2}} {
		if got := MaxT(c.rows, c.m, 1); got[0] != 1 {
			t.Errorf("%v of %v", got, c)
		}
	}
}

// Under no change, any of 30 quantities that share half their noise is rejected at the level, together.
func TestMaxTLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const trials = 500
	wrong := 0
	for range trials {
		rows := make([][]float64, 30)
		shared := make([]float64, 10)
		for j := range shared {
			shared[j] = rng.NormFloat64()
		}
		for i := range rows {
			rows[i] = make([]float64, len(shared))
			for j := range rows[i] {
				rows[i][j] = shared[j] + rng.NormFloat64()
			}
		}
		if slices.Min(MaxT(rows, 5, 1)) <= 0.05 {
			wrong++
		}
	}
	if wrong < 9 || wrong > 42 { // 5% ± 3.4 standard deviations
		t.Errorf("%d of %d at 5%%", wrong, trials)
	}
}
