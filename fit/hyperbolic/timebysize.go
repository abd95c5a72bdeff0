package hyperbolic

import (
	"calib/fit"
	"calib/internal/dataset/names"
	"calib/internal/params"
)

// timeBySize is the plot that the models of ping-pong share: T(x) with the quantiles of all half round trips behind it.
func timeBySize(f *params.Fit, line, says string, curves []params.Curve) []params.Plot {
	series := f.Of(params.Time)
	if len(series) == 0 {
		return nil
	}
	return []params.Plot{{
		ID: "t-x", Section: fit.SectionPingpong, Title: "Time of a message by its size, idle network",
		Says: fit.Sentences(says),
		X:    fit.SizeAxis(true), Y: fit.TimeAxis("half round trip", true),
		Series: fit.SeriesNames(series), Line: line, Curves: curves, Below: true,
		Raw: &params.Raw{Experiment: names.Pingpong, Factor: names.FactorBytes},
	}}
}

// messageSizes are the places of a curve over the sizes of T(x).
func messageSizes(f *params.Fit) []float64 {
	lo, hi, _ := params.Span(f.Of(params.Time)...)
	return fit.Spread(lo, hi, true)
}
