// Package experiments lists every experiment that calib has. Its conformance suite tests each of them on simulated
// teams.
package experiments

import (
	"calib/bench"
	"calib/bench/check"
	"calib/bench/clock"
	"calib/bench/collective"
	"calib/bench/flood"
	"calib/bench/gap"
	"calib/bench/gather"
	"calib/bench/load"
	"calib/bench/memcopy"
	"calib/bench/overhead"
	"calib/bench/overlap"
	"calib/bench/paired"
	"calib/bench/pingpong"
	"calib/bench/probe"
	"calib/bench/prtt"
	"calib/bench/remap"
	"calib/bench/tuning"
	"calib/bench/wakeup"
)

// All is every experiment, in the order of a plan's listing.
var All = []bench.Experiment{
	clock.Experiment{}, pingpong.Experiment{}, wakeup.Experiment{}, paired.Experiment{}, overhead.Experiment{}, gap.Experiment{},
	memcopy.Experiment{}, gather.Experiment{}, flood.Experiment{}, load.Experiment{}, tuning.Fragment{}, tuning.Buffer{},
	tuning.NoDelay{}, overlap.Experiment{}, prtt.Experiment{}, remap.Experiment{}, collective.Bcast{}, collective.Pattern{},
}

// Before are the experiments before a plan is made: whether every pair of hosts can be measured, and the first look at
// the network. They are no part of a plan.
var Before = []bench.Experiment{check.Experiment{}, probe.Experiment{}}

// Lookup returns the experiment of that name, those before a plan included.
func Lookup(name string) (bench.Experiment, bool) {
	if e, ok := bench.Find(Before, name); ok {
		return e, true
	}
	return bench.Find(All, name)
}
