// Package models lists every model calib has.
package models

import (
	"calib/fit"
	"calib/fit/buffer"
	"calib/fit/cluster"
	"calib/fit/hyperbolic"
	"calib/fit/loggp"
	"calib/fit/logpc"
	"calib/fit/overlap"
	"calib/fit/pointtopoint"
	"calib/fit/timer"
	"calib/fit/tuning"
)

// All is every model, in the order of reports. Of two models that find a parameter of the same name, the first owns it.
var All = []fit.Model{
	hyperbolic.Network{},
	pointtopoint.Hyperbola{}, pointtopoint.Hockney{}, pointtopoint.Segmented{}, pointtopoint.Tails{}, pointtopoint.Wakeup{},
	timer.Timer{},
	cluster.Overhead{}, cluster.Gap{}, cluster.Gather{}, cluster.Copy{}, cluster.Transfer{},
	buffer.Buffer{},
	loggp.LogGP{}, logpc.LoGPC{},
	tuning.Fragment{}, tuning.Buffer{}, tuning.NoDelay{},
	overlap.Model{},
}
