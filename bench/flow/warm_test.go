package flow

import (
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// cooling is a rank that takes a message later when it has waited for long, or has to acknowledge it first, since it
// has not answered the one before.
type cooling struct {
	bench.Group
	place plane.Place
	last  units.Nanos
	owes  int
}

const (
	cold  = 300 * units.Microsecond
	later = 25 * units.Microsecond
)

func (g *cooling) Place() plane.Place { return g.place }

func (g *cooling) Send(to int, b []byte) error {
	g.owes = 0
	return g.Group.Send(to, b)
}

func (g *cooling) Recv(from int, b []byte) error {
	err := g.Group.Recv(from, b)
	g.last = g.Now()
	g.owes++
	return err
}

func (g *cooling) RecvAt(from int, b []byte) (units.Nanos, error) {
	waited := g.last
	at, err := g.Group.RecvAt(from, b)
	if g.last = g.Now(); at-waited > cold || g.owes > 0 {
		at += later
	}
	g.owes++
	return at, err
}

// A burst is received by a host that is as warm as that of a ping-pong. On a crowded machine it is not.
func TestBurstsAreWarm(t *testing.T) {
	spec := benchtest.Spec(2)
	want := 1e9 * benchtest.OneWay(&spec, 0, 1, 1)
	for _, crowded := range []bool{false, true} {
		wrap := func(g bench.Group) bench.Group {
			return &cooling{Group: g, place: plane.Place{Crowded: crowded, CPU: -1}}
		}
		lines := benchtest.MustRun(t, Paired, benchtest.Net(spec), bench.Slot{Teams: [][]int{{0, 1}},
			Points: []bench.Point{{names.FactorPairs: 1, names.FactorBytes: 1}}}, 1, wrap)[0]
		for _, l := range lines {
			if l.Phase != names.PhaseBurst {
				continue
			}
			more := benchtest.Median(l.NS) - want
			if crowded != (more > float64(later)/2) {
				t.Errorf("crowded %t: a burst %v takes %.0f ns more than %.0f ns", crowded, l.Ranks, more, want)
			}
		}
	}
}
