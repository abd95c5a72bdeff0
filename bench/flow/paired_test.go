package flow

import (
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset/names"
	"calib/internal/netspec"
	"calib/transport/sim"
)

// A fabric that delays packets by how many hosts are active delays the first probe of a clock less than its answer.
func TestPairedOffsetsOnFabric(t *testing.T) {
	spec, err := netspec.Preset("hku2000", 2)
	if err != nil {
		t.Fatal(err)
	}
	slot := bench.Slot{
		Teams: [][]int{{0, 1}}, Points: []bench.Point{{names.FactorPairs: 1, names.FactorBytes: 1}},
	}
	lines := benchtest.MustRun(t, Paired, sim.New(*spec, sim.Options{Seed: 1}), slot, 1, nil)[0]
	for i, ns := range benchtest.Phase(t, lines, names.PhaseOffset).NS {
		if ns < -1 || ns > 1 {
			t.Errorf("reading %d of equal clocks: an offset of %d ns", i, ns)
		}
	}
}
