package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/internal/units"

	"calib/bench"
)

func TestEstimate(t *testing.T) {
	p := testPlan()
	p.Rounds = Rounds{Min: 6, Max: 10}
	p.Limits.Path = bench.Path{Latency: units.Millisecond, PerByte: 1000, Slot: 10 * units.Millisecond}
	exps := made(
		// Two slots of two pairs, three sizes: a slot has 3,000 bytes and takes 33 ms.
		fakeExp{name: "pairs", points: sizePoints(1, 64, 1024), teams: halves,
			cost: bench.Cost{Bytes: 1000, Time: 11 * units.Millisecond}},
		// One slot of hosts 0 to 2, which says how long it takes.
		fakeExp{name: "some", points: []bench.Point{{"hosts": 3}}, teams: firstHosts,
			cost: bench.Cost{Bytes: 500, Time: 2 * units.Millisecond}},
	)
	s := mustSchedule(t, p, 4, exps)
	want := Forecast{
		LinkBytes: 6500,
		// 3 slots of 10 ms, 6 points of 11 ms, and 2 ms.
		Round: 98_000_000, Min: 588_000_000, Max: 980_000_000,
		ByExp: []ExpForecast{
			{Name: "pairs", Slots: 2, Points: 3, Whole: 3, LinkBytes: 6000, Round: 86_000_000},
			{Name: "some", Slots: 1, Points: 1, Whole: 1, LinkBytes: 500, Round: 12_000_000},
		},
	}
	if d := cmp.Diff(want, s.Estimate()); d != "" {
		t.Errorf("forecast (-want +got):\n%s", d)
	}

	s.Plan.Budget = 700 * units.Millisecond
	if f := s.Estimate(); f.Min != 588_000_000 || f.Max != 700*units.Millisecond {
		t.Errorf("a budget within the rounds: %+v", f)
	}
	s.Plan.Budget = 0
	s.Plan.Isolate = true
	// 5 slots, 12 points of 11 ms, and 2 ms.
	alone := mustSchedule(t, s.Plan, 4, exps)
	if f := alone.Estimate(); alone.Slots() != 5 || f.LinkBytes != 6500 || f.Round != 184_000_000 {
		t.Errorf("isolated: %d slots, %+v", alone.Slots(), f)
	}
}
