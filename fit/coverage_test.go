package fit

import (
	"math/rand/v2"
	"testing"
)

// Each parameter's 95% interval must hold the truth in at least 90% of repeated runs with noise between rounds as well as
// within them, at five rounds and at eight. Seeds are fixed.
func TestCoverage(t *testing.T) {
	const runs = 24
	for _, rounds := range []int{5, 8} {
		hit, total := map[string]int{}, map[string]int{}
		for seed := range uint64(runs) {
			w := sparc()
			w.seed, w.rounds, w.between, w.within, w.offset = 100+seed, rounds, 0.01, 0.05, 1e-3
			w.reps, w.disjoint = 9, true
			w.sizes = []float64{1, 30, 260, 1400, 14480, 144800, 1448000, 2896000}
			truth := map[string]float64{
				"a": w.host.A, "a_c": w.medium.A, "b": w.host.B, "b_c": w.medium.B,
				"a_prime_limits": 2*w.host.A + w.medium.A, "b_prime_limits": w.host.B,
				"timer_cost": 31e-9,
			}
			fits, errs := All(w.dataset(), Settings{Replicates: 300})
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			for _, f := range fits {
				for name, p := range f.Parameters {
					if v, ok := truth[name]; ok {
						total[name]++
						if p.CI95 != nil && p.CI95[0] <= v && v <= p.CI95[1] {
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

// The interval of a midmean of rounds, with all the noise between rounds, over many more runs than a model affords.
func TestIntervalCoverage(t *testing.T) {
	const runs = 400
	rng := rand.New(rand.NewPCG(7, 7))
	for _, rounds := range []int{2, 3, 4, 5, 6, 8, 12, 20} {
		hit := 0
		width := 0.0
		for run := range uint64(runs) {
			tab := &table{}
			i := tab.at(0)
			for r := range rounds {
				mean := 1 + 0.05*rng.NormFloat64()
				var v []float64
				for range 9 {
					v = append(v, mean*(1+0.02*rng.NormFloat64()))
				}
				tab.add(i, 0, r, len(v), v...)
			}
			s, err := tab.resample(200, run)
			if err != nil {
				t.Fatal(err)
			}
			ci := s.interval(s.values[0], s.replicates, 0)
			if ci[0] <= 1 && 1 <= ci[1] {
				hit++
			}
			width += (ci[1] - ci[0]) / runs
		}
		t.Logf("%d rounds: coverage %.3f, mean width %.3f", rounds, float64(hit)/runs, width)
		if float64(hit) < 0.92*runs {
			t.Errorf("%d rounds: coverage %.3f, want at least 0.92", rounds, float64(hit)/runs)
		}
	}
}
