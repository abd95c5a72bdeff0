// Package benchtest runs experiments on simulated teams, for their tests.
package benchtest

import (
	"context"
	"sync"
	"testing"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/lists"
	"calib/internal/netspec"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/transport/sim"
)

// US is a microsecond in seconds, the unit of a netspec.
const US = 1e-6

// Spec is a small fast network.
func Spec(hosts int) netspec.Spec {
	return netspec.Spec{
		Name: "test", Hosts: hosts, Mode: netspec.Shared, MSS: 1448,
		Host: netspec.Block{A: 20 * US, B: 0.02 * US}, Medium: netspec.Block{A: 10 * US, B: 0.015 * US}, L: 15 * US,
	}
}

// Net simulates a network whose clocks disagree by seconds.
func Net(s netspec.Spec) *sim.Net {
	return sim.New(s, sim.Options{
		Seed: 11, ClockOffset: 2 * units.Second, ClockDrift: 30, Cost: sim.Cost{Send: 300, Recv: 400, Now: 25},
	})
}

// Run performs one slot of e on simulated teams, all at once, and returns every rank's samples by team, and every
// rank's error. wrap, which may be nil, replaces a rank's group.
func Run(
	ctx context.Context, t *testing.T, e *bench.Experiment, n *sim.Net, slot bench.Slot, effort float64,
	wrap func(bench.Group) bench.Group,
) ([][]dataset.Sample, []error) {
	t.Helper()
	samples := make([][]dataset.Sample, len(slot.Teams))
	var errs []error
	var mu sync.Mutex
	err := n.RunTeams(slot.Teams, func(team, rank int, sg *sim.Group) error {
		var g bench.Group = sg
		if wrap != nil {
			g = wrap(g)
		}
		got, err := bench.Perform(ctx, e, g, bench.Task{
			Run: "test", Slot: slot.ID, Round: slot.Round, Exp: e.Name, Team: slot.Teams[team], Rank: rank,
			Points: slot.Points, Reps: effort,
		}, nil)
		mu.Lock()
		defer mu.Unlock()
		samples[team] = append(samples[team], got...)
		errs = append(errs, err)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return samples, errs
}

// MustRun fails the test on any rank's error.
func MustRun(
	t *testing.T, e *bench.Experiment, n *sim.Net, slot bench.Slot, effort float64, wrap func(bench.Group) bench.Group,
) [][]dataset.Sample {
	t.Helper()
	samples, errs := Run(context.Background(), t, e, n, slot, effort, wrap)
	for _, err := range errs {
		if err != nil {
			t.Fatalf("%s at %v: %v", e.Name, slot.Points, err)
		}
	}
	return samples
}

// Phase returns the one line of a phase.
func Phase(t *testing.T, lines []dataset.Sample, phase string) dataset.Sample {
	t.Helper()
	out := lists.Where(lines, func(l dataset.Sample) bool { return l.Phase == phase })
	if len(out) != 1 {
		t.Fatalf("%d lines of phase %q, want 1", len(out), phase)
	}
	return out[0]
}

// Median is that of timings.
func Median(ns []int64) float64 { return stats.Median(stats.Floats(ns)) }

// OneWay is T(x) of a pair alone on the network, in seconds: the recursion for packets through three servers in a row.
func OneWay(s *netspec.Spec, from, to, x int) float64 {
	var left [3]float64
	for k := s.Packets(x); k > 0; k-- {
		n := min(x, s.MSS)
		x -= n
		at := 0.0
		for j, b := range []netspec.Block{s.HostBlock(from), s.Medium, s.HostBlock(to)} {
			if j == 2 {
				at += s.L
			}
			left[j] = max(at, left[j]) + s.Service(b, n)
			at = left[j]
		}
	}
	return left[2]
}
