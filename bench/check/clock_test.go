package check

import (
	"math"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/needs"
	"calib/internal/units"
	"calib/transport/sim"
)

func clockLines(t *testing.T, n *sim.Net, teams [][]int, hosts int64) []dataset.Sample {
	t.Helper()
	var all []dataset.Sample
	for _, lines := range benchtest.MustRun(t, Clock, n,
		bench.Slot{Teams: teams, Points: []bench.Point{{names.FactorHosts: hosts}}}, 1, nil) {
		all = append(all, lines...)
	}
	return all
}

// A reading that takes 37 ns costs 37 ns; a clock of 64 ns steps by 64 ns.
func TestClockCost(t *testing.T) {
	n := sim.New(benchtest.Spec(3), sim.Options{Cost: sim.Cost{Now: 37}, ClockOffset: units.Second, ClockStep: 64})
	lines := clockLines(t, n, [][]int{{0}, {1}, {2}}, 1)
	if len(lines) != 6 {
		t.Fatalf("%d lines for 3 hosts, want 6", len(lines))
	}
	for i, line := range lines {
		if line.Ranks[0] != i/2 || len(line.NS) == 0 {
			t.Fatalf("line %d: ranks %v, %d times", i, line.Ranks, len(line.NS))
		}
		for _, ns := range line.NS {
			switch line.Phase {
			case names.PhaseCost:
				if got := float64(ns) / line.Aux[names.AuxCalls]; math.Abs(got-37) > 0.1 {
					t.Errorf("a reading costs %g ns, want 37", got)
				}
			case names.PhaseStep:
				if ns != 64 {
					t.Errorf("a step of %d ns, want 64", ns)
				}
			}
		}
	}
}

// A clock that stands still while it is read ends the experiment all the same.
func TestClockThatStands(t *testing.T) {
	lines := clockLines(t, sim.New(benchtest.Spec(1), sim.Options{}), [][]int{{0}}, 1)
	if len(lines) != 2 || len(lines[1].NS) != 0 {
		t.Errorf("got %+v, want a step line without times", lines)
	}
}

// The offset found is the true one to within its bound, before and after, and so is the drift.
func TestClockOffset(t *testing.T) {
	s := benchtest.Spec(3)
	n := sim.New(s, sim.Options{
		ClockOffset: 3 * units.Second, ClockDrift: 80, Seed: 2, Noise: sim.Noise{Delay: 2 * units.Microsecond},
	})
	zero, zeroPPM := n.Clock(0)
	for _, pair := range [][]int{{0, 1}, {0, 2}} {
		lines := clockLines(t, n, [][]int{pair}, 2)
		if len(lines) != 1 || lines[0].Phase != names.PhaseOffset || len(lines[0].NS) != 2 {
			t.Fatalf("got %+v, want one offset line with two times", lines)
		}
		offset, ppm := n.Clock(pair[1])
		bound := lines[0].Aux[names.AuxBound]
		for _, ns := range lines[0].NS {
			// Up to a second of virtual time has passed: allow for what the drift has made of it.
			if got := float64(ns) - float64(offset-zero); math.Abs(got) > bound+math.Abs(ppm-zeroPPM)*1e3 {
				t.Errorf("pair %v: offset off by %g ns, bound %g", pair, got, bound)
			}
		}
		// The pause lies between the two.
		want := (ppm - zeroPPM) * float64(pause) / 1e6
		if got := float64(lines[0].NS[1] - lines[0].NS[0]); math.Abs(got-want) > 2*bound+0.2*math.Abs(want) {
			t.Errorf("pair %v: the offset moves by %g ns, want %g within %g", pair, got, want, 2*bound)
		}
	}
}

func TestClockTeams(t *testing.T) {
	for hosts, want := range map[int][2]int{1: {1, 0}, 2: {1, 1}, 5: {1, 4}} {
		l := bench.Limits{Hosts: hosts}
		for i, p := range Clock.Design(l) {
			if got := len(Clock.Teams(l, p)); got != want[i] {
				t.Errorf("%d hosts, %v: %d steps, want %d", hosts, p, got, want[i])
			}
		}
	}
}

func TestTimedSectionsDoNotAllocate(t *testing.T) {
	needs.Allocations(t)
	err := sim.New(benchtest.Spec(2), sim.Options{Cost: sim.Cost{Now: 10}}).Run([]int{0}, func(_ int, g *sim.Group) error {
		ns, x := make([]int64, 10), bench.Team{Group: g}
		if n := testing.AllocsPerRun(20, func() {
			readBlocks(x, ns)
			readSteps(x, ns)
		}); n != 0 {
			t.Errorf("a batch of readings allocates %g times", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Where a round trip takes 200 ms, a comparison of clocks has fewer of them, and takes as long as its cost says.
func TestClockOnLongPath(t *testing.T) {
	s := benchtest.Spec(2)
	s.L = 0.1
	path := bench.Path{Latency: 100 * units.Millisecond, PerByte: 1}
	points := []bench.Point{{names.FactorHosts: 2}}
	var took units.Nanos
	err := benchtest.Net(s).Run([]int{0, 1}, func(rank int, g *sim.Group) error {
		from := g.Now()
		lines, err := bench.Perform(t.Context(), Clock, g,
			bench.Task{Exp: names.Clock, Team: []int{0, 1}, Rank: rank, Points: points}, nil)
		if rank == 0 {
			took = g.Now() - from
			if len(lines) != 1 {
				t.Errorf("got %+v, want one line of a steady offset", lines)
			}
		}
		return err
	})
	want := pause + path.Synchronising(2) + 2*units.Nanos(float64(path.SyncBytes())*path.PerByte)
	if err != nil || math.Abs(float64(took-want)) > 0.1*float64(want) || took > 3*units.Second {
		t.Errorf("it took %v, the cost says %v; %v", took, want, err)
	}
}
