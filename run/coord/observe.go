package coord

import (
	"context"

	"calib/fit/fault"
	"calib/internal/dataset"
	"calib/internal/units"
)

type Observed struct {
	Seen    []fault.Seen // of the first pairs, in their order: the others had no time
	Samples []dataset.Sample
	// Took is how long they passed messages: all of them together, or the slowest where they were at it at once. Of a
	// pair that failed it is not known: it counts as the slowest.
	Took    units.Nanos
	Slowest units.Nanos // pair
}

// A look that takes longer than lookPatience times the slowest of the round before, and LeastLook, has failed. While
// others fill the queues it may take BusyLook.
const (
	lookPatience = 10
	LeastLook    = 3 * units.Second
	BusyLook     = 10 * units.Second
)

// Observe has pairs of agents look at the way between them, each for itself: so many at once, and then the next, while
// there is more time, of which they have taken some. The agents are prepared. A look takes before, as the slowest of
// the round before did, or least, or has failed; a before of 0 is not known. A burst takes that long; 0 is as long as
// the experiment has it.
func Observe(ctx context.Context, agents []Agent, run string, round int, pairs [][2]int, atOnce int,
	before, least, burst units.Nanos, more func(took units.Nanos) bool) (out Observed) {
	deadline := probeDeadline
	if before > 0 {
		deadline = min(deadline, max(lookPatience*before, least))
	}
	took, slowest := 0., 0.
	for len(pairs) > 0 && more(units.Nanos(1e9*took)) {
		now := pairs[:min(atOnce, len(pairs))]
		pairs = pairs[len(now):]
		longest, failed := 0., false
		for i, samples := range Each(now, -1, func(_ int, p [2]int) []dataset.Sample {
			in, _ := look(ctx, agents, run, round, [][]int{p[:]}, deadline, burst) // none of a look that failed
			return in
		}) {
			seen := fault.Seen{From: now[i][0], To: now[i][1], Failed: true}
			if looks := looksOf(samples); len(looks) > 0 {
				seen, longest = looks[0].Seen, max(longest, looks[0].Took)
			}
			failed = failed || seen.Failed
			out.Seen, out.Samples = append(out.Seen, seen), append(out.Samples, samples...)
		}
		if slowest = max(slowest, longest); failed {
			longest = max(slowest, 1e-9*float64(before))
		}
		took += longest
	}
	out.Took, out.Slowest = units.Nanos(1e9*took), units.Nanos(1e9*slowest)
	return out
}
