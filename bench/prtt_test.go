package bench

import (
	"math"
	"testing"

	"calib/internal/dataset"
	"calib/internal/netspec"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/transport/sim"
)

// phaseOf returns the one line of a phase.
func phaseOf(t *testing.T, lines []dataset.Sample, phase string) dataset.Sample {
	t.Helper()
	var out []dataset.Sample
	for _, l := range lines {
		if l.Phase == phase {
			out = append(out, l)
		}
	}
	if len(out) != 1 {
		t.Fatalf("%d lines of phase %q, want 1", len(out), phase)
	}
	return out[0]
}

// The identities that LogGP is read off hold to the nanosecond: the gap is that of the slowest server, spacing leaves o_s,
// delayed receives leave o_r. Single calls are timed with one reading of the clock.
func TestPRTTIdentities(t *testing.T) {
	costs := sim.Cost{Send: 3000, SendByte: 0.5, Recv: 4000, RecvByte: 0.25, Now: 40}
	for _, mode := range []string{netspec.Shared, netspec.Switched} {
		s := testSpec(2)
		s.Mode = mode
		for _, x := range []int{1, 40, 701, 1401, 5792, 16_384} {
			n := sim.New(s, sim.Options{Seed: 3, ClockOffset: units.Second, Cost: costs})
			form := func(p Point) []dataset.Sample {
				p["bytes"] = int64(x)
				return mustPerform(t, n, Slot{Exp: "prtt", Teams: [][]int{{0, 1}}, Points: []Point{p}}, 1, nil)[0]
			}
			one := median(phaseOf(t, form(Point{"messages": 1}), "prtt").NS)
			per := func(p Point, phase string) float64 {
				return (median(phaseOf(t, form(p), phase).NS) - one) / (prttMessages - 1)
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
			near("the gap", per(Point{"messages": prttMessages}, "prtt"), max(gap, os, or))
			near("o_s", per(Point{"messages": prttMessages, "spaced": 1}, "spaced"), os)
			near("o_r", per(Point{"messages": prttMessages, "delayed": 1}, "delayed"), or)
			send := phaseOf(t, form(Point{"messages": prttMessages, "spaced": 1}), "send")
			receive := phaseOf(t, form(Point{"messages": prttMessages, "delayed": 1}), "receive")
			near("a send", median(send.NS), os+40)
			near("a receive", median(receive.NS), or+40)
			near("the clock", send.Aux["clock_ns"], 40)
			near("the server's clock", receive.Aux["clock_ns"], 40)
			if len(send.NS)%prttMessages != 0 || len(receive.NS)%(prttMessages-2) != 0 {
				t.Errorf("%d sends and %d receives are not whole trains", len(send.NS), len(receive.NS))
			}
		}
	}
}

func median(ns []int64) float64 {
	v := make([]float64, len(ns))
	for i, x := range ns {
		v[i] = float64(x)
	}
	return stats.Median(v)
}

// The waits are those that were really waited: a host that oversleeps changes nothing.
func TestPRTTOversleeps(t *testing.T) {
	n := sim.New(testSpec(2), sim.Options{Cost: sim.Cost{Send: 3000, Recv: 4000, Now: 40}})
	var got [2][2]float64
	for i, p := range []Point{{"spaced": 1}, {"delayed": 1}} {
		p["bytes"], p["messages"] = 181, prttMessages
		for late := range 2 {
			lines := mustPerform(t, n, Slot{Exp: "prtt", Teams: [][]int{{0, 1}}, Points: []Point{p}}, 0.2, func(g Group) Group {
				return &sleepy{g, units.Nanos(late) * 50 * units.Microsecond}
			})[0]
			got[i][late] = median(lines[0].NS)
		}
		if math.Abs(got[i][0]-got[i][1]) > 1 {
			t.Errorf("%v: %.0f ns, and %.0f on a host that oversleeps", p, got[i][0], got[i][1])
		}
	}
}

type sleepy struct {
	Group
	late units.Nanos
}

func (g *sleepy) WaitUntil(t units.Nanos) error { return g.Group.WaitUntil(t + g.late) }
