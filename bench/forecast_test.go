package bench

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/internal/units"
)

func TestEstimate(t *testing.T) {
	p := testPlan()
	p.Rounds = Rounds{Min: 6, Max: 10}
	a := Assumption{Latency: units.Millisecond, Rate: 1e6, Slot: 10 * units.Millisecond}
	exps := []Experiment{
		// Two slots of two pairs, three sizes: a slot has 30 messages and 3,000 bytes.
		fakeExp{name: "pairs", points: sizePoints(1, 64, 1024), teams: halves, cost: Cost{Bytes: 1000, Messages: 10}},
		// One slot of hosts 0 to 2.
		fakeExp{name: "some", points: []Point{{"hosts": 3}}, teams: firstHosts, cost: Cost{Bytes: 500, Messages: 1}},
	}
	s := mustSchedule(t, p, 4, exps)
	want := Forecast{
		MinRounds: 6, MaxRounds: 10, Slots: 3, Points: 7, LinkBytes: 6500,
		// 3 slots of 10 ms, 61 messages of 1 ms, 6,500 bytes of 1 µs in sequence.
		Round: 97_500_000, Min: 585_000_000, Max: 975_000_000,
	}
	if d := cmp.Diff(want, s.Estimate(a)); d != "" {
		t.Errorf("forecast (-want +got):\n%s", d)
	}

	s.Plan.Budget = 700 * units.Millisecond
	f := s.Estimate(a)
	if f.Min != 585_000_000 || f.Max != 700*units.Millisecond {
		t.Errorf("a budget within the rounds: %+v", f)
	}
	s.Plan.Budget = 500 * units.Millisecond
	if f := s.Estimate(a); f.Min != 500*units.Millisecond || f.Max != 500*units.Millisecond {
		t.Errorf("a budget below the least rounds: %+v", f)
	}
	s.Plan.Isolate = true
	// 5 slots, 121 messages and 12,500 bytes.
	if alone := mustSchedule(t, s.Plan, 4, exps).Estimate(a); alone.Slots != 5 || alone.LinkBytes != 6500 || alone.Round != 183_500_000 {
		t.Errorf("isolated: %+v", alone)
	}
}
