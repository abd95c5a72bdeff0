package predict

import (
	"math"
	"math/rand/v2"
	"testing"

	"calib/internal/params"
	"calib/internal/stats"
)

// Draws are about the value, as wide as the interval on each side, and independent of what other parameters there are.
func TestDrawn(t *testing.T) {
	v := 10.0
	p := &params.Params{
		Parameters: map[string]params.Parameter{"a": {Value: &v, CI95: &[2]float64{8, 16}}, "bound": {Estimate: &v}},
		Functions:  map[string]params.Function{"f": {Coeff: map[string]float64{"c0": 5, "c1": 1}, CI95: map[string][2]float64{"c0": {4, 6}}}},
	}
	var below, above, f []float64
	for k := range uint64(4000) {
		d := drawn(p, rand.New(rand.NewPCG(1, k)))
		if a := *d.Parameters["a"].Value; a < v {
			below = append(below, (a-v)*(a-v))
		} else {
			above = append(above, (a-v)*(a-v))
		}
		f = append(f, d.Functions["f"].Coeff["c0"])
		if d.Functions["f"].Coeff["c1"] != 1 || d.Parameters["bound"].Value != nil {
			t.Fatal("what has no interval was drawn")
		}
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"below", math.Sqrt(stats.Mean(below)), 2 / normal95}, {"above", math.Sqrt(stats.Mean(above)), 6 / normal95}, {"c0", stats.Mean(f), 5},
	} {
		if math.Abs(c.got/c.want-1) > 0.05 {
			t.Errorf("%s: %g, want %g", c.what, c.got, c.want)
		}
	}
	if *p.Parameters["a"].Value != 10 || p.Functions["f"].Coeff["c0"] != 5 {
		t.Error("the parameters themselves were changed")
	}
}

// A positive value stays positive, however wide its interval.
func TestMovedStaysPositive(t *testing.T) {
	if w := moved(1, [2]float64{-9, 11}, -3); w <= 0 {
		t.Errorf("%g", w)
	}
	if w := moved(-1, [2]float64{-2, 0}, -1.96); w != -2 {
		t.Errorf("%g", w)
	}
}
