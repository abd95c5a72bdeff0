package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/bench"
)

// fakeExp is an experiment of given points that never runs; teams and cost are by the point's factors.
type fakeExp struct {
	name   string
	points []bench.Point
	teams  func(bench.Limits, bench.Point) []bench.Step
	cost   bench.Cost
}

func made(fakes ...fakeExp) (out []*bench.Experiment) {
	for _, f := range fakes {
		out = append(out, &bench.Experiment{
			Name: f.name, Alone: true, Points: func(bench.Limits) []bench.Point { return f.points }, Steps: f.teams,
			Cost: func(bench.Limits, bench.Point) bench.Cost { return f.cost },
		})
	}
	return out
}

func sizePoints(sizes ...int64) (out []bench.Point) {
	for _, x := range sizes {
		out = append(out, bench.Point{"bytes": x})
	}
	return out
}

// halves are two steps of two hosts each, for up to four hosts.
func halves(bench.Limits, bench.Point) []bench.Step {
	return []bench.Step{{{0, 1}, {2, 3}}, {{0, 2}, {1, 3}}}
}

func everyone(l bench.Limits, _ bench.Point) []bench.Step {
	team := make([]int, l.Hosts)
	for i := range team {
		team[i] = i
	}
	return []bench.Step{{team}}
}

// firstHosts runs a point on as many hosts as it says.
func firstHosts(_ bench.Limits, p bench.Point) []bench.Step {
	return everyone(bench.Limits{Hosts: int(p["hosts"])}, nil)
}

func fakes() []*bench.Experiment {
	return made(
		fakeExp{name: "pairs", points: sizePoints(1, 64, 1024), teams: halves, cost: bench.Cost{Bytes: 1000, Time: 508_500}},
		fakeExp{name: "all", points: sizePoints(1, 64), teams: everyone, cost: bench.Cost{Bytes: 500, Time: 54_250}},
		fakeExp{name: "some", points: []bench.Point{{"hosts": 2}, {"hosts": 3}, {"hosts": 2, "x": 1}}, teams: firstHosts},
	)
}

func testPlan() Plan { return Plan{Name: "test", Rounds: Rounds{Min: 6, Max: 20}, Seed: 7} }

