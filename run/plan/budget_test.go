package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
	"calib/run/plan"
)

// TestPlansFitBudgets: on every speed, with any number of hosts and any budget, the least rounds fit into the budget,
// or the plan says that fewer do; what is left out is named with its time; clocks, ping-pongs and pairs are always
// measured.
func TestPlansFitBudgets(t *testing.T) {
	for _, name := range plan.BuiltinNames() {
		for _, speed := range speeds {
			for _, hosts := range []int{2, 8, 40} {
				for _, budget := range []units.Nanos{30, 300, 3600} {
					t.Run(fmt.Sprintf("%s/%s/%d/%ds", name, speed.Name, hosts, budget), func(t *testing.T) {
						p, err := plan.Builtin(name)
						if err != nil {
							t.Fatal(err)
						}
						p.Limits.Path, p.Budget = speed.Path, budget*units.Second
						checkFits(t, mustSchedule(t, p, hosts))
					})
				}
			}
		}
	}
}

func checkFits(t *testing.T, s *plan.Schedule) {
	t.Helper()
	f := s.Estimate()
	if all := f.Round * units.Nanos(s.Rounds); all > s.Plan.Budget && s.Rounds > 1 {
		t.Errorf("%d rounds of %v: more than the budget of %v", s.Rounds, f.Round.Seconds(), s.Plan.Budget.Seconds())
	}
	fewer := len(s.Left) > 0
	for _, e := range f.ByExp {
		fewer = fewer || e.Points < e.Whole
	}
	if s.Rounds < s.Plan.Rounds.Min && !fewer {
		t.Errorf("%d rounds, and nothing is said to be left out", s.Rounds)
	}
	var have []string
	for _, e := range f.ByExp {
		have = append(have, e.Name)
	}
	for _, name := range []string{names.Clock, names.Pingpong, names.Paired} {
		if !slices.Contains(have, name) {
			t.Errorf("%s is left out: have %v", name, have)
		}
	}
	for _, name := range s.Left {
		if slices.Contains(have, name) {
			t.Errorf("%s is measured, and said to be left out", name)
		}
	}
}

// TestUnknownPathChangesNothing: without a look at the network a budget makes no plan thinner.
func TestUnknownPathChangesNothing(t *testing.T) {
	p, err := plan.Builtin(plan.Standard)
	if err != nil {
		t.Fatal(err)
	}
	whole := mustSchedule(t, p, 8)
	p.Budget = units.Second
	if s := mustSchedule(t, p, 8); s.Points() != whole.Points() || len(s.Left) != 0 || s.Rounds != p.Rounds.Min {
		t.Errorf("%d points instead of %d, left %v", s.Points(), whole.Points(), s.Left)
	}
}

// TestSideBySide: where pairs do not disturb each other, a round of ping-pongs is one slot.
func TestSideBySide(t *testing.T) {
	p := plan.Plan{Name: "test", Experiments: []string{names.Pingpong}, Rounds: plan.Rounds{Min: 6, Max: 6}, Permute: true,
		Seed: 1}
	p.Limits.Path = bench.Path{Latency: 20_000, PerByte: 1, Together: true, Slot: 1000}
	for hosts, want := range map[int]int{2: 1, 8: 1, 9: 2, 100: 1} {
		s := mustSchedule(t, p, hosts)
		if n := len(s.Round(0, nil)); n != want {
			t.Errorf("%d hosts: %d slots, want %d", hosts, n, want)
		}
	}
	p.Limits.Path.Together = false
	if n := len(mustSchedule(t, p, 8).Round(0, nil)); n != 4 {
		t.Errorf("on a shared medium: %d slots, want one for each pair", n)
	}
}

