package bench

import (
	"context"

	"calib/internal/units"
)

// Clock measures the instrument. On each host alone, phase "cost": the time of clockBlock readings of the clock in a row,
// a block a line entry; and phase "step": the differences between readings where they are not zero, of which the smallest
// is the resolution. On host 0 with each other host, phase "offset": the clocks held against each other before and
// after a pause, which Perform records.
type Clock struct{}

const (
	clockBlock  = 1000      // readings a block
	clockBlocks = 50        // blocks at effort 1
	clockSteps  = 200       // steps at effort 1
	clockReads  = 1_000_000 // readings after which a clock is taken to stand still
	// clockPause separates the two fixes of an offset. Drift comes out to 2 × bound / pause within one slot; a fit has the
	// rounds, which are further apart.
	clockPause = 50 * units.Millisecond
)

// Name implements Experiment.
func (Clock) Name() string { return "clock" }

// Synchronised implements Synchronised: the offsets are the by-product this experiment is for.
func (Clock) Synchronised() {}

// Steers implements Steered: a step is the clock's own property and offsets are not medians to be narrowed.
func (Clock) Steers(phase string) bool { return phase == "cost" }

// Design implements Experiment: one point for hosts alone, and one for pairs where there are two.
func (Clock) Design(l Limits) []Point {
	var out []Point
	for n := 1; n <= min(l.Hosts, 2); n++ {
		out = append(out, Point{"hosts": int64(n)})
	}
	return out
}

// Teams implements Experiment: every host by itself, all in one step; pairs are the star around host 0, in steps of one,
// because host 0 is in all of them.
func (Clock) Teams(l Limits, p Point) []Step {
	if p["hosts"] == 1 {
		var all Step
		for h := range l.Hosts {
			all = append(all, []int{h})
		}
		return []Step{all}
	}
	var star []Step
	for h := 1; h < l.Hosts; h++ {
		star = append(star, Step{{0, h}})
	}
	return star
}

// Cost implements Experiment: two fixes, each of syncExchanges round trips and the exchange of the result.
func (Clock) Cost(_ Limits, p Point) Cost {
	if p["hosts"] == 1 {
		return Cost{}
	}
	return Cost{Bytes: 2 * (syncExchanges*2*probeBytes + 3*fixBytes), Messages: 2 * (2*syncExchanges + 2)}
}

// Run implements Experiment. It ends after a fixed number of readings, or after the pause.
func (Clock) Run(ctx context.Context, g Group, p Point, r *Recorder) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p["hosts"] != 1 {
		if g.Rank() != 0 {
			return nil
		}
		return g.WaitUntil(g.Now() + units.Nanos(r.Reps(int(clockPause), int(clockPause)/5)))
	}
	blocks := r.Buffer(r.Reps(clockBlocks, 5))
	readBlocks(g, blocks)
	r.Add(Batch{
		Phase: "cost", Point: p, Ranks: []int{0}, NS: blocks, Aux: map[string]float64{"calls": clockBlock},
	})
	steps := r.Buffer(r.Reps(clockSteps, 20))
	n, reads := readSteps(g, steps)
	r.Add(Batch{
		Phase: "step", Point: p, Ranks: []int{0}, NS: steps[:n], Aux: map[string]float64{"reads": float64(reads)},
	})
	return nil
}

// readBlocks fills ns with the times of clockBlock readings each: from the end of one reading to the end of the
// clockBlock-th after it.
func readBlocks(g Group, ns []int64) {
	for i := range ns {
		start := g.Now()
		for range clockBlock - 1 {
			g.Now()
		}
		ns[i] = elapsed(g, start)
	}
}

// readSteps fills ns with differences between successive readings that differ, and returns how many there were in how
// many readings: fewer than len(ns) only if the clock hardly moves.
func readSteps(g Group, ns []int64) (n, reads int) {
	last := g.Now()
	for reads = 1; n < len(ns) && reads < clockReads; reads++ {
		now := g.Now()
		if now == last {
			continue
		}
		ns[n] = int64(now - last)
		n++
		last = now
	}
	return n, reads
}
