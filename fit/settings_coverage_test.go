package fit

import (
	"maps"
	"slices"
	"testing"
)

// Each parameter's 95% interval must hold the truth in at least 34 of 40 runs with noise between rounds as well as within
// them. Seeds are fixed.
func TestSettingsCoverage(t *testing.T) {
	const runs, least = 40, 34
	base := port()
	truth := map[string]float64{
		"B_L": base.buffer, "B_L_tcp": base.buffer,
		"L": base.latency, "o_s": base.os.At(1), "o_r": base.or.At(1), "g": base.gap.At(1), "G": base.gap.C1,
		"best_fragment_64KiB":  4096,
		"fragment_gain_64KiB":  1 - base.fragmented(65536, 4096)/base.fragmented(65536, 65536),
		"nagle_cost_1449B_2w":  40e-3 / (300e-6 + 80e-9*1449),
		"smallest_buffer_1KiB": 16384,
	}
	hit := map[string]int{}
	for seed := range uint64(runs) {
		w := base
		w.seed, w.between, w.within, w.longest = 500+seed, 0.005, 0.02, 2048
		d := w.dataset()
		for _, m := range []Model{Flood{}, LogGP{}, Fragment{}, Buffer{}, Nodelay{}} {
			f, err := m.Fit(d, Settings{Replicates: 200})
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
