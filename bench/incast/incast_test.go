package incast

import (
	"slices"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/netspec"
	"calib/transport/sim"
)

// incastSpec is a switch whose port is half as slow again as a host, so that two senders saturate it.
func incastSpec(hosts int) netspec.Spec {
	return netspec.Spec{
		Name: "incast", Hosts: hosts, Mode: netspec.Switched, MSS: 1000, L: 40 * benchtest.US,
		Host:    netspec.Block{A: 20 * benchtest.US, B: 0.06 * benchtest.US},
		Medium:  netspec.Block{A: 30 * benchtest.US, B: 0.09 * benchtest.US},
		Receive: &netspec.Block{A: benchtest.US, B: 0.001 * benchtest.US},
	}
}

// incastLines runs one point on a root and the point's senders, and returns the lines of a phase.
func incastLines(
	t *testing.T, e *bench.Experiment, n *sim.Net, p bench.Point, effort float64, phase string,
	wrap func(bench.Group) bench.Group,
) []dataset.Sample {
	t.Helper()
	slot := bench.Slot{Teams: bench.FirstHosts(int(p[names.FactorSenders]) + 1)[0], Points: []bench.Point{p}}
	lines := benchtest.MustRun(t, e, n, slot, effort, wrap)[0]
	return slices.DeleteFunc(lines, func(l dataset.Sample) bool { return l.Phase != phase })
}

// queue passes packets of m bytes that reach a server at the given times through it, and returns when they leave. room
// is that of its buffer, the packet in service included; 0 is unlimited. Packets without room are lost.
func queue(s *netspec.Spec, b netspec.Block, at []float64, m, room int) []float64 {
	var left []float64
	free := 0.0
	for _, t := range at {
		inside := 0
		for _, l := range left {
			if l > t+1e-12 {
				inside++
			}
		}
		if room > 0 && inside >= room {
			continue
		}
		free = max(free, t) + s.Service(b, m)
		left = append(left, free)
	}
	return left
}
