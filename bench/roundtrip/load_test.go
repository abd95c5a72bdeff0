package roundtrip

import (
	"math"
	"slices"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

// Half a round trip under load is the one-way truth with the costs of both calls: as alone on a switch, with the
// fabric's delay where there is one, and n times the medium's service where that is the bottleneck.
func TestLoadIsTheOneWayTruth(t *testing.T) {
	const send, recv, clock = 3000, 4000, 40
	switched := benchtest.Spec(8)
	switched.Mode = netspec.Switched
	fabric := switched
	fabric.Fabric = &netspec.Fabric{PerHost: 3 * benchtest.US, Tau: 0.01 * benchtest.US, Rate: 60e6}
	for _, tc := range []struct {
		name string
		spec netspec.Spec
	}{{"switch", switched}, {"fabric", fabric}, {"shared", benchtest.Spec(8)}} {
		n := sim.New(tc.spec, sim.Options{
			Seed: 2, ClockOffset: units.Second, ClockDrift: 20, Cost: sim.Cost{Send: send, Recv: recv, Now: clock},
		})
		for _, p := range Load.Design(bench.Limits{Hosts: 8, Seed: 1}) {
			m, pairs := int(p[names.FactorBytes]), int(p[names.FactorPairs])
			lines := benchtest.MustRun(t, Load, n, bench.Slot{Teams: Load.Teams(bench.Limits{}, p)[0], Points: []bench.Point{p}},
				1, nil)[0]
			lines = slices.DeleteFunc(lines, isOffset)
			if len(lines) != pairs {
				t.Fatalf("%s, %s: %d lines, want one a pair", tc.name, p.Key(), len(lines))
			}
			want := benchtest.OneWay(&tc.spec, 0, 1, m)*1e9 + send + recv + clock/2
			if f := tc.spec.Fabric; f != nil {
				want += f.Delay(m, 2*pairs, tc.spec.Service(tc.spec.Host, m)) * 1e9
			}
			if tc.spec.Mode == netspec.Shared {
				want = max(want, float64(pairs)*tc.spec.Service(tc.spec.Medium, m)*1e9)
			}
			for _, l := range lines {
				if l.Ranks[1] != l.Ranks[0]+1 || len(l.NS) < 8 || len(l.NS) > keptTrips {
					t.Errorf("%s, %s: a line of ranks %v, %v, %d times", tc.name, p.Key(), l.Ranks, l.Aux, len(l.NS))
				}
				if got := benchtest.Median(l.NS); math.Abs(got-want) > 1e-3*want {
					t.Errorf("%s, %s, ranks %v: %.0f ns, want %.0f", tc.name, p.Key(), l.Ranks, got, want)
				}
			}
		}
	}
}

func isOffset(l dataset.Sample) bool { return l.Exp != names.Load }

// Every pair is under way in the whole of the window, and as slow as in the trial the network may be, it holds eight
// round trips.
func TestLoadWindow(t *testing.T) {
	s, err := netspec.Preset("sparc1994", 8)
	if err != nil {
		t.Fatal(err)
	}
	s.Host.A, s.Host.B = 10*s.Host.A, 10*s.Host.B
	p := bench.Point{names.FactorBytes: 1401, names.FactorPairs: 4}
	slot := bench.Slot{Teams: Load.Teams(bench.Limits{}, p)[0], Points: []bench.Point{p}}
	for _, l := range benchtest.MustRun(t, Load, benchtest.Net(*s), slot, 0.1, nil)[0] {
		if !isOffset(l) && len(l.NS) < 8 {
			t.Errorf("ranks %v: %d round trips in the window, want at least 8", l.Ranks, len(l.NS))
		}
	}
}

func TestDrawEach(t *testing.T) {
	ns := make([]int64, 1003)
	for i := range ns {
		ns[i] = int64(i)
	}
	for _, most := range []int{1, 7, 100, 501, 502, 1003, 5000} {
		got := drawEach(ns, most, 17)
		if len(got) > most || len(got) < min(most, len(ns))/2 || !slices.IsSorted(got) {
			t.Errorf("%d of 1003, at most %d, in order %t", len(got), most, slices.IsSorted(got))
		}
		if !slices.Equal(got, drawEach(ns, most, 17)) {
			t.Error("two picks differ")
		}
	}
}
