package check

import (
	"errors"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset/names"
	"calib/internal/plane"
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

func (g narrow) Route(int) (plane.Route, error) { return plane.Route{Device: 7, MTU: 1400}, nil }

// What does not pass is in the lines of both ranks, and no error: small packets and connections are known to pass.
func TestTellsWhatPasses(t *testing.T) {
	for _, c := range []struct {
		name             string
		whole, datagrams bool
		flagged          bool
		arrived          float64
	}{
		{"all", true, true, false, datagrams}, {"no whole packets", false, true, true, 0}, {"no datagrams", true, false, false, 0},
	} {
		e := Experiment{}
		l := bench.Limits{Hosts: 2}
		slot := bench.Slot{Teams: e.Teams(l, nil)[0], Points: e.Design(l)}
		got := benchtest.MustRun(t, e, benchtest.Net(benchtest.Spec(2)), slot, 1, func(g bench.Group) bench.Group {
			return narrow{g, c.whole, c.datagrams}
		})[0]
		if len(got) != 2 {
			t.Fatalf("%s: %d lines", c.name, len(got))
		}
		for _, s := range got {
			if flagged := len(s.Flags) > 0; flagged != c.flagged || len(s.NS) != trips || s.Aux[names.AuxReceived] != c.arrived {
				t.Errorf("%s: %+v", c.name, s)
			}
			if s.Aux[names.AuxDevice] != 7 || s.Aux[names.AuxPathMTU] != 1400 {
				t.Errorf("%s: the way is %v", c.name, s.Aux)
			}
		}
	}
}
