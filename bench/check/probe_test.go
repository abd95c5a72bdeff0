package check

import (
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/transport/sim"
)

// TestReach: at the point of 0 bytes each rank records one line, which says whether much had to be sent again.
func TestReach(t *testing.T) {
	for _, loss := range []float64{0, 0.5} {
		s := benchtest.Spec(2)
		s.Loss = loss
		slot := bench.Slot{Teams: [][]int{{0, 1}}, Points: []bench.Point{{names.FactorBytes: 0}}}
		lines := benchtest.MustRun(t, Probe, sim.New(s, sim.Options{Seed: 1}), slot, 1, nil)[0]
		if len(lines) != 2 || lines[0].Ranks[0] == lines[1].Ranks[0] {
			t.Fatalf("loss %g: recorded %+v, want a line of each rank", loss, lines)
		}
		if again := lines[0].Has(dataset.FlagRetrans) || lines[1].Has(dataset.FlagRetrans); again != (loss > 0) {
			t.Errorf("loss %g: much was sent again: %v", loss, again)
		}
	}
}
