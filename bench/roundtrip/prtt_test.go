package roundtrip

import (
	"math"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

// The identities that LogGP is read off hold to the nanosecond: the gap is that of the slowest server, spacing leaves
// o_s, delayed receives leave o_r. Single calls are timed with one reading of the clock.
func TestPRTTIdentities(t *testing.T) {
	costs := sim.Cost{Send: 3000, SendByte: 0.5, Recv: 4000, RecvByte: 0.25, Now: 40}
	for _, mode := range []string{netspec.Shared, netspec.Switched} {
		s := benchtest.Spec(2)
		s.Mode = mode
		for _, x := range []int{1, 40, 701, 1401, 5792, 16_384} {
			n := sim.New(s, sim.Options{Seed: 3, ClockOffset: units.Second, Cost: costs})
			form := func(p bench.Point) []dataset.Sample {
				p[names.FactorBytes] = int64(x)
				return benchtest.MustRun(t, PRTT, n, bench.Slot{Teams: [][]int{{0, 1}}, Points: []bench.Point{p}}, 1, nil)[0]
			}
			one := benchtest.Median(benchtest.Phase(t, form(bench.Point{names.FactorMessages: 1}), names.PhasePRTT).NS)
			per := func(p bench.Point, phase string) float64 {
				return (benchtest.Median(benchtest.Phase(t, form(p), phase).NS) - one) / (trainMessages - 1)
			}
			near := func(what string, got, want float64) {
				if math.Abs(got-want) > 1 {
					t.Errorf("%s, %d bytes: %s is %.2f ns, want %.2f", mode, x, what, got, want)
				}
			}
			gap := 0.0
			for rest := x; rest > 0; rest -= s.MSS {
				m := min(rest, s.MSS)
				gap += max(s.Service(s.Host, m), s.Service(s.Medium, m)) * 1e9
			}
			os, or := 3000+0.5*float64(x), 4000+0.25*float64(x)
			near("the gap", per(bench.Point{names.FactorMessages: trainMessages}, names.PhasePRTT), max(gap, os, or))
			near("o_s", per(bench.Point{names.FactorMessages: trainMessages, names.FactorSpaced: 1}, names.PhaseSpaced), os)
			near("o_r", per(bench.Point{names.FactorMessages: trainMessages, names.FactorDelayed: 1}, names.PhaseDelayed), or)
		}
	}
}

// The waits are those that were really waited: a host that oversleeps changes nothing.
func TestPRTTOversleeps(t *testing.T) {
	n := sim.New(benchtest.Spec(2), sim.Options{Cost: sim.Cost{Send: 3000, Recv: 4000, Now: 40}})
	var got [2][2]float64
	for i, p := range []bench.Point{{names.FactorSpaced: 1}, {names.FactorDelayed: 1}} {
		p[names.FactorBytes], p[names.FactorMessages] = 181, trainMessages
		for late := range 2 {
			lines := benchtest.MustRun(t, PRTT, n, bench.Slot{Teams: [][]int{{0, 1}}, Points: []bench.Point{p}}, 0.2,
				func(g bench.Group) bench.Group {
					return &sleepy{g, units.Nanos(late) * 50 * units.Microsecond}
				})[0]
			got[i][late] = benchtest.Median(lines[0].NS)
		}
		if math.Abs(got[i][0]-got[i][1]) > 1 {
			t.Errorf("%v: %.0f ns, and %.0f on a host that oversleeps", p, got[i][0], got[i][1])
		}
	}
}

type sleepy struct {
	bench.Group
	late units.Nanos
}

func (g *sleepy) WaitUntil(t units.Nanos) error { return g.Group.WaitUntil(t + g.late) }
