package remap

import (
	"math/rand/v2"

	"calib/bench"
	"calib/internal/dataset/names"
)

// destinationSeed is that of the generator of drawn destinations; a stream is one rank in one round.
const destinationSeed = 0x72656d6170

// destinations fills out with whom a rank sends its messages to; it returns none where the rank sends none. All ranks
// know those of all, so that each knows what it will receive.
func destinations(p bench.Point, round, rank int, out []int) []int {
	size := int(p[names.FactorHosts])
	if int64(rank) >= p[names.FactorInjecting] {
		return nil
	}
	near := offsets(size, int(p[names.FactorSpan]))
	if p[names.FactorDestinations] == names.DestinationsNext {
		near = near[:1]
	}
	rng := rand.New(rand.NewPCG(destinationSeed, uint64(round)<<32|uint64(rank)))
	for i := range out {
		by := near[i%len(near)]
		if p[names.FactorDestinations] == names.DestinationsDrawn {
			by = near[rng.IntN(len(near))]
		}
		out[i] = (rank + by) % size
	}
	return out
}

// offsets lists how far round the ring of ranks a message may go, upwards. A span of 0 is all ranks in order; with one
// the nearest come first, up and down in turn.
func offsets(size, span int) []int {
	var out []int
	if span == 0 {
		for by := 1; by < size; by++ {
			out = append(out, by)
		}
		return out
	}
	for by := 1; by <= span && 2*by <= size; by++ {
		out = append(out, by)
		if 2*by < size {
			out = append(out, size-by)
		}
	}
	return out
}
