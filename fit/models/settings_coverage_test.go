package models

import (
	"maps"
	"slices"
	"testing"

	"calib/fit"
	"calib/fit/buffer"
	"calib/fit/loggp"
	"calib/fit/tuning"
)

// Each parameter's 95% interval must hold the truth in at least 34 of 40 runs with noise between rounds as well as
// within them. Seeds are fixed.
func TestSettingsCoverage(t *testing.T) {
	const runs, least = 40, 34
	base := port()
	truth := map[string]float64{
		"B_L": base.Buffer, "B_L_tcp": base.Buffer,
		"L": base.Latency, "o_s": base.Os.Of(1), "o_r": base.Or.Of(1), "g": base.Gap.Of(1), "G": base.Gap.C1,
		"best_fragment_64KiB":  4096,
		"fragment_gain_64KiB":  1 - base.Fragmented(65536, 4096)/base.Fragmented(65536, 65536),
		"nagle_cost_1449B_2w":  40e-3 / (300e-6 + 80e-9*1449),
		"smallest_buffer_1KiB": 16384,
	}
	hit := map[string]int{}
	for seed := range uint64(runs) {
		w := base
		w.Seed, w.Between, w.Within, w.Longest = 500+seed, 0.005, 0.02, 2048
		d := fit.Prepare(w.Dataset(), fit.Settings{Replicates: 200})
		for _, m := range []fit.Model{buffer.Buffer, loggp.LogGP, tuning.Fragment, tuning.Buffer, tuning.NoDelay} {
			f, err := m.Fit(d)
			if err != nil {
				t.Fatal(err)
			}
			for name, v := range truth {
				p, ok := f.Parameters[name]
				if ok && (p.Value != nil && *p.Value == v || p.CI95 != nil && p.CI95[0] <= v && v <= p.CI95[1]) {
					hit[name]++
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(truth)) {
		t.Logf("%s covered in %d of %d runs", name, hit[name], runs)
		if hit[name] < least {
			t.Errorf("%s covered in %d of %d runs, want at least %d", name, hit[name], runs, least)
		}
	}
}
