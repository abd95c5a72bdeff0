package roundtrip

import (
	"context"
	"math/rand/v2"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Pingpong sends a message to and fro between two hosts and records half of each round trip, by rank 0's clock alone:
// T(x) of every model, provided that the two directions are alike. Limits.AllPairs measures every pair, for the pair
// matrix; otherwise every host is in at least one pair, so that a slow one is seen.
type Pingpong struct{}

const (
	maxSize        = 4 * units.MiB
	sizesPerDecade = 6
	jitter         = 0.5 // of a step between sizes

	maxReps = 400 // of a batch: enough for the tail of the times
	minReps = MinReps
)

// Name implements bench.Experiment.
func (Pingpong) Name() string { return names.Pingpong }

// Design implements bench.Experiment: sizes from 1 B to 4 MiB, about 6 a decade, or 3 where the effort is below 1.
func (Pingpong) Design(l bench.Limits) []bench.Point {
	if l.Hosts < 2 {
		return nil
	}
	top, density := maxSize, sizesPerDecade
	if l.MaxBytes > 0 {
		top = min(top, l.MaxBytes)
	}
	if l.Effort > 0 && l.Effort < 1 {
		density /= 2
	}
	own := units.Geometric(1, top, density, jitter, rand.New(rand.NewPCG(l.Seed, 0x70696e67)).Float64)
	return bench.SizePoints(l.SizesOr(own), nil)
}

// Ranges implements bench.Experiment.
func (Pingpong) Ranges() bench.Ranges {
	return bench.Ranges{names.FactorBytes: bench.Sizes}
}

// Teams implements bench.Experiment.
func (Pingpong) Teams(l bench.Limits, _ bench.Point) []bench.Step {
	if l.AllPairs {
		return bench.Colouring(l.Hosts)
	}
	return l.Pairs.Steps(l.Hosts)
}

// Cost implements bench.Experiment. Bytes counts both directions of the link.
func (Pingpong) Cost(l bench.Limits, p bench.Point) bench.Cost { return pingBounds(p).Cost(l) }

func pingBounds(p bench.Point) Bounds {
	b := Pings(p[names.FactorBytes], 1, minReps)
	b.Most, b.Settle = maxReps, true
	return b
}

// Run implements bench.Experiment.
func (Pingpong) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	msg := Whole(1-g.Rank(), r.Payload(p[names.FactorBytes]))
	return Record(g, r, msg, pingBounds(p), bench.Batch{
		Point: p, Aux: map[string]float64{names.AuxClock: bench.TimerCost(g)},
	})
}