func mustSchedule(t testing.TB, p Plan, hosts int, exps []*bench.Experiment) *Schedule {
	t.Helper()
	s, err := New(p, hosts, exps)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// contents lists what a round measures, without its order.
func contents(slots []bench.Slot) []string {
	var out []string
	for _, s := range slots {
		for _, p := range s.Points {
			for _, team := range s.Teams {
				out = append(out, fmt.Sprintf("%s %v %s", s.Exp, team, p.Key()))
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestScheduleRound(t *testing.T) {
	s := mustSchedule(t, testPlan(), 4, fakes())
	if s.Slots() != 5 || s.Points() != 3*2+2+3 {
		t.Errorf("%d slots and %d points a round, want 5 and 11", s.Slots(), s.Points())
	}
	first := s.Round(0, nil)
	for r := range 20 {
		round := s.Round(r, nil)
		if d := cmp.Diff(contents(first), contents(round)); d != "" {
			t.Fatalf("round %d measures something else (-0 +%d):\n%s", r, r, d)
		}
		for k, slot := range round {
			if slot.ID != r*5+k || slot.Round != r {
				t.Errorf("round %d: slot %d has number %d of round %d", r, k, slot.ID, slot.Round)
			}
			if got := s.Exps(r)[k]; got != slot.Exp {
				t.Errorf("slot %d is of %s, want %s", slot.ID, got, slot.Exp)
			}
		}
		if d := cmp.Diff(round, s.Round(r, nil)); d != "" {
			t.Errorf("round %d is not the same twice:\n%s", r, d)
		}
	}
	want := []string{
		"all [0 1 2 3] bytes=1", "all [0 1 2 3] bytes=64",
		"pairs [0 1] bytes=1", "pairs [0 1] bytes=1024", "pairs [0 1] bytes=64",
		"pairs [0 2] bytes=1", "pairs [0 2] bytes=1024", "pairs [0 2] bytes=64",
		"pairs [1 3] bytes=1", "pairs [1 3] bytes=1024", "pairs [1 3] bytes=64",
		"pairs [2 3] bytes=1", "pairs [2 3] bytes=1024", "pairs [2 3] bytes=64",
		"some [0 1 2] hosts=3", "some [0 1] hosts=2", "some [0 1] hosts=2,x=1",
	}
	if d := cmp.Diff(want, contents(first)); d != "" {
		t.Errorf("a round measures (-want +got):\n%s", d)
	}
	if s.Round(-1, nil) != nil || s.Round(20, nil) != nil {
		t.Error("rounds outside the plan have slots")
	}
}

// TestScheduleShuffles: over many rounds every slot is first about equally often, and so is every point of a slot.
func TestScheduleShuffles(t *testing.T) {
	p := testPlan()
	p.Rounds.Max = 2000
	s := mustSchedule(t, p, 4, fakes())
	slot, point := map[string]int{}, map[string]int{}
	for r := range p.Rounds.Max {
		round := s.Round(r, nil)
		slot[fmt.Sprint(round[0].Exp, round[0].Teams)]++
		for _, x := range round {
			if x.Exp == "pairs" && x.Teams[0][1] == 1 {
				point[x.Points[0].Key()]++
			}
		}
	}
	check := func(what string, n map[string]int, of int) {
		for k, v := range n {
			if len(n) != of || v < 1800/of || v > 2200/of {
				t.Errorf("%s %s comes first %d times of 2000, want about %d of %d", what, k, v, 2000/of, of)
			}
		}
	}
	check("slot", slot, 5)
	check("point", point, 3)
	other := p
	other.Seed++
	if cmp.Equal(s.Round(0, nil), mustSchedule(t, other, 4, fakes()).Round(0, nil)) {
		t.Error("another seed gives the same order")
	}
}

func TestScheduleClosed(t *testing.T) {
	s := mustSchedule(t, testPlan(), 4, fakes())
	full := s.Round(3, nil)
	var got []string
	slots := s.Round(3, func(exp string, team []int) bool { return exp == "pairs" && team[0] == 0 })
	for _, x := range slots {
		got = append(got, fmt.Sprintf("%s %v %d", x.Exp, x.Teams, len(x.Points)))
		i := slices.IndexFunc(full, func(f bench.Slot) bool { return f.ID == x.ID })
		if i < 0 || full[i].Exp != x.Exp || x.Teams[0][1] == 1 && !slices.Equal(full[i].Teams[0], x.Teams[0]) {
			t.Errorf("slot %d changed its number: %+v", x.ID, x)
		}
	}
	slices.Sort(got)
	if want := []string{"pairs [[0 1]] 3", "pairs [[0 2]] 3"}; !slices.Equal(got, want) {
		t.Errorf("left: %v, want %v", got, want)
	}
	if d := cmp.Diff(full, s.Round(3, nil)); d != "" {
		t.Errorf("leaving out changed the schedule:\n%s", d)
	}
	if none := s.Round(3, func(string, []int) bool { return false }); len(none) != 0 {
		t.Errorf("nothing open, got %v", none)
	}
}

func TestScheduleIsolate(t *testing.T) {
	p := testPlan()
	p.Isolate = true
	s := mustSchedule(t, p, 4, fakes())
	round := s.Round(0, nil)
	for _, x := range round {
		if len(x.Teams) != 1 {
			t.Errorf("slot %d has teams %v", x.ID, x.Teams)
		}
	}
	p.Isolate = false
	if d := cmp.Diff(contents(mustSchedule(t, p, 4, fakes()).Round(0, nil)), contents(round)); d != "" || len(round) != 7 {
		t.Errorf("isolated, a round of %d slots measures something else:\n%s", len(round), d)
	}
}

func TestScheduleChosen(t *testing.T) {
	p := testPlan()
	p.Experiments = []string{"all", "pairs"}
	exps := append(fakes(), made(fakeExp{name: "idle"})...)
	s := mustSchedule(t, p, 4, exps)
	for _, x := range s.Round(0, nil) {
		if x.Exp == "some" {
			t.Error("an experiment that was not asked for")
		}
	}
	p.Experiments, p.Chosen = []string{"idle", "all"}, true
	if s := mustSchedule(t, p, 4, exps); s.Slots() != 1 || s.Round(0, nil)[0].Exp != "all" ||
		!slices.Equal(s.Empty, []string{"idle"}) {
		t.Errorf("an experiment without points beside all: %v, empty %v", s.Round(0, nil), s.Empty)
	}
	if s.Limits.Hosts != 4 || s.Limits.Seed != 7 {
		t.Errorf("limits %+v", s.Limits)
	}
}

func TestScheduleFaults(t *testing.T) {
	for _, c := range []struct {
		plan  Plan
		hosts int
		exps  []*bench.Experiment
		is    error
		want  string
	}{
		{testPlan(), 0, fakes(), ErrNothing, "on 0 host(s)"},
		{testPlan(), 1, made(fakeExp{name: "idle"}), ErrNothing, "on 1 host(s)"},
		{Plan{Name: "z", Rounds: Rounds{1, 1}, Experiments: []string{"pars"}}, 4, fakes(), ErrPlan,
			`plan "z": experiments: no experiment "pars" (have pairs, all, some)`},
	} {
		_, err := New(c.plan, c.hosts, c.exps)
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