// TestTrainsKeepWhatModelsNeed: prtt keeps a size above a packet, which G is read from, and all points of 1 B, which L
// is read from, or it is left out as a whole.
func TestTrainsKeepWhatModelsNeed(t *testing.T) {
	shared := bench.Path{Latency: 2 * units.Millisecond, PerByte: 1460, Slot: 16 * units.Millisecond}
	for name, c := range map[string]struct {
		hosts  int
		path   bench.Path
		budget units.Nanos // seconds
		change func(*plan.Plan)
	}{
		"shared medium of 5 Mbit/s, 3 min":         {hosts: 8, path: shared, budget: 180},
		"shared medium of 5 Mbit/s, 2 hosts, 90 s": {hosts: 2, path: shared, budget: 90},
		"shared medium of 5 Mbit/s, 4 hosts, 60 s": {hosts: 4, path: shared, budget: 60},
		"switch of 30 Mbit/s, 2 min": {hosts: 8,
			path:   bench.Path{Latency: 400 * units.Microsecond, PerByte: 250, Together: true, Slot: 5 * units.Millisecond},
			budget: 120},
		"shared medium of 5 Mbit/s, 12 min, targets": {hosts: 8, path: shared, budget: 720, change: func(p *plan.Plan) {
			p.Experiments, p.Chosen = []string{names.Clock, names.Pingpong, names.Paired, names.PRTT}, true
		}},
	} {
		p, err := plan.Builtin(plan.Standard)
		if err != nil {
			t.Fatal(err)
		}
		p.Limits.Path, p.Budget = c.path, c.budget*units.Second
		if c.change != nil {
			c.change(&p)
		}
		s := mustSchedule(t, p, c.hosts)
		checkFits(t, s)
		most, within, least, pairs := int64(0), int64(0), map[string]bool{}, map[int64]bool{}
		for r := range s.Rounds {
			for _, slot := range s.Round(r, nil) {
				for _, point := range slot.Points {
					if slot.Exp == names.Paired && point[names.FactorBytes] <= 1 {
						pairs[point[names.FactorPairs]] = true
					}
					if slot.Exp != names.PRTT {
						continue
					}
					if most = max(most, point[names.FactorBytes]); point[names.FactorBytes] <= int64(bench.EthernetSegment) {
						within = max(within, point[names.FactorBytes])
					}
					if point[names.FactorBytes] == 1 {
						least[point.Key()] = true
					}
				}
			}
		}
		left := slices.Contains(s.Left, names.PRTT)
		if !left && (most <= int64(bench.EthernetSegment) || within < 1400 || len(least) != 4) {
			t.Errorf("%s: prtt left out: %t; messages to %d B, within a packet to %d B, and of 1 B %v", name, left, most, within,
				least)
		}
		if want := min(3, c.hosts/2); len(pairs) < want {
			t.Errorf("%s: pairs %v at once, want %d numbers: with two nothing checks a line", name,
				slices.Sorted(maps.Keys(pairs)), want)
		}
	}
}

// TestLongPointsInSomeRounds: where the budget has no room for streams in every round, some of the least rounds have
// each, not all in the same one, and a run that takes longer than expected still measures all that is planned.
func TestLongPointsInSomeRounds(t *testing.T) {
	p, err := plan.Builtin(plan.Standard)
	if err != nil {
		t.Fatal(err)
	}
	p.Limits.Path = bench.Path{Latency: 2500 * units.Microsecond, PerByte: 1420, Slot: 60 * units.Millisecond}
	p.Limits.Segment, p.Budget = bench.EthernetSegment, 30*units.Second
	s := mustSchedule(t, p, 8)
	checkFits(t, s)
	pacer, spent, planned := plan.NewPace(s), units.Nanos(0), 0
	in, most := map[string]int{}, 0
	for r := range s.Rounds {
		all := s.Round(r, nil)
		planned += len(all)
		slots := pacer.Begin(r, all, spent)
		if len(slots) != len(all) {
			t.Errorf("round %d: %d of %d slots", r, len(slots), len(all))
		}
		streams := 0
		for _, slot := range slots {
			if !pacer.Fits(slot, spent) {
				t.Errorf("round %d: no time for a slot of %s", r, slot.Exp)
			}
			took := pacer.Expect(slot) * 102 / 100
			pacer.Took(slot, took)
			spent += took
			for _, point := range slot.Points {
				if point[names.FactorStream] != 0 {
					in[point.Key()]++
					streams++
				}
			}
		}
		most = max(most, streams)
	}
	if len(in) < 2 || planned != s.Planned() || spent > p.Budget {
		t.Errorf("streams in rounds: %v, %d slots of %d planned, %.1f s", in, planned, s.Planned(), spent.Seconds())
	}
	for key, n := range in {
		if n < 1 || n > 3 {
			t.Errorf("stream %s: in %d of %d rounds", key, n, s.Rounds)
		}
	}
	if most > 2 {
		t.Errorf("a round has %d streams", most)
	}
}

// TestFewRoundsKeepTheirEffort: a plan that allows few rounds has room for long ones, and is not made lighter for many.
func TestFewRoundsKeepTheirEffort(t *testing.T) {
	p := plan.Plan{Name: "test", Experiments: []string{names.Pingpong}, Rounds: plan.Rounds{Min: 3, Max: 3}, Seed: 1,
		Budget: 20 * units.Second}
	p.Limits.Path, p.Limits.Effort, p.Limits.MaxBytes = bench.Path{Latency: 5_000_000, PerByte: 1000, Slot: 1000}, 2, 1000
	for limit, lighter := range map[int]bool{3: false, 30: true} {
		p.Rounds.Max = limit
		s := mustSchedule(t, p, 2)
		if e := s.Round(0, nil)[0].Effort; (e < 2) != lighter || e == 0 {
			t.Errorf("at most %d rounds: effort %g", limit, e)
		}
	}
}
