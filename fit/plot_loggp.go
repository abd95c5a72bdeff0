package fit

import "strings"

// Plots implements Plotter.
func (LogGP) Plots(f *Fit) []Plot {
	var out []Plot
	if lo, hi, ok := f.seriesSpan(seriesGap); ok {
		out = append(out, Plot{
			ID: "loggp-gap", Section: sectionLogGP, Title: "Gap between messages by their size",
			Says: sentences("g, the gap of 1 byte, is "+f.format("g")+" and G, the gap per byte of long messages, "+f.format("G"),
				f.misses("The function is", seriesGap)),
			X: sizeAxis(true), Y: timeAxis("gap", true), Series: []string{seriesGap}, Line: "gap",
			Curves: f.Functions["gap"].drawn(seriesGap, lo, hi, 0, true), Below: true,
		})
	}
	if series := f.among("o_s(s)", "o_r(s)", "o_s(s), timed calls", "o_r(s), timed calls"); len(series) > 0 {
		var lines []string
		for _, s := range series {
			if !strings.Contains(s, "timed") {
				lines = append(lines, s)
			}
		}
		out = append(out, Plot{
			ID: "loggp-overheads", Section: sectionLogGP, Title: "Time that sender and receiver are busy with a message",
			Says: sentences(f.paramWords("o_s"), f.paramWords("o_r"), "Timed calls, where they are there, are measured by themselves and "+
				"not fitted"),
			X: sizeAxis(true), Y: timeAxis("time of a host", false), Series: series, Curves: f.costCurves(true, lines...),
		})
	}
	if series := f.among("PRTT(1,0,s)/2"); len(series) > 0 {
		out = append(out, Plot{
			ID: "loggp-round-trip", Section: sectionLogGP, Title: "Half a round trip beside L + o_s + o_r + (s − 1)·G",
			Says: sentences("L is "+f.format("L")+", from the smallest message; the larger ones show whether the sum holds",
				f.misses("The sum is", series...)),
			X: sizeAxis(false), Y: timeAxis("half round trip", false), Series: series, Line: "L + o_s + o_r + (s − 1)·G", Below: true,
		})
	}
	return out
}
