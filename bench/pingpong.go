package bench

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"calib/internal/units"
)

// PingPong sends a message to and fro between two hosts and records half of each round trip, by rank 0's clock alone:
// T(x) of every model, provided that the two directions are alike. Limits.AllPairs measures every pair, for the pair
// matrix; otherwise every host is in at least one pair, so that a slow one is seen.
type PingPong struct{}

const (
	pingMax       = 4 * units.MiB
	pingPerDecade = 6
	pingJitter    = 0.5 // of a step between sizes

	// A batch is as many repetitions as fit into pingBudget, within these bounds and pingBytes each way; all but
	// pingMinReps scale with the effort.
	pingBudget  = 50 * units.Millisecond
	pingBytes   = 16 * units.MiB
	pingReps    = 200
	pingMinReps = 5

	pingWarm    = 2  // untimed repetitions before a batch, at least,
	pingWarmMax = 10 // and at most, within pingBytes, while the congestion window still grows
)

// Name implements Experiment.
func (PingPong) Name() string { return "pingpong" }

// Design implements Experiment: sizes from 1 B to 4 MiB, about 6 a decade, or 3 where the effort is below 1.
func (PingPong) Design(l Limits) []Point {
	if l.Hosts < 2 {
		return nil
	}
	sizes := l.Sizes
	if sizes == nil {
		top, density := pingMax, pingPerDecade
		if l.MaxBytes > 0 {
			top = min(top, l.MaxBytes)
		}
		if l.Effort > 0 && l.Effort < 1 {
			density /= 2
		}
		sizes = units.Geometric(1, top, density, pingJitter, rand.New(rand.NewPCG(l.Seed, 0x70696e67)).Float64)
	}
	var out []Point
	for _, x := range sizes {
		if l.MaxBytes == 0 || x <= l.MaxBytes {
			out = append(out, Point{"bytes": int64(x)})
		}
	}
	return out
}

// Teams implements Experiment.
func (PingPong) Teams(l Limits, _ Point) []Step {
	if l.AllPairs {
		return Colouring(l.Hosts)
	}
	return neighbours(l.Hosts)
}

// Cost implements Experiment. Bytes counts both directions of the link.
func (PingPong) Cost(l Limits, p Point) Cost { return pingDose(p["bytes"]).cost(l.Effort) }

// pingDose is that of a message passed whole.
func pingDose(bytes int64) dose {
	return dose{bytes: units.Bytes(bytes), sends: 1, most: pingReps, least: pingMinReps}
}

// Run implements Experiment. Rank 0 decides how often, rank 1 answers. It ends with the batch, or when a receive meets the
// group's deadline.
func (PingPong) Run(ctx context.Context, g Group, p Point, r *Recorder) error {
	if err := checkPair(ctx, g, "pingpong"); err != nil {
		return err
	}
	msg := wholeMessage(1-g.Rank(), r.payload(p["bytes"]))
	t, err := rally{g, r, msg, pingDose(p["bytes"])}.run()
	if err != nil || g.Rank() == 1 {
		return err
	}
	r.Add(Batch{Point: p, Ranks: []int{0, 1}, NS: t.ns, TCP: t.tcp})
	return nil
}

// payload returns n bytes that no link can compress, touched.
func (r *Recorder) payload(n int64) []byte {
	b := make([]byte, n)
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], uint64(r.slot))
	// Read of a ChaCha8 never fails.
	_, _ = rand.NewChaCha8(seed).Read(b)
	return b
}
