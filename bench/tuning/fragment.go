// Package tuning measures what a program may choose: the size of fragments, the socket buffers, and Nagle's algorithm.
package tuning

import (
	"calib/bench"
	"calib/bench/roundtrip"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Fragment passes a message to and fro in fragments, each sent and received by a call of its own, and records half of
// each round trip: T(M, f) of M bytes in fragments of f (section 3.1.2 of the latency-hiding paper, figure 11). The
// cost of a call is in favour of large fragments; that hosts and network work on several at once is in favour of small
// ones. f = 256 B·2^i below M, every second i where the effort is below a half, and M, the message unfragmented.
var Fragment = &bench.Experiment{
	Name: names.Fragment,
	Points: func(l bench.Limits) []bench.Point {
		var out []bench.Point
		for _, size := range l.SizesOr(fragmentSizes) {
			m := int64(size)
			for f := int64(smallestFragment); f < m; f *= bench.Thinned(l, int64(2), 4) {
				out = append(out, bench.Point{names.FactorBytes: m, names.FactorFragment: f})
			}
			out = append(out, bench.Point{names.FactorBytes: m, names.FactorFragment: m})
		}
		return out
	},
	Ranges: bench.Ranges{names.FactorBytes: bench.Sizes, names.FactorFragment: bench.Sizes},
	Cost:   func(l bench.Limits, p bench.Point) bench.Cost { return fragmentBounds(p).Cost(l) },
	Run: func(x bench.Team) {
		msg := roundtrip.InPieces(1-x.Rank(), x.R.Payload(x.P[names.FactorBytes]), int(x.P[names.FactorFragment]))
		roundtrip.Record(x, msg, fragmentBounds(x.P), "", nil)
	},
}

const (
	smallestFragment = 256
	fragmentLeast    = 3 // repetitions: many fragments take long on a slow network
)

var fragmentSizes = []units.Bytes{16 * units.KiB, 64 * units.KiB, 256 * units.KiB, units.MiB}

func fragmentBounds(p bench.Point) roundtrip.Bounds {
	m, f := p[names.FactorBytes], p[names.FactorFragment]
	return roundtrip.Bounds{Bytes: units.Bytes(m), Sends: int((m + f - 1) / f), Least: fragmentLeast}
}
