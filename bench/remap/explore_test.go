package remap_test

import (
	"fmt"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/bench/remap"
	"calib/internal/dataset/names"
	"calib/internal/netspec"
	"calib/internal/stats"
	"calib/transport/sim"
)

func TestExplore(t *testing.T) {
	for _, net := range []string{"switch", "sparc1994"} {
		for _, h := range []int{4, 8, 16} {
			spec, _ := netspec.Preset(net, h)
			n := sim.New(*spec, sim.Options{Seed: 1, Cost: sim.Cost{Now: 25}})
			for _, p := range (remap.Experiment{}).Design(bench.Limits{Hosts: h, Effort: 2}) {
				if int(p[names.FactorHosts]) != h {
					continue
				}
				got := benchtest.MustRun(t, remap.Experiment{}, n, bench.Slot{ID: 1, Teams: bench.FirstHosts(h)[0], Points: []bench.Point{p}}, 2, nil)
				rate, k := 0.0, 0
				fl := map[string]int{}
				for _, l := range got[0] {
					if l.Exp != "remap" {
						continue
					}
					rate += 1 / stats.Mean(stats.Floats(l.NS))
					k++
					for _, f := range l.Flags {
						fl[f]++
					}
				}
				fmt.Printf("%s %2d %-75s %9.1f us %d %v\n", net, h, p.Key(), float64(k)/rate/1e3, k, fl)
			}
		}
	}
}
