package models

import (
	"math"
	"slices"
	"testing"

	"calib/fit/hyperbolic"
	"calib/params"
)

// Pairs that differ by 3% are said to, whether the same pairs measure every round or others each time; equal pairs are
// not.
func TestPairSpread(t *testing.T) {
	for _, permuted := range []bool{false, true} {
		w := sparc()
		w.Hosts, w.Rounds, w.Reps, w.Disjoint, w.Permuted, w.Sizes = 16, 12, 5, true, permuted, []float64{1, 100, 1400, 144800, 1448000}
		w.Between, w.Drift, w.Pair = 0.005, 0.02, 0.03
		f := fitWith(t, hyperbolic.Hockney, w.Dataset(), 50)
		for _, name := range []string{"pair_spread_small", "pair_spread_large"} {
			q := f.Parameters[name]
			if q.Value == nil || q.CI95 == nil || q.CI95[0] > 0.03 || q.CI95[1] < 0.03 || math.Abs(*q.Value-0.03) > 0.02 {
				t.Errorf("pairs drawn every round %v: %s %+v, want 3%% in its interval", permuted, name, q)
			}
		}
	}
	w := sparc()
	w.Disjoint, w.Reps = true, 5
	f := fitWith(t, hyperbolic.Hockney, w.Dataset(), 50)
	if q := f.Parameters["pair_spread_small"]; q.Status != params.StatusBound && (q.Value == nil || *q.Value > 1e-6) {
		t.Errorf("equal pairs: %+v", q)
	}
}

// A fixed time states what the clock adds.
func TestClockReading(t *testing.T) {
	w := sparc()
	w.Between = 0.002
	q := fitWith(t, hyperbolic.Hyperbola, w.Dataset(), 50).Parameters["a_prime_limits"]
	i := slices.IndexFunc(q.Budget, func(term params.Term) bool { return term.Name == "clock reading" })
	if i < 0 || q.Budget[i].Type != params.TypeB || math.Abs(q.Budget[i].U-31e-9/math.Sqrt(3)) > 2e-9 {
		t.Errorf("%+v, want a clock reading of 31 ns over √3", q.Budget)
	}
}
