package bench

import (
	"math"
	"testing"

	"calib/internal/units"
	"calib/transport/sim"
)

// Every kind of copy takes what the host's memory takes.
func TestCopyIsExact(t *testing.T) {
	host := sim.Host{
		CacheToCache: sim.CopyTime{Fixed: 3, PerByte: 0.013}, CacheToMemory: sim.CopyTime{Fixed: 41, PerByte: 0.15},
		MemoryToMemory: sim.CopyTime{Fixed: 97, PerByte: 0.31}, LoopFactor: 20,
	}
	kinds := []sim.CopyTime{host.CacheToCache, host.CacheToMemory, host.MemoryToMemory}
	points := Copy{}.Design(Limits{Hosts: 1})
	o := sim.Options{Host: host, Cost: sim.Cost{Now: 25}}
	got := mustPerform(t, sim.New(testSpec(2), o), Slot{Exp: "copy", Teams: [][]int{{0}}, Points: points}, 1, nil)[0]
	if len(got) != len(points) || len(points) != 6*len(copySizes)-2 {
		t.Fatalf("%d lines for %d points", len(got), len(points))
	}
	for _, line := range got {
		kind := kinds[line.Point["cold"]]
		if line.Point["loop"] != 0 {
			kind.PerByte *= host.LoopFactor
		}
		want := float64(kind.Fixed) + kind.PerByte*float64(line.Point["bytes"])
		if math.Abs(line.Aux["median_ns"]/want-1) > 1e-3 {
			t.Errorf("%s: %g ns, want %g", line.Point.Key(), line.Aux["median_ns"], want)
		}
		for _, ns := range line.NS {
			if math.Abs(float64(ns)-want) > 0.51 {
				t.Errorf("%s: %d ns, want %g", line.Point.Key(), ns, want)
			}
		}
		n := line.Aux["averaged"]
		if all := n * want; all < float64(copyTime) || all > 2*float64(copyTime) && n > 1 {
			t.Errorf("%s: a timing is of %g copies, which take %g ns", line.Point.Key(), n, all)
		}
		if line.Aux["cache_bytes"] != 32<<10 || line.Aux["last_cache_bytes"] != 8<<20 {
			t.Errorf("%s: caches of %g to %g B", line.Point.Key(), line.Aux["cache_bytes"], line.Aux["last_cache_bytes"])
		}
		fits := line.Point["cold"] != copyCTC || line.Point["bytes"] <= 16<<10
		if fits != (line.Phase == "") {
			t.Errorf("%s: phase %q", line.Point.Key(), line.Phase)
		}
	}
}

func TestCopyDesign(t *testing.T) {
	for _, tc := range []struct {
		name string
		l    Limits
		want int
	}{
		{"thinned", Limits{Hosts: 3, Effort: 0.25}, 22},
		{"within the cache", Limits{Hosts: 1, Sizes: []units.Bytes{64}}, 6},
		{"above it", Limits{Hosts: 1, Sizes: []units.Bytes{32 * units.KiB}}, 4},
		{"too large", Limits{Hosts: 1, Sizes: []units.Bytes{units.MiB}}, 0},
		{"no host", Limits{}, 0},
	} {
		if got := len(Copy{}.Design(tc.l)); got != tc.want {
			t.Errorf("%s: %d points, want %d", tc.name, got, tc.want)
		}
	}
	if steps := (Copy{}).Teams(Limits{Hosts: 3}, nil); len(steps) != 1 || len(steps[0]) != 3 {
		t.Errorf("three hosts are in steps %v, want each alone and all at once", steps)
	}
}
