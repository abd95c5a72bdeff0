package models

import (
	"slices"
	"testing"

	"calib/fit"
	"calib/fit/hyperbolic"
	"calib/params"
)

// Contention that is certain and small is no property of a switch, and more rounds would not decide anything.
func TestLittleContention(t *testing.T) {
	w := sparc()
	w.Medium.A, w.Within, w.Between, w.Rounds = w.Host.A/100, 0.005, 0.001, 8
	f := fitWith(t, hyperbolic.Network, w.Dataset(), 200)
	if q := f.Parameters["a_c"]; q.CI95 == nil || q.CI95[0] <= 0 {
		t.Fatalf("a_c %+v: want it to be certain", q)
	}
	if f.Network.Packets != params.Unknown || !notes(f.Findings, params.NetworkUnknown,
		"There is contention, but less than that") {
		t.Errorf("network %+v, findings %v", *f.Network, f.Findings)
	}
}

// Where an interval does not tell, the kind is not known, and the finding says what would tell.
func TestNetworkNotKnown(t *testing.T) {
	w := sparc()
	w.Switched, w.Between, w.Rounds = true, 0.15, 3
	f := fitWith(t, hyperbolic.Network, w.Dataset(), 200)
	if f.Network.Packets != params.Unknown || !notes(f.Findings, params.NetworkUnknown, "More rounds") {
		t.Errorf("network %+v, findings %v", *f.Network, f.Findings)
	}
	checkFit(t, hyperbolic.Network, f)
	w = sparc()
	w.Rounds = 1
	f = fitWith(t, hyperbolic.Network, w.Dataset(), 50)
	if f.Network.Packets != params.Unknown || !notes(f.Findings, params.NetworkUnknown, "One round has no interval") {
		t.Errorf("one round: network %+v, findings %v", *f.Network, f.Findings)
	}
}

// One slow pair of hosts that are not slow with others is left out, and does not pass for contention.
func TestNetworkSlowPair(t *testing.T) {
	w := sparc()
	w.Between = 0.002
	d := w.Dataset()
	for i := range d.Samples {
		if s := &d.Samples[i]; len(s.Ranks) == 2 && min(s.Ranks[0], s.Ranks[1]) == 2 && max(s.Ranks[0], s.Ranks[1]) == 3 &&
			s.Exp != "clock" {
			for k := range s.NS {
				s.NS[k] *= 3
			}
		}
	}
	slow := fit.Prepare(d, fit.Settings{}).Slow()
	if len(slow.Hosts) > 0 || len(slow.Pairs) != 1 || !slow.Pairs[[2]int{2, 3}] {
		t.Errorf("slow hosts %v, pairs %v", slow.Hosts, slow.Pairs)
	}
	f := fitWith(t, hyperbolic.Network, d, 200)
	if f.LeftOutWhy[fit.WhySlowHost] == 0 || !warns(f.Findings, "slow-pairs-cut", "") {
		t.Errorf("left out %v, findings %v", f.LeftOutWhy, f.Findings)
	}
	if !slices.ContainsFunc(f.Parameters["a_c"].Budget,
		func(q params.Term) bool { return q.Name == "slow pairs" && q.U > 0 }) {
		t.Errorf("a_c: %+v", f.Parameters["a_c"])
	}
}
