package fittest

import (
	"maps"
	"math/rand/v2"
	"slices"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
)

// HalfTrips is a batch of n half round trips of two hosts, normal about a time [ns] with a deviation of 2%, of a clock
// that costs 40 ns.
func HalfTrips(rng *rand.Rand, exp, phase string, bytes int64, round, n int, ns float64) dataset.Sample {
	const clock = 40
	s := dataset.Sample{Exp: exp, Phase: phase, Point: dataset.Point{names.FactorBytes: bytes}, Ranks: []int{0, 1}, Round: round, Slot: round,
		Aux: map[string]float64{names.AuxClock: clock}}
	for range n {
		s.NS = append(s.NS, int64(ns*(1+0.02*rng.NormFloat64()))+clock/2)
	}
	return s
}

// Wakeups is what experiment wakeup gives on two hosts with these half round trips [ns] by phase.
func Wakeups(rounds int, phases map[string]float64) *dataset.Dataset {
	rng := rand.New(rand.NewPCG(1, 2))
	d := &dataset.Dataset{Header: dataset.Header{Hosts: []dataset.Host{{Name: "a"}, {Name: "b"}}}}
	for round := range rounds {
		for _, phase := range slices.Sorted(maps.Keys(phases)) {
			d.Samples = append(d.Samples, HalfTrips(rng, names.Wakeup, phase, 1, round, 100, phases[phase]))
		}
	}
	return d
}
