package coord

import (
	"context"
	"slices"

	"calib/fit/fault"
	"calib/internal/dataset"
	"calib/internal/units"
)

// Observed is what pairs saw in a round.
type Observed struct {
	Seen    []fault.Seen
	Samples []dataset.Sample
	// Took is how long they passed messages: all of them together, or the slowest where they were at it at once.
	Took units.Nanos
}

// A look that takes longer than lookPatience times those of the round before, and leastLook, has failed.
const (
	lookPatience = 10
	leastLook    = 3 * units.Second
)

// Observe has pairs of agents look at the way between them, each for itself: all at once, or one after the other. The
// agents are prepared. A look takes before, as the round before did, or has failed; 0 is not known. A burst takes that
// long; 0 is as long as the experiment has it.
func Observe(ctx context.Context, agents []Agent, run string, round int, pairs [][2]int, atOnce bool,
	before, burst units.Nanos) (out Observed) {
	deadline := probeDeadline
	if before > 0 {
		deadline = min(deadline, max(lookPatience*before, leastLook))
	}
	limit := 1
	if atOnce {
		limit = -1
	}
	samples := Each(pairs, limit, func(_ int, p [2]int) []dataset.Sample {
		in, err := look(ctx, agents, run, round, [][]int{p[:]}, deadline, burst)
		if err != nil {
			return nil
		}
		return in
	})
	total := 0.
	for i, p := range pairs {
		looks := looksOf(samples[i])
		if len(looks) == 0 {
			out.Seen = append(out.Seen, fault.Seen{From: p[0], To: p[1], Failed: true})
			continue
		}
		out.Seen = append(out.Seen, looks[0].Seen)
		if atOnce {
			total = max(total, looks[0].Took)
		} else {
			total += looks[0].Took
		}
	}
	out.Samples, out.Took = slices.Concat(samples...), units.Nanos(1e9*total)
	return out
}
