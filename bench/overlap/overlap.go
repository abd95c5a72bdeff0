// Package overlap measures what a host does beside its messages, or for them: overlap, overhead and copy.
package overlap

import (
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
var Overlap = &bench.Experiment{
	Name:   names.Overlap,
	Points: overlapPoints,
	Ranges: bench.Ranges{names.FactorBytes: bench.Sizes, names.FactorGranularity: {Least: 0, Most: granularities[len(granularities)-1]}},
	Cost: func(l bench.Limits, p bench.Point) bench.Cost {
		m, ways := p[names.FactorBytes], len(waysAt(p))
		steps := warmSteps + trialSteps + maxTrial + ways*maxSteps(l.Effort, m)
		orders := 3 + 2*looks + ways*max(minSets, maxSets(l.Effort))
		return bench.Cost{
			Bytes: units.Bytes(int64(steps)*m) + units.Bytes((orders+attempts)*orderBytes) + bench.LossBytes, Time: sweepTime(l, p),
		}
	},
	Run: func(x bench.Team) { // a batch is within the group's deadlines and longest
		peer, m := 1-x.Rank(), x.P[names.FactorBytes]
		y := &pair{Team: x, peer: peer, host: x.Machine(), transfer: transfer{peer: peer, out: x.R.Payload(m), in: x.R.Payload(m)}}
		bench.Check(x.Beside(y.transfer.exchange, func(s plane.Second) error {
			y.second = s
			if x.Root() {
				return bench.Caught(func() { bench.During("overlap", y.lead) })
			}
			return bench.Caught(y.follow)
		}))
	},
}

// Close to where the gain is largest there are more of them.
var (
	granularities      = []int64{10, 20, 40, 70, 100, 140, 200, 400, 1000, 3000, 10_000}
	granularitiesQuick = []int64{10, 40, 100, 200, 1000, 10_000}

	// The paper's boundary column of 500 numbers, and a message that a segment does not hold.
	sweepSizes      = []units.Bytes{4000, 64 * units.KiB}
	sweepSizesQuick = []units.Bytes{4000}
	transferSizes   = []units.Bytes{1, 1000, 4000, 16 * units.KiB, 64 * units.KiB}
)

// overlapPoints are the transfer of every size alone, and every granularity at few sizes; of the user's, the smallest
// and the largest.
func overlapPoints(l bench.Limits) []bench.Point {
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

// sweepTime is how long a batch is expected to take: a step of each way is the longer of computing and transferring, or
// both.
func sweepTime(l bench.Limits, p bench.Point) units.Nanos {
	path, ways := l.OnPath(), units.Nanos(len(waysAt(p)))
	transfer := path.Trip(p[names.FactorBytes])
	step := transfer + units.Nanos(p[names.FactorGranularity])*transfer/whole
	sets := bench.Repeated(minSteps*step, l.Effort.Time(budget, 0)/max(1, ways), minSets, maxSets(l.Effort))
	return ways*sets + units.Nanos(warmSteps+trialSteps)*transfer + 2*trialTime
}

// transfer sends a message to the peer and receives one of it, on either thread.
type transfer struct {
	peer    int
	out, in []byte
	got     int // of in, of the message under way
}

// exchange is all of it.
func (t *transfer) exchange(g plane.Mover) error {
	if err := t.send(g); err != nil {
		return err
	}
	return t.receive(g)
}

// send sends the message, and receives only what it must so that the peer can send, too.
func (t *transfer) send(g plane.Mover) (err error) {
	t.got, err = bench.Push(g, t.peer, t.out, t.in, len(t.out))
	return err
}

// receive takes what send has not.
func (t *transfer) receive(g plane.Mover) error {
	if t.got == len(t.in) {
		return nil
	}
	return g.Recv(t.peer, t.in[t.got:])
}
