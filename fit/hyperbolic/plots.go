package hyperbolic

import (
	"fmt"
	"math"

	"calib/fit"
	"calib/internal/dataset/names"
	"calib/internal/plot"
	"calib/internal/units"
	"calib/params"
)

func networkPlots(f *params.Fit) []plot.Plot {
	fixed, perByte, bursts := f.Of(params.FixedTime), f.Of(params.TimePerByte), f.Of(params.BurstTime)
	connections := f.Of(params.ConnectionTime)
	lo, hi, _ := params.Span(fixed...)
	return []plot.Plot{{
		ID: "a-prime", Section: fit.SectionContention, Title: "Fixed time of a message while n pairs send at once",
		Says: fit.Sentences(fixedWords(f)), X: pairsAxis(), Y: fit.TimeAxis("a'(n)", false),
		Series: fit.SeriesNames(fixed), Line: "2a + n·a_c", Curves: fit.TwoParameterCurve(f, "2a + n·a_c", "a", "a_c",
			fit.Spread(lo, hi, false), func(n, a, ac float64) float64 { return 2*a + n*ac }),
	}, {
		ID: "b-prime", Section: fit.SectionContention, Title: "Time per byte while n pairs send at once",
		Says: fit.Sentences(fit.ParameterWords(f, "b"), fit.ParameterWords(f, "b_c"), fit.ParameterWords(f, "b_prime")),
		X:    pairsAxis(), Y: plot.Axis{Name: "b'(n)", Unit: "s/B"}, Series: fit.SeriesNames(perByte),
		Line: "max(b, n·b_c)", Curves: mediumCurve(f, perByte),
	}, {
		ID: "b-connections", Section: fit.SectionContention, Title: "Time per byte of a pair over several connections",
		Says: "Where it falls, one connection or its CPU is the limit, and not the link.",
		X:    plot.Axis{Name: "connections of a pair"}, Y: plot.Axis{Name: "b'", Unit: "s/B"},
		Series: fit.SeriesNames(connections), Line: "measured, joined",
	}, {
		ID: "bursts", Section: fit.SectionContention, Title: "Time of n messages sent at once, by their size",
		Says: fit.Sentences(fmt.Sprintf("Time to the last of n deliveries, for %s of pairs, beside eq. 16 with the "+
			"parameters above", units.Plural(int64(len(bursts)), "number")), fit.Misses("Eq. 16 is", bursts...)),
		X: fit.SizeAxis(true), Y: fit.TimeAxis("last delivery", true), Series: fit.SeriesNames(bursts),
		Curves: burstCurves(f, bursts), Below: true,
	}}
}

// maxBursts is the number of curves that a plot of bursts holds; more series have lines through their fitted values.
const maxBursts = 8

// burstCurves draws eq. 16 for every n, with a'(n) and b'(n) as fitted.
func burstCurves(f *params.Fit, series []params.Series) []plot.Curve {
	if len(series) > maxBursts {
		return nil
	}
	fitted := func(of string, n float64) float64 {
		for _, r := range f.Named(of).Points {
			if r.X == n {
				return r.Fitted
			}
		}
		return math.NaN() // no curve
	}
	var out []plot.Curve
	for _, s := range series {
		a, b := fitted(seriesA, s.Factors["pairs"]), fitted(seriesB, s.Factors["pairs"])
		if lo, hi, ok := params.Span(s); ok {
			at := func(x float64) float64 { return params.ServiceTime(x, a, b) }
			out = append(out, fit.Traced(s.Name, fit.Spread(lo, hi, true), at, at, at)...)
		}
	}
	return out
}

func pairsAxis() plot.Axis { return plot.Axis{Name: "pairs that send at once, n"} }

func fixedWords(f *params.Fit) string {
	if _, ok := f.Parameters["a_prime"]; ok {
		return fit.ParameterWords(f, "a_prime") + "; one number of pairs does not tell the hosts' part from the network's"
	}
	return "a'(n) = 2a + n·a_c: " + fit.ParameterWords(f, "a") + "; " + fit.ParameterWords(f, "a_c")
}

// mediumCurve is b'(n) = max(b, n·b_c), or the part of it that is known.
func mediumCurve(f *params.Fit, series []params.Series) []plot.Curve {
	lo, hi, _ := params.Span(series...)
	b, bLo, bHi, flat := f.Parameters["b"].Ends()
	bc, bcLo, bcHi, rising := f.Parameters["b_c"].Ends()
	if !flat && !rising {
		return nil
	}
	at := func(b, bc float64) func(float64) float64 { // unknown is 0
		return func(n float64) float64 { return math.Max(b, n*bc) }
	}
	x := fit.Spread(lo, hi, false, b/bc)
	return fit.Traced("max(b, n·b_c)", x, at(b, bc), at(bLo, bcLo), at(bHi, bcHi))
}

// timeBySize is the plot that the models of ping-pong share: T(x) with the quantiles of all half round trips behind it.
func timeBySize(f *params.Fit, line, says string, curves []plot.Curve) []plot.Plot {
	series := f.Of(params.Time)
	return []plot.Plot{{
		ID: "t-x", Section: fit.SectionPingpong, Title: "Time of a message by its size, idle network",
		Says: fit.Sentences(says),
		X:    fit.SizeAxis(true), Y: fit.TimeAxis("half round trip", true),
		Series: fit.SeriesNames(series), Line: line, Curves: curves, Below: true,
		Raw: &plot.Raw{Experiment: names.Pingpong, Factor: names.FactorBytes},
	}}
}

// messageSizes are the places of a curve over the sizes of T(x).
func messageSizes(f *params.Fit) []float64 {
	lo, hi, _ := params.Span(f.Of(params.Time)...)
	return fit.Spread(lo, hi, true)
}
