package bench

import (
	"context"

	"calib/internal/units"
)

// Fragment passes a message to and fro in fragments, each sent and received by a call of its own, and records half of each
// round trip: T(M, f) of M bytes in fragments of f (section 3.1.2 of the latency-hiding paper, figure 11). What a call
// costs speaks for large fragments; that hosts and network can work on several at once, for small ones. f = M is the
// message unfragmented.
type Fragment struct{}

const (
	smallestFragment = 256
	fragmentLeast    = 3 // repetitions: many fragments on a slow network last
)

var fragmentSizes = []units.Bytes{16 * units.KiB, 64 * units.KiB, 256 * units.KiB, units.MiB}

// Name implements Experiment.
func (Fragment) Name() string { return "fragment" }

// Design implements Experiment: f = 256 B·2^i below M, and M; every second i where the effort is below a half.
func (Fragment) Design(l Limits) []Point {
	if l.Hosts < 2 {
		return nil
	}
	step := 2
	if l.thin() {
		step = 4
	}
	var out []Point
	for _, m := range l.sizes(fragmentSizes) {
		for f := int64(smallestFragment); f < int64(m); f *= int64(step) {
			out = append(out, Point{"bytes": int64(m), "fragment": f})
		}
		out = append(out, Point{"bytes": int64(m), "fragment": int64(m)})
	}
	return out
}

// Teams implements Experiment.
func (Fragment) Teams(l Limits, _ Point) []Step { return neighbours(l.Hosts) }

// Cost implements Experiment.
func (Fragment) Cost(l Limits, p Point) Cost { return fragmentDose(p).cost(l.Effort) }

func fragmentDose(p Point) dose {
	m, f := p["bytes"], p["fragment"]
	return dose{bytes: units.Bytes(m), sends: int((m + f - 1) / f), most: pingReps, least: fragmentLeast}
}

// Run implements Experiment. It ends with the batch, or when a receive meets the group's deadline.
func (Fragment) Run(ctx context.Context, g Group, p Point, r *Recorder) error {
	if err := checkPair(ctx, g, "fragment"); err != nil {
		return err
	}
	msg := piecedMessage(1-g.Rank(), r.payload(p["bytes"]), int(p["fragment"]))
	t, err := rally{g, r, msg, fragmentDose(p)}.run()
	if err != nil || g.Rank() == 1 {
		return err
	}
	r.Add(Batch{Point: p, Ranks: []int{0, 1}, NS: t.ns, TCP: t.tcp})
	return nil
}
