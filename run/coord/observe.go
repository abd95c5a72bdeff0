package coord

import (
	"context"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
	"calib/run/fault"
)

// Observe has pairs of agents look at the way between them, each for itself: all at once, or one after the other. It
// returns what they saw, and how long they passed messages: all of them together, or the slowest where they were at it
// at once. The agents are prepared.
func Observe(ctx context.Context, agents []Agent, run string, round int, pairs [][2]int, atOnce bool) ([]fault.Seen,
	units.Nanos) {
	type look struct {
		fault.Seen
		took float64
	}
	limit := 1
	if atOnce {
		limit = -1
	}
	looks := Each(pairs, limit, func(_ int, p [2]int) look {
		out := look{Seen: fault.Seen{From: p[0], To: p[1], Failed: true}}
		samples, err := together(ctx, agents, [][]int{p[:]}, bench.Task{
			Run: run, Slot: round, Round: round, Exp: names.Probe, Points: []bench.Point{{names.FactorBytes: 1}},
			Epoch: lookEpoch, Deadline: probeDeadline, Recv: probeDeadline,
		})
		in := seenIn(samples)
		if err != nil || len(in) == 0 {
			return out
		}
		x := in[0]
		out.Failed, out.Latency, out.PerByte, out.took = false, x.trip*1e-9, x.perByte*1e-9, x.took
		out.Segments, out.Again = x.sent, x.again
		return out
	})
	var seen []fault.Seen
	took := 0.
	for _, l := range looks {
		seen = append(seen, l.Seen)
		if atOnce {
			took = max(took, l.took)
		} else {
			took += l.took
		}
	}
	return seen, units.Nanos(took)
}
