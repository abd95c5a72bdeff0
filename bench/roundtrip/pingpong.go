package roundtrip

import (
	"math/rand/v2"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Pingpong sends a message to and fro between two hosts and records half of each round trip, by rank 0's clock alone:
// T(x) of every model, provided that the two directions are alike. Limits.AllPairs measures every pair, for the pair
// matrix; otherwise every host is in at least one pair, so that a slow one is seen. Sizes are from 1 B to 4 MiB, about
// 6 a decade, or 3 where the effort is below 1.
var Pingpong = &bench.Experiment{
	Name: names.Pingpong,
	Points: func(l bench.Limits) []bench.Point {
		top, density := pingMost, sizesPerDecade
		if l.MaxBytes > 0 {
			top = min(top, l.MaxBytes)
		}
		if l.Effort > 0 && l.Effort < 1 {
			density /= 2
		}
		own := units.Geometric(1, top, density, jitter, rand.New(rand.NewPCG(l.Seed, 0x70696e67)).Float64)
		return bench.SizePoints(l.SizesOr(own), nil)
	},
	Ranges: bench.Ranges{names.FactorBytes: bench.Sizes},
	Steps: func(l bench.Limits, _ bench.Point) []bench.Step {
		if l.AllPairs {
			return bench.Colouring(l.Hosts)
		}
		return l.Pairs.Steps(l.Hosts)
	},
	// Bytes counts both directions of the link.
	Cost: func(l bench.Limits, p bench.Point) bench.Cost { return hot(p[names.FactorBytes]).Cost(l) },
	Run: func(x bench.Team) {
		m := x.P[names.FactorBytes]
		msg := Whole(1-x.Rank(), x.R.Payload(m))
		Record(x, msg, hot(m), "", map[string]float64{names.AuxClock: x.TimerCost()})
	},
}

const (
	pingMost       = 4 * units.MiB
	sizesPerDecade = 6
	jitter         = 0.5 // of a step between sizes
	hotReps        = 400 // of a batch: enough for the tail of the times
)

// hot are the bounds of a ping-pong between hosts that have settled.
func hot(bytes int64) Bounds {
	return Bounds{Bytes: units.Bytes(bytes), Sends: 1, Most: hotReps, Least: minReps, Settle: true}
}
