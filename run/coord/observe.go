package coord

import (
	"context"

	"calib/internal/units"
	"calib/run/fault"
)

// Observe has pairs of agents look at the way between them, each for itself: all at once, or one after the other. It
// returns what they saw, and how long they passed messages: all of them together, or the slowest where they were at it
// at once. The agents are prepared.
func Observe(ctx context.Context, agents []Agent, run string, round int, pairs [][2]int, atOnce bool) ([]fault.Seen,
	units.Nanos) {
	limit := 1
	if atOnce {
		limit = -1
	}
	took := make([]float64, len(pairs))
	out := Each(pairs, limit, func(i int, p [2]int) fault.Seen {
		in, err := look(ctx, agents, run, round, [][]int{p[:]}, probeDeadline)
		if err != nil || len(in) == 0 {
			return fault.Seen{From: p[0], To: p[1], Failed: true}
		}
		took[i] = in[0].took
		return fault.Seen{From: p[0], To: p[1], Latency: in[0].trip * 1e-9, PerByte: in[0].perByte * 1e-9,
			Segments: in[0].sent, Again: in[0].again}
	})
	total := 0.
	for _, t := range took {
		if atOnce {
			total = max(total, t)
		} else {
			total += t
		}
	}
	return out, units.Nanos(total)
}
