package loggp

import (
	"calib/fit"
	"calib/internal/params"
)

func logGPPlots(f *params.Fit) []params.Plot {
	var out []params.Plot
	if gap := f.Named(seriesGap); len(gap.Points) > 0 {
		out = append(out, params.Plot{
			ID: "loggp-gap", Section: fit.SectionLogGP, Title: "Gap between messages by their size",
			Says: fit.Sentences("g, the gap of 1 byte, is "+fit.ValueWords(f, "g")+" and G, the gap per byte of long messages, "+fit.ValueWords(f, "G"),
				fit.Misses("The function is", gap)),
			X: fit.SizeAxis(true), Y: fit.TimeAxis("gap", true), Series: []string{seriesGap}, Line: "gap",
			Curves: fit.CostCurves(f, true, []params.Series{gap}), Below: true,
		})
	}
	lines := f.Of(params.Overhead)
	if series := append(lines, f.Of(params.TimedCall)...); len(series) > 0 {
		out = append(out, params.Plot{
			ID: "loggp-overheads", Section: fit.SectionLogGP, Title: "Time that sender and receiver are busy with a message",
			Says: fit.Sentences(fit.ParameterWords(f, "o_s"), fit.ParameterWords(f, "o_r"), "Timed calls, where they are there, are measured by "+
				"themselves and not fitted"),
			X: fit.SizeAxis(true), Y: fit.TimeAxis("time of a host", false), Series: fit.SeriesNames(series), Curves: fit.CostCurves(f, true, lines),
		})
	}
	if series := f.Of(params.HalfRoundTrip); len(series) > 0 {
		out = append(out, params.Plot{
			ID: "loggp-round-trip", Section: fit.SectionLogGP, Title: "Half a round trip beside L + o_s + o_r + (s − 1)·G",
			Says: fit.Sentences("L is "+fit.ValueWords(f, "L")+", from the smallest message; the larger ones show whether the sum holds",
				fit.Misses("The sum is", series...)),
			X: fit.SizeAxis(false), Y: fit.TimeAxis("half round trip", false), Series: fit.SeriesNames(series), Line: "L + o_s + o_r + (s − 1)·G",
			Below: true,
		})
	}
	return out
}
