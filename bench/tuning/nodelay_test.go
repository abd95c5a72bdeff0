package tuning

import (
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset/names"
	"calib/internal/units"
	"calib/transport/sim"
)

// With Nagle a message in two writes waits for a delayed acknowledgement; without it, or in one write of one segment,
// it does not. A batch that stalls ends early.
func TestNoDelay(t *testing.T) {
	const delay = 40 * units.Millisecond
	s := benchtest.Spec(2)
	n := sim.New(s, sim.Options{DelayedAck: delay, Cost: sim.Cost{Send: 300, Recv: 400, Now: 25}})
	stalls := map[string]bool{}
	for _, l := range benchtest.MustRun(t, NoDelay, n,
		bench.Slot{Teams: [][]int{{0, 1}}, Points: NoDelay.Design(bench.Limits{Hosts: 2})}, 1, nil)[0] {
		want := float64(nodelayBytes(l.Point, int64(s.MSS)))
		if l.Aux[names.AuxBytes] != want {
			t.Errorf("%s: %v, want %g bytes", l.Point.Key(), l.Aux, want)
		}
		stalled := benchtest.Median(l.NS) > float64(delay)/2
		stalls[l.Point.Key()] = stalled
		if stalled && len(l.NS) > 2*4 {
			t.Errorf("%s: %d repetitions of a stall", l.Point.Key(), len(l.NS))
		}
		if stalled && l.Point[names.FactorNagle] == 0 {
			t.Errorf("%s stalls without Nagle", l.Point.Key())
		}
	}
	for key, want := range map[string]bool{
		"nagle=1,offset=100,segments=0,writes=1": false,
		"nagle=1,offset=100,segments=0,writes=2": true,
		"nagle=0,offset=100,segments=0,writes=2": false,
		"nagle=1,offset=1,segments=1,writes=1":   true,
		"nagle=1,offset=0,segments=1,writes=1":   false,
	} {
		if got, ok := stalls[key]; got != want || !ok {
			t.Errorf("%s: stalls %t, measured %t; want %t", key, got, ok, want)
		}
	}
}

func TestNoDelayDesign(t *testing.T) {
	for _, l := range []bench.Limits{{Hosts: 2}, {Hosts: 2, Sizes: []units.Bytes{1, 2, 70_000}},
		{Hosts: 2, MaxBytes: 1000}} {
		for _, p := range NoDelay.Design(l) {
			size := nodelayBytes(p, int64(bench.EthernetSegment))
			if size < p[names.FactorWrites] || l.MaxBytes > 0 && size > int64(l.MaxBytes) {
				t.Errorf("%+v: point %s has %d bytes", l, p.Key(), size)
			}
		}
	}
}
