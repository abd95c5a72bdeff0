package tuning

import (
	"math"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset/names"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

// pipeline is the one-way time [ns] of m bytes in fragments of f: the sender's calls, the packets' way through both
// hosts and the medium, and the receiver's calls, each first come, first served.
func pipeline(s *netspec.Spec, c sim.Cost, m, f int) float64 {
	var sender, receiver float64
	var left [3]float64
	for sent := 0; sent < m; sent += f {
		n := min(f, m-sent)
		sender += float64(c.Send) + c.SendByte*float64(n)
		var there float64
		for rest := n; rest > 0; rest -= s.MSS {
			there = sender
			for j, b := range []netspec.Block{s.HostBlock(0), s.Medium, s.HostBlock(1)} {
				if j == 2 {
					there += s.L * 1e9
				}
				left[j] = max(there, left[j]) + s.Service(b, min(rest, s.MSS))*1e9
				there = left[j]
			}
		}
		receiver = max(receiver, there) + float64(c.Recv) + c.RecvByte*float64(n)
	}
	return receiver
}

// With a cost for every call and for every byte copied there is a best fragment: smaller ones pay for calls, larger
// ones wait for the copy. Every time is that of the pipeline, and so is the best.
func TestFragmentHasItsOptimum(t *testing.T) {
	s := benchtest.Spec(2)
	s.MSS = 9000
	cost := sim.Cost{Send: 8000, SendByte: 15, Recv: 4000, RecvByte: 10}
	n := sim.New(s, sim.Options{Cost: cost, Window: units.MiB, SendBuffer: units.MiB})
	points := Fragment.Design(bench.Limits{Hosts: 2, MaxBytes: 64 * units.KiB})
	best, known := map[int64]int64{}, map[int64]int64{}
	times, truths := map[int64]float64{}, map[int64]float64{}
	for _, l := range benchtest.MustRun(t, Fragment, n, bench.Slot{Teams: [][]int{{0, 1}}, Points: points}, 1, nil)[0] {
		m, f := l.Point[names.FactorBytes], l.Point[names.FactorFragment]
		got, want := benchtest.Median(l.NS), pipeline(&s, cost, int(m), int(f))
		if math.Abs(got-want) > 2 {
			t.Errorf("%d bytes in fragments of %d: %.0f ns, want %.1f", m, f, got, want)
		}
		if times[m] == 0 || got < times[m] {
			times[m], best[m] = got, f
		}
		if truths[m] == 0 || want < truths[m] {
			truths[m], known[m] = want, f
		}
	}
	for m, f := range known {
		if best[m] != f || f == 256 || f == m {
			t.Errorf("%d bytes: the best fragment is %d, want %d, within its range", m, best[m], f)
		}
	}
	if len(known) != 2 {
		t.Errorf("%d messages, want 16 and 64 KiB", len(known))
	}
}
