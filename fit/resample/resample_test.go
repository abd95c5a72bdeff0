package resample

import (
	"math/rand/v2"
	"testing"
)

// The interval of a midmean of rounds, with all the noise between rounds, over many more runs than a model affords.
func TestIntervalCoverage(t *testing.T) {
	const runs = 400
	rng := rand.New(rand.NewPCG(7, 7))
	for _, rounds := range []int{2, 3, 4, 5, 6, 8, 12, 20} {
		hit := 0
		width := 0.0
		for run := range uint64(runs) {
			tab := &Table[string]{}
			i := tab.OneWay("T")
			for r := range rounds {
				mean := 1 + 0.05*rng.NormFloat64()
				var v []float64
				for range 9 {
					v = append(v, mean*(1+0.02*rng.NormFloat64()))
				}
				tab.Add(i, 0, r, len(v), v...)
			}
			m, err := tab.Medians()
			if err != nil {
				t.Fatal(err)
			}
			s, err := m.Draw(200, run)
			if err != nil {
				t.Fatal(err)
			}
			ci := s.Interval(s.Values[0], s.Replicates, 0)
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
