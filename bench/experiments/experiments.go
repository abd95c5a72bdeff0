// Package experiments lists every experiment that calib has. Its conformance suite tests each of them on simulated
// teams.
package experiments

import (
	"slices"

	"calib/bench"
	"calib/bench/check"
	"calib/bench/collective"
	"calib/bench/flow"
	"calib/bench/incast"
	"calib/bench/overlap"
	"calib/bench/remap"
	"calib/bench/roundtrip"
	"calib/bench/tuning"
)

// All is every experiment, in the order of a plan's listing.
var All = []*bench.Experiment{
	check.Clock, roundtrip.Pingpong, roundtrip.Wakeup, flow.Paired, overlap.Overhead, flow.Gap, overlap.Copy,
	incast.Gather, incast.Flood, roundtrip.Load, tuning.Fragment, tuning.Buffer, tuning.NoDelay, overlap.Overlap,
	roundtrip.PRTT, remap.Remap, collective.Pattern,
}

// Before are the experiments before a plan is made: whether every pair of hosts can be measured, and the first look at
// the network. They are no part of a plan.
var Before = []*bench.Experiment{check.Check, check.Probe}

// Lookup returns the experiment of that name, those before a plan included.
func Lookup(name string) (*bench.Experiment, bool) {
	return bench.Find(slices.Concat(Before, All), name)
}
