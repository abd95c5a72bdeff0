package check

import (
	"context"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Clock measures the clocks. On each host alone, phase "cost": the time of blockReadings readings of the clock in
// a row, one value for each block; and phase "step": the differences between readings where they are not zero, of which
// the smallest is the resolution. On host 0 with each other host, phase "offset": the offset of the clocks before and
// after a pause, which bench.Perform records.
type Clock struct{}

const (
	blockReadings = 1000
	blocks        = 50        // at effort 1
	steps         = 200       // at effort 1
	maxReadings   = 1_000_000 // after which a clock is taken to stand still
	// pause separates the two measurements of an offset. Drift is known to 2 × bound / pause within one slot; a fit has
	// the rounds, which are further apart.
	pause = 50 * units.Millisecond
)

// Name implements bench.Experiment.
func (Clock) Name() string { return names.Clock }

// Synchronised implements bench.Synchronised: the offsets are the by-product that this experiment is for.
func (Clock) Synchronised() {}

// Design implements bench.Experiment: one point for hosts alone, and one for pairs where there are two.
func (Clock) Design(l bench.Limits) []bench.Point {
	var out []bench.Point
	for n := 1; n <= min(l.Hosts, 2); n++ {
		out = append(out, bench.Point{names.FactorHosts: int64(n)})
	}
	return out
}

// Ranges implements bench.Experiment.
func (Clock) Ranges() bench.Ranges {
	return bench.Ranges{names.FactorHosts: bench.TeamSize}
}

// Teams implements bench.Experiment: every host by itself, all in one step; pairs are host 0 with each other, in steps
// of one, because host 0 is in all of them.
func (Clock) Teams(l bench.Limits, p bench.Point) []bench.Step {
	if p[names.FactorHosts] == 1 {
		return bench.EachAlone(l.Hosts)
	}
	var star []bench.Step
	for h := 1; h < l.Hosts; h++ {
		star = append(star, bench.Step{{0, h}})
	}
	return star
}

// Cost implements bench.Experiment: two measurements of the offset.
func (Clock) Cost(l bench.Limits, p bench.Point) bench.Cost {
	if p[names.FactorHosts] == 1 {
		return bench.Cost{}
	}
	once := bench.SyncCost(l.OnPath())
	c := once.Add(once)
	c.Time = l.Effort.Time(pause, pause/5) // the offsets are counted with every slot of a synchronised experiment
	return c
}

// Run implements bench.Experiment. It ends after a fixed number of readings, or after the pause.
func (Clock) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	if p[names.FactorHosts] != 1 {
		if g.Rank() != 0 {
			return nil
		}
		return g.WaitUntil(g.Now() + r.Time(pause, pause/5))
	}
	cost := r.Buffer(r.Reps(blocks, 5))
	readBlocks(g, cost)
	r.Add(bench.Batch{
		Phase: names.PhaseCost, Point: p, Ranks: []int{0}, NS: cost, Aux: map[string]float64{names.AuxCalls: blockReadings},
	})
	step := r.Buffer(r.Reps(steps, 20))
	n, reads := readSteps(g, step)
	r.Add(bench.Batch{
		Phase: names.PhaseStep, Point: p, Ranks: []int{0}, NS: step[:n], Aux: map[string]float64{names.AuxReads: float64(reads)},
	})
	return nil
}

// readBlocks fills ns with the times of blockReadings readings each: from the end of one reading to the end of the
// blockReadings-th after it.
func readBlocks(g bench.Group, ns []int64) {
	for i := range ns {
		start := g.Now()
		for range blockReadings - 1 {
			g.Now()
		}
		ns[i] = bench.Elapsed(g, start)
	}
}

// readSteps fills ns with differences between successive readings that differ, and returns how many there were in how
// many readings: fewer than len(ns) only if the clock hardly moves.
func readSteps(g bench.Group, ns []int64) (n, reads int) {
	last := g.Now()
	for reads = 1; n < len(ns) && reads < maxReadings; reads++ {
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
