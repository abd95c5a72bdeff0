package overlap

import (
	"math"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset/names"
	"calib/internal/units"
	"calib/transport/sim"
)

// Every kind of copy takes what the host's memory takes.
func TestCopyIsExact(t *testing.T) {
	kinds := []sim.CopyTime{sim.CacheToCache, sim.CacheToMemory, sim.MemoryToMemory}
	points := Copy.Design(bench.Limits{Hosts: 1})
	o := sim.Options{Cost: sim.Cost{Now: 25}}
	got := benchtest.MustRun(t, Copy, sim.New(benchtest.Spec(2), o), bench.Slot{Teams: [][]int{{0}}, Points: points}, 1,
		nil)[0]
	if len(got) != len(points) || len(points) != 6*len(copySizes)-2 {
		t.Fatalf("%d lines for %d points", len(got), len(points))
	}
	for _, line := range got {
		kind := kinds[line.Point[names.FactorCold]]
		if line.Point[names.FactorLoop] != 0 {
			kind.PerByte *= sim.LoopFactor
		}
		want := float64(kind.Fixed) + kind.PerByte*float64(line.Point[names.FactorBytes])
		if math.Abs(line.Aux[names.AuxMedian]/want-1) > 1e-3 {
			t.Errorf("%s: %g ns, want %g", line.Point.Key(), line.Aux[names.AuxMedian], want)
		}
		for _, ns := range line.NS {
			if math.Abs(float64(ns)-want) > 0.51 {
				t.Errorf("%s: %d ns, want %g", line.Point.Key(), ns, want)
			}
		}
		n := line.Aux[names.AuxAveraged]
		if all := n * want; all < float64(timedTogether) || all > 2*float64(timedTogether) && n > 1 {
			t.Errorf("%s: a timing is of %g copies, which take %g ns", line.Point.Key(), n, all)
		}
		if line.Aux[names.AuxCache] != 32<<10 || line.Aux[names.AuxLastCache] != 8<<20 {
			t.Errorf("%s: caches of %g to %g B", line.Point.Key(), line.Aux[names.AuxCache], line.Aux[names.AuxLastCache])
		}
		fits := line.Point[names.FactorCold] != cacheToCache || line.Point[names.FactorBytes] <= 16<<10
		if fits != (line.Phase == "") {
			t.Errorf("%s: phase %q", line.Point.Key(), line.Phase)
		}
	}
}

func TestCopyDesign(t *testing.T) {
	for _, tc := range []struct {
		name string
		l    bench.Limits
		want int
	}{
		{"thinned", bench.Limits{Hosts: 3, Effort: 0.25}, 22},
		{"within the cache", bench.Limits{Hosts: 1, Sizes: []units.Bytes{64}}, 6},
		{"above it", bench.Limits{Hosts: 1, Sizes: []units.Bytes{32 * units.KiB}}, 4},
		{"too large", bench.Limits{Hosts: 1, Sizes: []units.Bytes{units.MiB}}, 0},
		{"no host", bench.Limits{}, 0},
	} {
		if got := len(Copy.Design(tc.l)); got != tc.want {
			t.Errorf("%s: %d points, want %d", tc.name, got, tc.want)
		}
	}
	if steps := Copy.Teams(bench.Limits{Hosts: 3}, nil); len(steps) != 1 || len(steps[0]) != 3 {
		t.Errorf("three hosts are in steps %v, want each alone and all at once", steps)
	}
}
