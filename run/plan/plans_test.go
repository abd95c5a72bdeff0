package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/bench"
	"calib/bench/experiments"
	"calib/internal/dataset/names"
	"calib/internal/units"
	"calib/run/plan"
)

func TestBuiltinPlans(t *testing.T) {
	for _, name := range plan.BuiltinNames() {
		p, err := plan.Load(name)
		if err != nil || p.Name != name {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		if err := p.Validate(experiments.All); err != nil {
			t.Error(err)
		}
		if p.Rounds.Min < 6 || p.Budget == 0 {
			t.Errorf("%s: %+v: want six rounds for an interval, and a budget", name, p)
		}
		for _, hosts := range []int{2, 3, 8} {
			if _, err := plan.New(p, hosts, experiments.All); err != nil {
				t.Errorf("%s on %d hosts: %v", name, hosts, err)
			}
		}
	}
	_, err := plan.Builtin("fast")
	if !errors.Is(err, plan.ErrPlan) || !strings.Contains(err.Error(), "quick, standard, full") {
		t.Errorf("got %v, want the names there are", err)
	}
}

func TestExamplePlan(t *testing.T) {
	p, err := plan.Load("../../examples/plan.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := plan.Plan{
		Name: "rack-east", Experiments: []string{names.Clock, names.Pingpong, names.Paired}, Chosen: true,
		Limits: bench.Limits{
			Sizes: []units.Bytes{1, 64, 1024, 2048, 4096, 8192, 16384, 32768, 65536}, MaxBytes: units.MiB, Effort: 1,
		},
		Rounds: plan.Rounds{Min: 6}, Target: 0.02, Budget: 300 * units.Second, Permute: true, Seed: 1,
	}
	if d := cmp.Diff(want, p); d != "" {
		t.Errorf("examples/plan.yaml (-want +got):\n%s", d)
	}
	if err := p.Validate(experiments.All); err != nil {
		t.Error(err)
	}
}

// TestEstimatePlans: the built-in plans say what they promise, on a gigabit network.
func TestEstimatePlans(t *testing.T) {
	p, err := plan.Builtin(plan.Quick)
	if err != nil {
		t.Fatal(err)
	}
	f := mustSchedule(t, p, 4).Estimate()
	if f.Max > 60*units.Second || f.Round > p.Budget || f.LinkBytes <= 0 || f.Round <= 0 {
		t.Errorf("quick on 4 hosts: %+v, want under a minute and a whole round within the budget", f)
	}
}

// TestScheduleAllPairs: 256 hosts, every pair once, in 255 slots in which no host is twice.
func TestScheduleAllPairs(t *testing.T) {
	for _, c := range []struct{ hosts, slots int }{{2, 1}, {5, 5}, {256, 255}} {
		p := plan.Plan{Name: "test", Rounds: plan.Rounds{Min: 6, Max: 20}, Seed: 7}
		p.Experiments, p.Limits.Pairs, p.Limits.Sizes = []string{names.Pingpong}, bench.AllPairs, []units.Bytes{1, 1024}
		s := mustSchedule(t, p, c.hosts)
		round := s.Round(0, nil)
		if len(round) != c.slots {
			t.Errorf("%d hosts: %d slots, want %d", c.hosts, len(round), c.slots)
		}
		pairs := map[[2]int]bool{}
		for _, slot := range round {
			busy := make([]bool, c.hosts)
			for _, team := range slot.Teams {
				for _, h := range team {
					if busy[h] {
						t.Fatalf("slot %d: host %d is in it twice", slot.ID, h)
					}
					busy[h] = true
				}
				pairs[[2]int{min(team[0], team[1]), max(team[0], team[1])}] = true
			}
			if len(slot.Points) != 2 {
				t.Errorf("slot %d: %d points, want both sizes in it", slot.ID, len(slot.Points))
			}
		}
		if want := c.hosts * (c.hosts - 1) / 2; len(pairs) != want {
			t.Errorf("%d hosts: %d pairs, want %d", c.hosts, len(pairs), want)
		}
	}
}

func mustSchedule(t *testing.T, p plan.Plan, hosts int) *plan.Schedule {
	t.Helper()
	s, err := plan.New(p, hosts, experiments.All)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPatterns: a pattern that there is not is named, with those that there are.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		patterns []string
		want     string
	}{
		{nil, ""},
		{[]string{"bcast-binary", "mg-overlap"}, ""},
		{[]string{"bcast"}, `patterns: no pattern "bcast" (have p2p-direct, bcast-serial`},
		{[]string{"dd-exchange", "dd-exchange"}, `patterns: "dd-exchange" is listed twice`},
	} {
		p := plan.Plan{Name: "x", Rounds: plan.Rounds{Min: 1, Max: 1}, Limits: bench.Limits{Patterns: c.patterns}}
		err := p.Validate(experiments.All)
		if errors.Is(err, plan.ErrPlan) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.patterns, err, c.want)
		}
	}
}
