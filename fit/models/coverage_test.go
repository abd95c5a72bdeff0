package models

import (
	"testing"

	"calib/fit"
	"calib/fit/fittest"
)

// Each parameter's 95% interval must hold the truth in at least 90% of repeated runs with noise between rounds as well as
// within them, at five rounds and at eight. Seeds are fixed.
func TestCoverage(t *testing.T) {
	const runs = 24
	for _, rounds := range []int{5, 8} {
		hit, total := map[string]int{}, map[string]int{}
		for seed := range uint64(runs) {
			w := fittest.Sparc()
			w.Seed, w.Rounds, w.Between, w.Within, w.Offset = 100+seed, rounds, 0.01, 0.05, 1e-3
			w.Reps, w.Disjoint = 9, true
			w.Sizes = []float64{1, 30, 260, 1400, 14480, 144800, 1448000, 2896000}
			truth := map[string]float64{
				"a": w.Host.A, "a_c": w.Medium.A, "b": w.Host.B, "b_c": w.Medium.B,
				"a_prime_limits": 2*w.Host.A + w.Medium.A, "b_prime_limits": w.Host.B,
				"timer_cost": 31e-9,
			}
			p, errs := fit.Run(All, w.Dataset(), fit.Settings{Replicates: 300})
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			for _, f := range p.Fits {
				for name, q := range f.Parameters {
					if v, ok := truth[name]; ok {
						total[name]++
						if q.CI95 != nil && q.CI95[0] <= v && v <= q.CI95[1] {
							hit[name]++
						}
					}
				}
			}
		}
		for _, name := range []string{"a", "a_c", "b", "b_c", "a_prime_limits", "b_prime_limits", "timer_cost"} {
			t.Logf("%d rounds: %s covered in %d of %d runs", rounds, name, hit[name], total[name])
			if total[name] != runs || float64(hit[name]) < 0.9*runs {
				t.Errorf("%d rounds: %s covered in %d of %d runs, want at least 90%%", rounds, name, hit[name], total[name])
			}
		}
	}
}
