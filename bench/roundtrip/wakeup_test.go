package roundtrip

import (
	"errors"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/transport/sim"
)

// placed is a rank on a shared machine or not, that may keep its CPUs awake or not.
type placed struct {
	bench.Group
	place  plane.Place
	sleepy bool
}

func (g placed) Place() plane.Place     { return g.place }
func (g placed) Machine() plane.Machine { return sleeping{g.Group.Machine(), g.sleepy} }

type sleeping struct {
	plane.Machine
	sleepy bool
}

func (m sleeping) StayAwake() (func(), error) {
	if m.sleepy {
		return nil, errors.New("not allowed")
	}
	return m.Machine.StayAwake()
}

func medians(t *testing.T, wrap func(bench.Group) bench.Group) map[string]float64 {
	t.Helper()
	net := sim.New(benchtest.Spec(2), sim.Options{Cost: sim.Cost{Wake: 4000, Now: 10}})
	out := map[string]float64{}
	for _, line := range benchtest.MustRun(t, Wakeup, net, bench.Slot{Teams: [][]int{{0, 1}},
		Points: Wakeup.Design(bench.Limits{Hosts: 2})}, 1, wrap)[0] {
		out[line.Phase] = benchtest.Median(line.NS)
	}
	return out
}

// What blocking takes more than polling is the wake-up.
func TestWakeup(t *testing.T) {
	got := medians(t, nil)
	if d := got[names.PhaseBlocking] - got[names.PhasePolling]; d < 3990 || d > 4010 {
		t.Errorf("blocking less polling is %g ns, want 4000 (%v)", d, got)
	}
	for _, phase := range []string{names.PhaseIdle, names.PhaseIdleAwake} {
		if d := got[phase] - got[names.PhaseBlocking]; d < -10 || d > 10 {
			t.Errorf("%s: %g ns more than blocking on hosts that do not sleep", phase, d)
		}
	}
}

// Ranks poll only where each has a CPU of its own, and hold CPUs awake only where both may.
func TestWakeupPhases(t *testing.T) {
	for _, c := range []struct {
		name          string
		a, b          plane.Place
		sleepy        bool
		polls, awakes bool
	}{
		{"own machines", plane.Place{CPU: -1}, plane.Place{CPU: -1}, false, true, true},
		{"one machine", plane.Place{Crowded: true, CPU: -1}, plane.Place{Crowded: true, CPU: -1}, true, false, false},
		{"one machine, two CPUs", plane.Place{Crowded: true, CPU: 0}, plane.Place{Crowded: true, CPU: 1}, false, true, true},
		{"one CPU", plane.Place{Crowded: true, CPU: 1}, plane.Place{Crowded: true, CPU: 1}, false, false, true},
		{"one of two is pinned", plane.Place{Crowded: true, CPU: 0}, plane.Place{Crowded: true, CPU: -1}, false, false, true},
	} {
		got := medians(t, func(g bench.Group) bench.Group {
			if g.Rank() == 0 {
				return placed{g, c.a, false}
			}
			return placed{g, c.b, c.sleepy}
		})
		_, polls := got[names.PhasePolling]
		_, awakes := got[names.PhaseIdleAwake]
		if polls != c.polls || awakes != c.awakes || got[names.PhaseBlocking] == 0 || got[names.PhaseIdle] == 0 {
			t.Errorf("%s: %v; want polling %t, awake %t", c.name, got, c.polls, c.awakes)
		}
	}
}
