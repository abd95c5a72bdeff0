package models

import (
	"math"
	"testing"

	"calib/fit"
	"calib/fit/hyperbolic"
	"calib/internal/params"
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

// A run in the lab states what its hosts add; another does not.
func TestLabTerms(t *testing.T) {
	for _, device := range []string{"calib0", "eth0"} {
		w := sparc()
		w.Between = 0.002
		d := w.Dataset()
		for i := range d.Header.Hosts {
			d.Header.Hosts[i].Env = map[string]string{"nic.name": device, "nic.driver": "tun"}
		}
		q := fitWith(t, hyperbolic.Hyperbola, d, 50).Parameters["a_prime_limits"]
		terms := map[string]params.Term{}
		for _, term := range q.Budget {
			terms[term.Name] = term
		}
		clock, lab := terms["clock reading"], terms[params.TermLabHosts]
		if clock.Type != params.TypeB || math.Abs(clock.U-31e-9/math.Sqrt(3)) > 2e-9 {
			t.Errorf("%s: clock reading %+v, want 31 ns over √3", device, clock)
		}
		if in := device == "calib0"; in != (lab.U > 0) || in && math.Abs(lab.U-30e-6/math.Sqrt(3)) > 1e-9 {
			t.Errorf("%s: lab hosts %+v", device, lab)
		}
		if half := (q.CI95[1] - q.CI95[0]) / 2; half < 1.95*lab.U {
			t.Errorf("%s: half width %g s, less than its term", device, half)
		}
	}
	if (&fit.Prepared{Data: pairOf(nil, nil)}).InLab() {
		t.Error("hosts without a fingerprint are taken to be in the lab")
	}
}
