package check

import (
	"errors"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// narrow lets small messages pass only, or no datagrams; it knows its way.
type narrow struct {
	bench.Group
	whole, datagrams bool
}

func (g narrow) Recv(from int, b []byte) error {
	if !g.whole && len(b) > 1000 {
		return errors.New("timed out")
	}
	return g.Group.Recv(from, b)
}

func (g narrow) SendDatagram(to int, b []byte) error {
	if !g.datagrams {
		return errors.New("operation not permitted")
	}
	return g.Group.SendDatagram(to, b)
}

// slow is a rank that the machine keeps from sending for a while.
type slow struct{ bench.Group }

func (g slow) OpenDatagrams(within units.Nanos) error {
	if g.Rank() == 1 {
		return errors.Join(g.Group.OpenDatagrams(within), g.WaitUntil(g.Now()+2*patience))
	}
	return g.Group.OpenDatagrams(within)
}

// shut opens no datagrams.
type shut struct{ bench.Group }

func (shut) OpenDatagrams(units.Nanos) error { return errors.New("none passes") }

// Datagrams that were sent late are not lost, and where the ports have not been shown none was sent.
func TestCountsDatagramsThatWereSent(t *testing.T) {
	for want, wrap := range map[float64]func(bench.Group) bench.Group{
		datagrams: func(g bench.Group) bench.Group { return slow{g} },
		0:         func(g bench.Group) bench.Group { return shut{g} },
	} {
		e, l := Check, bench.Limits{Hosts: 2}
		slot := bench.Slot{Teams: e.Teams(l, nil)[0], Points: e.Design(l)}
		for _, s := range benchtest.MustRun(t, e, benchtest.Net(benchtest.Spec(2)), slot, 1, wrap)[0] {
			if s.Aux[names.AuxSent] != want || s.Aux[names.AuxReceived] != want {
				t.Errorf("ranks %v: sent %v, received %v, want %v", s.Ranks, s.Aux[names.AuxSent], s.Aux[names.AuxReceived], want)
			}
		}
	}
}

func (g narrow) Route(int) (plane.Route, error) { return plane.Route{Device: 7, MTU: 1400}, nil }

// What does not pass is in the lines of both ranks, and no error: small packets and connections are known to pass.
func TestTellsWhatPasses(t *testing.T) {
	for _, c := range []struct {
		name             string
		whole, datagrams bool
		flagged          bool
		arrived          float64
	}{
		{"all", true, true, false, datagrams}, {"no whole packets", false, true, true, 0},
		{"no datagrams", true, false, false, 0},
	} {
		e := Check
		l := bench.Limits{Hosts: 2}
		slot := bench.Slot{Teams: e.Teams(l, nil)[0], Points: e.Design(l)}
		got := benchtest.MustRun(t, e, benchtest.Net(benchtest.Spec(2)), slot, 1, func(g bench.Group) bench.Group {
			return narrow{g, c.whole, c.datagrams}
		})[0]
		if len(got) != 2 {
			t.Fatalf("%s: %d lines", c.name, len(got))
		}
		for _, s := range got {
			if flagged := len(s.Flags) > 0; flagged != c.flagged || len(s.NS) != checkTrips ||
				s.Aux[names.AuxReceived] != c.arrived {
				t.Errorf("%s: %+v", c.name, s)
			}
			if s.Aux[names.AuxDevice] != 7 || s.Aux[names.AuxPathMTU] != 1400 {
				t.Errorf("%s: the way is %v", c.name, s.Aux)
			}
		}
	}
}
