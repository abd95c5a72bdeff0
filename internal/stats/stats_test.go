package stats

import (
	"math"
	"slices"
	"testing"

	mf "github.com/montanaflynn/stats"
	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))) {
		t.Errorf("%s = %.17g, want %.17g", what, got, want)
	}
}

func TestTypical(t *testing.T) {
	if Typical(nil) != 0 || Typical([]float64{3, 1, 2}) != 2 {
		t.Error("typical is the median, 0 of none")
	}
}

// TestQuantile: the answers are worked by hand from the definition.
func TestQuantile(t *testing.T) {
	x := []float64{15, 20, 35, 40, 50}
	ten := []float64{10, 1, 9, 2, 8, 3, 7, 4, 6, 5}
	for _, c := range []struct {
		x    []float64
		p    float64
		want float64
	}{
		{x, 0, 15}, {x, 0.05, 16}, {x, 0.30, 23}, {x, 0.40, 29}, {x, 0.5, 35}, {x, 1, 50},
		{ten, 0.25, 3.25}, {ten, 0.5, 5.5}, {ten, 0.75, 7.75}, {ten, 0.9, 9.1}, {ten, 0.025, 1.225},
		{[]float64{7}, 0.3, 7},
		{[]float64{-math.MaxFloat64, math.MaxFloat64}, 0.5, 0},
		{[]float64{1, math.Inf(1), math.Inf(1)}, 0.75, math.Inf(1)},
	} {
		before := slices.Clone(c.x)
		if got := Quantile(c.x, c.p); got != c.want && !(math.Abs(got-c.want) < 1e-12) {
			t.Errorf("Quantile(%v, %v) = %v, want %v", c.x, c.p, got, c.want)
		}
		if !slices.Equal(c.x, before) {
			t.Errorf("Quantile changed its argument %v to %v", before, c.x)
		}
	}
}

func TestNoAnswer(t *testing.T) {
	nan := math.NaN()
	for name, v := range map[string]float64{
		"no values":        Quantile(nil, 0.5),
		"p below 0":        Quantile([]float64{1}, -0.1),
		"p above 1":        Quantile([]float64{1}, 1.1),
		"p NaN":            Quantile([]float64{1}, nan),
		"NaN inside":       Quantile([]float64{1, nan, 2}, 0.5),
		"median of none":   Median(nil),
		"MAD of none":      MAD(nil),
		"mean of none":     Mean(nil),
		"MAD with NaN":     MAD([]float64{1, nan, 2}),
		"mean with NaN":    Mean([]float64{1, nan, 2}),
		"median of NaN":    Median([]float64{nan}),
		"sorted no values": SortedQuantile(nil, 0.5),
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s: got %v, want NaN", name, v)
		}
	}
}

// TestQuantileAgainst checks type 7 against montanaflynn/stats, which documents the same definition.
func TestQuantileAgainst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-1e9, 1e9), 1, 50).Draw(t, "x")
		p := rapid.Float64Range(0.001, 1).Draw(t, "p")
		want, err := mf.Percentile(x, 100*p)
		if err != nil {
			t.Fatal(err)
		}
		// 100·p/100 may differ from p in the last digit, and so by a rank's fraction.
		spread := slices.Max(x) - slices.Min(x)
		if got := Quantile(x, p); math.Abs(got-want) > 1e-9*(1+spread) {
			t.Fatalf("Quantile(%v, %v) = %v, want %v", x, p, got, want)
		}
	})
}

func TestMedianMADMean(t *testing.T) {
	for _, c := range []struct {
		x                 []float64
		median, mad, mean float64 // by hand
	}{
		{[]float64{3}, 3, 0, 3},
		{[]float64{4, 2}, 3, 1.482602218505602, 3},
		{[]float64{1, 1, 2, 2, 4, 6, 9}, 2, 1.482602218505602, 25.0 / 7},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 1000}, 4.5, 2.965204437011204, 128.5},
		// One slipped decimal point moves the mean, and neither the median nor the MAD.
		{[]float64{6.25, 6.27, 6.28, 6.34, 63.1}, 6.28, 0.04447806655516806, 17.648},
	} {
		near(t, "Median", Median(c.x), c.median, 1e-12)
		near(t, "MAD", MAD(c.x), c.mad, 1e-9)
		near(t, "Mean", Mean(c.x), c.mean, 1e-12)
	}
}

func TestFloats(t *testing.T) {
	if got := Floats([]int64{1, -2}); !slices.Equal(got, []float64{1, -2}) {
		t.Errorf("got %v", got)
	}
}
