// Package models lists every model calib has.
package models

import (
	"slices"

	"calib/fit"
	"calib/fit/buffer"
	"calib/fit/cluster"
	"calib/fit/hyperbolic"
	"calib/fit/loggp"
	"calib/fit/overlap"
	"calib/fit/tuning"
	"calib/internal/plot"
	"calib/params"
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

// Plots are those of a finished fit, by the model that made it; none where this build does not have it.
func Plots(f *params.Fit) []plot.Plot {
	i := slices.IndexFunc(All, func(m fit.Model) bool { return m.Name == f.Model })
	if i < 0 || All[i].Draw == nil {
		return nil
	}
	return slices.DeleteFunc(All[i].Draw(f), func(p plot.Plot) bool { return len(p.Series) == 0 })
}
