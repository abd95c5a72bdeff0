// Package tuning measures what a program may choose: the size of fragments, the socket buffers, and Nagle's algorithm.
package tuning

import (
	"context"

	"calib/bench"
	"calib/bench/roundtrip"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Fragment passes a message to and fro in fragments, each sent and received by a call of its own, and records half of
// each round trip: T(M, f) of M bytes in fragments of f (section 3.1.2 of the latency-hiding paper, figure 11). The
// cost of a call is in favour of large fragments; that hosts and network work on several at once is in favour of small
// ones. f = M is the message unfragmented.
type Fragment struct{}

const (
	smallestFragment = 256
	fragmentLeast    = 3 // repetitions: many fragments take long on a slow network
)

var fragmentSizes = []units.Bytes{16 * units.KiB, 64 * units.KiB, 256 * units.KiB, units.MiB}

// Name implements bench.Experiment.
func (Fragment) Name() string { return names.Fragment }

// Design implements bench.Experiment: f = 256 B·2^i below M, and M; every second i where the effort is below a half.
func (Fragment) Design(l bench.Limits) []bench.Point {
	if l.Hosts < 2 {
		return nil
	}
	step := bench.Thinned(l, int64(2), 4)
	var out []bench.Point
	for _, size := range l.SizesOr(fragmentSizes) {
		m := int64(size)
		for f := int64(smallestFragment); f < m; f *= step {
			out = append(out, bench.Point{names.FactorBytes: m, names.FactorFragment: f})
		}
		out = append(out, bench.Point{names.FactorBytes: m, names.FactorFragment: m})
	}
	return out
}

// Ranges implements bench.Experiment.
func (Fragment) Ranges() bench.Ranges {
	return bench.Ranges{names.FactorBytes: bench.Sizes, names.FactorFragment: bench.Sizes}
}

// Teams implements bench.Experiment.
func (Fragment) Teams(l bench.Limits, _ bench.Point) []bench.Step { return bench.Neighbours(l.Hosts) }

// Cost implements bench.Experiment.
func (Fragment) Cost(l bench.Limits, p bench.Point) bench.Cost {
	return fragmentBounds(p).Cost(l)
}

func fragmentBounds(p bench.Point) roundtrip.Bounds {
	m, f := p[names.FactorBytes], p[names.FactorFragment]
	return roundtrip.Pings(m, (m+f-1)/f, fragmentLeast)
}

// Run implements bench.Experiment.
func (Fragment) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	msg := roundtrip.InPieces(1-g.Rank(), r.Payload(p[names.FactorBytes]), int(p[names.FactorFragment]))
	return roundtrip.Record(g, r, msg, fragmentBounds(p), bench.Batch{Point: p})
}
