// Package models lists every model calib has.
package models

import (
	"calib/fit"
	"calib/fit/buffer"
	"calib/fit/cluster"
	"calib/fit/hyperbolic"
	"calib/fit/loggp"
	"calib/fit/overlap"
	"calib/fit/tuning"
)

// All is every model, in the order of reports. Of two models that find a parameter of the same name, the first owns it.
var All = []fit.Model{
	hyperbolic.Network,
	hyperbolic.Hyperbola, hyperbolic.Hockney, hyperbolic.Segmented, hyperbolic.Tails, hyperbolic.Wakeup,
	tuning.Timer,
	cluster.Overhead, cluster.Gap, cluster.Gather, cluster.Copy, cluster.Transfer,
	buffer.Buffer,
	loggp.LogGP, loggp.LoGPC,
	tuning.Fragment, tuning.Buffer, tuning.NoDelay,
	overlap.Model,
}
