package fit

import (
	"strings"

	"calib/internal/units"
)

// seriesT is the residual series of the models of ping-pong.
const seriesT = "T(x)"

// timeBySize is the plot that the models of ping-pong share: T(x) with the quantiles of all half round trips behind it.
func (f *Fit) timeBySize(line, says string, curves []Curve) []Plot {
	if len(f.seriesNamed(seriesT)) == 0 {
		return nil
	}
	return []Plot{{
		ID: "t-x", Section: sectionPingpong, Title: "Time of a message by its size, idle network",
		Says: sentences(says),
		X:    sizeAxis(true), Y: timeAxis("half round trip", true),
		Series: []string{seriesT}, Line: line, Curves: curves, Below: true,
		Raw: &Raw{Experiment: "pingpong", Factor: "bytes"},
	}}
}

// messageSizes are the places of a curve over the sizes of T(x).
func (f *Fit) messageSizes() []float64 {
	lo, hi, _ := f.seriesSpan(seriesT)
	return spread(lo, hi, true)
}

// Plots implements Plotter.
func (Hyperbola) Plots(f *Fit) []Plot {
	x, curves := f.messageSizes(), []Curve{}
	curves = append(curves, f.twoParameters("hyperbola", "a_prime_limits", "b_prime_limits", x, T)...)
	if a, _, _, ok := f.ends("a_prime_joint"); ok {
		if b, _, _, ok := f.ends("b_prime_joint"); ok {
			joint := func(x float64) float64 { return T(x, a, b) }
			curves = append(curves, traced("hyperbola, all sizes at once", x, joint, nil, nil)...)
		}
	}
	rate := ""
	if b, _, _, ok := f.ends("b_prime_limits"); ok && b > 0 {
		rate = " (" + units.Format(1/b, "B/s") + ")"
	}
	return f.timeBySize("hyperbola", f.misses("The hyperbola, "+f.format("a_prime_limits")+" for small messages and "+
		f.format("b_prime_limits")+rate+" for large ones, is", seriesT), curves)
}

// Plots implements Plotter.
func (Hockney) Plots(f *Fit) []Plot {
	curves := f.twoParameters("Hockney", "alpha", "beta", f.messageSizes(), func(x, a, b float64) float64 { return a + b*x })
	return f.timeBySize("Hockney", f.misses("Hockney's line, "+f.format("alpha")+" + "+f.format("beta")+"·x, a rate of "+
		f.format("r_inf")+", is", seriesT), curves)
}

// Plots implements Plotter.
func (Segmented) Plots(f *Fit) []Plot {
	fn := f.Functions["T"]
	lo, hi, _ := f.seriesSpan(seriesT)
	says := f.misses("The segments, "+strings.TrimPrefix(fn.words("T"), "T(x) = ")+", are", seriesT)
	return f.timeBySize("segments", says, fn.drawn("segments", lo, hi, 0, true))
}
