package models

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"calib/fit"
	"calib/fit/hyperbolic"
	"calib/fit/tuning"
)

// coverage fits runs of a network, each with a seed of its own, and counts how often the truth is in the 95% interval
// of each parameter.
func coverage(t *testing.T, w truth, runs int, settings fit.Settings) (hit, total map[string]int) {
	t.Helper()
	hit, total = map[string]int{}, map[string]int{}
	truth := map[string]float64{
		"a": w.Host.A, "a_c": w.Medium.A, "b": w.Host.B, "b_c": w.Medium.B,
		"a_prime_limits": 2*w.Host.A + w.Medium.A, "b_prime_limits": w.Host.B,
		"timer_cost": 31e-9,
	}
	models := []fit.Model{hyperbolic.Network, hyperbolic.Hyperbola, tuning.Timer} // the others find none of these
	for seed := range uint64(runs) {
		w.Seed = 100 + seed
		p, errs := fit.Run(models, w.Dataset(), settings)
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
	return hit, total
}

// Each parameter's 95% interval must hold the truth in at least 90% of repeated runs: with noise between rounds as well
// as within them, with rounds that are correlated, and with pairs that differ. Seeds are fixed. CALIB_COVERAGE_RUNS
// sets another number of runs than those of a short test.
func TestCoverage(t *testing.T) {
	runs := 24
	if n, err := strconv.Atoi(os.Getenv("CALIB_COVERAGE_RUNS")); err == nil {
		runs = n
	}
	base := sparc()
	base.Between, base.Within, base.Offset, base.Reps, base.Disjoint = 0.01, 0.05, 1e-3, 9, true
	base.Sizes = []float64{1, 30, 260, 1400, 14480, 144800, 1448000, 2896000}
	drifting := base
	drifting.Between, drifting.Drift, drifting.Serial, drifting.Pair, drifting.Permuted = 0.002, 0.01, 0.6, 0.01, true
	staying := drifting
	staying.Permuted = false
	for _, c := range []struct {
		name   string
		w      truth
		rounds []int
		names  []string
	}{
		{"independent rounds", base, []int{5, 8}, []string{"a", "a_c", "b", "b_c", "a_prime_limits", "b_prime_limits",
			"timer_cost"}},
		{"correlated rounds, pairs drawn in every round", drifting, []int{6, 10},
			[]string{"a", "a_c", "b", "b_c", "a_prime_limits", "b_prime_limits"}},
		// Bursts and streams of the same pairs in every round do not say how pairs differ.
		{"correlated rounds, the same pairs", staying, []int{6, 10}, []string{"a_prime_limits", "b_prime_limits"}},
	} {
		for _, rounds := range c.rounds {
			t.Run(fmt.Sprintf("%s/%d", c.name, rounds), func(t *testing.T) {
				c.w.Rounds = rounds
				hit, total := coverage(t, c.w, runs, fit.Settings{Replicates: 300})
				for _, name := range c.names {
					t.Logf("| %s | %d | %s | %d of %d | %.1f%% |", c.name, rounds, name, hit[name], total[name],
						100*float64(hit[name])/float64(total[name]))
					if total[name] != runs || float64(hit[name]) < 0.9*float64(runs) {
						t.Errorf("%s covered in %d of %d runs, want at least 90%%", name, hit[name], total[name])
					}
				}
			})
		}
	}
}
