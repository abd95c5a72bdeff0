// Package overlap measures what a host does beside its messages, or for them: overlap, overhead and copy.
package overlap

import (
	"context"
	"fmt"
	"slices"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// Overlap lets two ranks compute and exchange messages, step by step, as a solver does that needs its neighbour's
// boundary in every step. Both do the same number of steps of computation in each, and each sends a message of the same
// size. It does so in three ways, I.1 to I.3 of Strumpen 1994, sections 3.1 and 3.2:
//
//	in-turn        compute, then send and receive
//	send-first     send, compute, then receive what has not come yet
//	second-thread  hand sending and receiving to a second thread, compute, then wait for it
//
// and, in the same batch, what they are made of:
//
//	compute          the computation alone
//	transfer         sending and receiving alone, by the first thread
//	transfer-second  the same, handed to the second thread
//
// All ways use the same connection and the same code to send and receive (bench.Push). A value is the time of a step,
// the mean of an even number of them in a row: where one rank is ahead by less than a message takes, the ranks' steps
// are longer and shorter in turn.
//
// Factor granularity is the computation of a step in hundredths of what takes as long as the transfer of its message; a
// trial finds the number of steps of computation. 0 is the transfer alone.
type Overlap struct{}

// Name implements bench.Experiment.
func (Overlap) Name() string { return names.Overlap }

// Close to where the gain is largest there are more of them.
var (
	granularities      = []int64{10, 20, 40, 70, 100, 140, 200, 400, 1000, 3000, 10_000}
	granularitiesQuick = []int64{10, 40, 100, 200, 1000, 10_000}

	// The paper's boundary column of 500 numbers, and a message that a segment does not hold.
	sweepSizes      = []units.Bytes{4000, 64 * units.KiB}
	sweepSizesQuick = []units.Bytes{4000}
	transferSizes   = []units.Bytes{1, 1000, 4000, 16 * units.KiB, 64 * units.KiB}
)

// Design implements bench.Experiment: the transfer of every size alone, and every granularity at few sizes; of the
// user's, the smallest and the largest.
func (Overlap) Design(l bench.Limits) []bench.Point {
	if l.Hosts < 2 {
		return nil
	}
	sizes := l.SizesOr(transferSizes)
	out := bench.SizePoints(sizes, bench.Point{names.FactorGranularity: 0})
	if len(sizes) == 0 {
		return out
	}
	sweep := bench.Thinned(l, sweepSizes, sweepSizesQuick)
	sweep = slices.DeleteFunc(slices.Clone(sweep), func(x units.Bytes) bool { return !slices.Contains(sizes, x) })
	if l.Sizes != nil || len(sweep) == 0 {
		sweep = slices.Compact([]units.Bytes{sizes[0], sizes[len(sizes)-1]})
	}
	for _, k := range bench.Thinned(l, granularities, granularitiesQuick) {
		out = append(out, bench.SizePoints(sweep, bench.Point{names.FactorGranularity: k})...)
	}
	return out
}

// Ranges implements bench.Experiment.
func (Overlap) Ranges() bench.Ranges {
	return bench.Ranges{names.FactorBytes: bench.Sizes, names.FactorGranularity: {Least: 0, Most: granularities[len(granularities)-1]}}
}

// Teams implements bench.Experiment.
func (Overlap) Teams(l bench.Limits, _ bench.Point) []bench.Step { return bench.Neighbours(l.Hosts) }

// Cost implements bench.Experiment. Computing counts as the messages that would take as long.
func (Overlap) Cost(l bench.Limits, p bench.Point) bench.Cost {
	m, ways := p[names.FactorBytes], len(waysAt(p))
	steps := warmSteps + trialSteps + maxTrial + ways*maxSteps(l.Effort, m)
	orders := 3 + 2*looks + ways*max(minSets, maxSets(l.Effort))
	least := ways * (leadSteps + minSteps) * int(p[names.FactorGranularity]/whole)
	return bench.Cost{
		Bytes:    units.Bytes(int64(steps)*m) + units.Bytes((orders+attempts)*orderBytes) + bench.LossBytes,
		Messages: steps + orders + attempts + least,
		Time:     sweepTime(l, p),
	}
}

// sweepTime is how long a batch is expected to take: a step of each way is the longer of computing and transferring, or
// both.
func sweepTime(l bench.Limits, p bench.Point) units.Nanos {
	path, ways := l.OnPath(), units.Nanos(len(waysAt(p)))
	transfer := path.Trip(p[names.FactorBytes])
	step := transfer + units.Nanos(p[names.FactorGranularity])*transfer/whole
	sets := bench.Repeated(minSteps*step, l.Effort.Time(budget, 0)/max(1, ways), minSets, maxSets(l.Effort))
	return ways*sets + units.Nanos(warmSteps+trialSteps)*transfer + 2*trialTime
}

// Run implements bench.Experiment. A batch is within the group's deadlines and longest.
func (Overlap) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	if err := bench.CheckSize(g, 2); err != nil {
		return err
	}
	peer, m := 1-g.Rank(), p[names.FactorBytes]
	x := &pair{Team: bench.Team{G: g, R: r, P: p}, peer: peer, host: g.Machine(),
		transfer: transfer{peer: peer, out: r.Payload(m), in: r.Payload(m)}}
	return g.Beside(x.transfer.exchange, func(s plane.Second) error {
		x.second = s
		if !x.Root() {
			return x.follow()
		}
		if err := x.lead(); err != nil {
			return fmt.Errorf("overlap: %w", err)
		}
		return nil
	})
}
