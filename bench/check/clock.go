package check

import (
	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Clock measures the clocks: what reading one costs, how fine it is, and how far they are apart. On each host alone,
// phase "cost": the time of blockReadings readings of the clock in a row, one value for each block; and phase "step":
// the differences between readings where they are not zero, of which the smallest is the resolution. On host 0 with
// each other host, phase "offset": the offset of the clocks before and after a pause, which bench.Perform records.
var Clock = &bench.Experiment{
	Name: names.Clock, Clocks: true, Alone: true,
	Points: func(l bench.Limits) []bench.Point { // one for hosts alone, and one for pairs where there are two
		var out []bench.Point
		for n := 1; n <= min(l.Hosts, 2); n++ {
			out = append(out, bench.Point{names.FactorHosts: int64(n)})
		}
		return out
	},
	Ranges: bench.Ranges{names.FactorHosts: bench.TeamSize},
	Size:   bench.AnySize,
	// Every host by itself, all in one step; pairs are host 0 with each other, in steps of one, because host 0 is in
	// all of them.
	Steps: func(l bench.Limits, p bench.Point) []bench.Step {
		if p[names.FactorHosts] == 1 {
			return bench.EachAlone(l.Hosts)
		}
		var star []bench.Step
		for h := 1; h < l.Hosts; h++ {
			star = append(star, bench.Step{{0, h}})
		}
		return star
	},
	Cost: func(l bench.Limits, p bench.Point) bench.Cost {
		if p[names.FactorHosts] == 1 {
			return bench.Cost{}
		}
		// The time of the offsets is counted with every slot of a synchronised experiment.
		return bench.Cost{Bytes: 2 * l.OnPath().SyncBytes(), Time: l.Effort.Time(pause, pause/5)}
	},
	Run: func(x bench.Team) { // it ends after a fixed number of readings, or after the pause
		if x.P[names.FactorHosts] != 1 {
			if x.Root() {
				x.WaitUntil(x.Now() + x.R.Time(pause, pause/5))
			}
			return
		}
		cost := x.R.Buffer(x.R.Reps(blocks, 5))
		readBlocks(x, cost)
		x.Add(bench.Batch{
			Phase: names.PhaseCost, Ranks: []int{0}, NS: cost, Aux: map[string]float64{names.AuxCalls: blockReadings},
		})
		step := x.R.Buffer(x.R.Reps(steps, 20))
		n, reads := readSteps(x, step)
		x.Add(bench.Batch{
			Phase: names.PhaseStep, Ranks: []int{0}, NS: step[:n], Aux: map[string]float64{names.AuxReads: float64(reads)},
		})
	},
}

const (
	blockReadings = 1000
	blocks        = 50        // at effort 1
	steps         = 200       // at effort 1
	maxReadings   = 1_000_000 // after which a clock is taken to stand still
	// pause separates the two measurements of an offset. Drift is known to 2 × bound / pause within one slot; a fit has
	// the rounds, which are further apart.
	pause = 50 * units.Millisecond
)

// readBlocks fills ns with the times of blockReadings readings each: from the end of one reading to the end of the
// blockReadings-th after it.
func readBlocks(x bench.Team, ns []int64) {
	for i := range ns {
		start := x.Now()
		for range blockReadings - 1 {
			x.Now()
		}
		ns[i] = x.Elapsed(start)
	}
}

// readSteps fills ns with differences between successive readings that differ, and returns how many there were in how
// many readings: fewer than len(ns) only if the clock hardly moves.
func readSteps(x bench.Team, ns []int64) (n, reads int) {
	last := x.Now()
	for reads = 1; n < len(ns) && reads < maxReadings; reads++ {
		now := x.Now()
		if now == last {
			continue
		}
		ns[n] = int64(now - last)
		n++
		last = now
	}
	return n, reads
}
