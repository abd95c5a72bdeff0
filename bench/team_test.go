package bench

import (
	"context"
	"sync"
	"testing"

	"calib/internal/dataset"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

const us = 1e-6

// testSpec is a small fast network whose clocks, in simulated, disagree by seconds.
func testSpec(hosts int) netspec.Spec {
	return netspec.Spec{
		Name: "test", Hosts: hosts, Mode: netspec.Shared, MSS: 1448,
		Host: netspec.Block{A: 20 * us, B: 0.02 * us}, Medium: netspec.Block{A: 10 * us, B: 0.015 * us}, L: 15 * us,
	}
}

func simulated(s netspec.Spec) *sim.Net {
	return sim.New(s, sim.Options{
		Seed: 11, ClockOffset: 2 * units.Second, ClockDrift: 30, Cost: sim.Cost{Send: 300, Recv: 400, Now: 25},
	})
}

// perform runs one slot on simulated teams, all at once, and returns every rank's samples by team, and every rank's
// error. wrap, which may be nil, replaces a rank's group.
func perform(t *testing.T, n *sim.Net, slot Slot, effort float64, wrap func(Group) Group) ([][]dataset.Sample, []error) {
	t.Helper()
	return performContext(t, context.Background(), n, slot, effort, wrap)
}

func performContext(
	t *testing.T, ctx context.Context, n *sim.Net, slot Slot, effort float64, wrap func(Group) Group,
) ([][]dataset.Sample, []error) {
	t.Helper()
	samples := make([][]dataset.Sample, len(slot.Teams))
	var errs []error
	var mu sync.Mutex
	err := n.RunTeams(slot.Teams, func(team, rank int, sg *sim.Group) error {
		var g Group = sg
		if wrap != nil {
			g = wrap(g)
		}
		got, err := Perform(ctx, g, Task{
			Run: "test", Slot: slot.ID, Round: slot.Round, Exp: slot.Exp, Team: slot.Teams[team], Rank: rank,
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

// mustPerform fails the test on any rank's error.
func mustPerform(t *testing.T, n *sim.Net, slot Slot, effort float64, wrap func(Group) Group) [][]dataset.Sample {
	t.Helper()
	samples, errs := perform(t, n, slot, effort, wrap)
	for _, err := range errs {
		if err != nil {
			t.Fatalf("%s at %v: %v", slot.Exp, slot.Points, err)
		}
	}
	return samples
}
