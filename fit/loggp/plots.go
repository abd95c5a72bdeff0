package loggp

import (
	"calib/fit/plots"
	"calib/internal/params"
)

// Plots implements fit.Plotter.
func (LogGP) Plots(f *params.Fit) []params.Plot {
	var out []params.Plot
	if gap := f.Named(seriesGap); len(gap.Points) > 0 {
		out = append(out, params.Plot{
			ID: "loggp-gap", Section: plots.LogGP, Title: "Gap between messages by their size",
			Says: plots.Sentences("g, the gap of 1 byte, is "+plots.Value(f, "g")+" and G, the gap per byte of long messages, "+plots.Value(f, "G"),
				plots.Misses("The function is", gap)),
			X: plots.SizeAxis(true), Y: plots.TimeAxis("gap", true), Series: []string{seriesGap}, Line: "gap",
			Curves: plots.Costs(f, true, []params.Series{gap}), Below: true,
		})
	}
	lines := f.Of(params.Overhead)
	if series := append(lines, f.Of(params.TimedCall)...); len(series) > 0 {
		out = append(out, params.Plot{
			ID: "loggp-overheads", Section: plots.LogGP, Title: "Time that sender and receiver are busy with a message",
			Says: plots.Sentences(plots.Parameter(f, "o_s"), plots.Parameter(f, "o_r"), "Timed calls, where they are there, are measured by "+
				"themselves and not fitted"),
			X: plots.SizeAxis(true), Y: plots.TimeAxis("time of a host", false), Series: plots.Names(series), Curves: plots.Costs(f, true, lines),
		})
	}
	if series := f.Of(params.HalfRoundTrip); len(series) > 0 {
		out = append(out, params.Plot{
			ID: "loggp-round-trip", Section: plots.LogGP, Title: "Half a round trip beside L + o_s + o_r + (s − 1)·G",
			Says: plots.Sentences("L is "+plots.Value(f, "L")+", from the smallest message; the larger ones show whether the sum holds",
				plots.Misses("The sum is", series...)),
			X: plots.SizeAxis(false), Y: plots.TimeAxis("half round trip", false), Series: plots.Names(series), Line: "L + o_s + o_r + (s − 1)·G",
			Below: true,
		})
	}
	return out
}
