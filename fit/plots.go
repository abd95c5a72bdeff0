package fit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"calib/internal/lists"
	"calib/internal/plot"
	"calib/internal/units"
	"calib/params"
)

// Curves of plots are drawn from the model's own function, not through its values at the measured sizes: close enough
// on a logarithmic axis that straight lines between the points differ from it by less than 0.3%.

const (
	perDecade   = 12 // points of a curve on a logarithmic axis
	curvePoints = 60 // at most
	evenPoints  = 17 // points of a curve on a linear axis
	// curveDigits are the significant digits of a point of a curve: it is looked at, not computed with.
	curveDigits = 6
)

// Spread returns places from lo to hi, by equal ratios on a logarithmic axis and equal steps on a linear one, with the
// places in must that lie between. It returns nil where there is no range.
func Spread(lo, hi float64, log bool, must ...float64) []float64 {
	if !(lo < hi) || !Finite(lo) || !Finite(hi) || log && lo <= 0 {
		return nil
	}
	out, span := make([]float64, evenPoints), floats.Span
	if log {
		out, span = make([]float64, min(max(2, int(math.Ceil(perDecade*math.Log10(hi/lo)))+1), curvePoints)), floats.LogSpan
	}
	span(out, lo, hi)
	for _, v := range must {
		if v > lo && v < hi {
			out = append(out, v)
		}
	}
	out = lists.Map(out, rounded)
	slices.Sort(out)
	return slices.Compact(out)
}

// rounded returns v with the digits of a point of a curve.
func rounded(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', curveDigits, 64), 64)
	return r
}

// Traced is a curve through at(x), and its band from lo to hi where they differ. It is none with fewer than two points.
func Traced(name string, x []float64, at, lo, hi func(float64) float64) []plot.Curve {
	c := plot.Curve{Name: name}
	for _, v := range x {
		y, l, h := at(v), lo(v), hi(v)
		if !Finite(y) || !Finite(l) || !Finite(h) {
			continue
		}
		c.X, c.Y = append(c.X, v), append(c.Y, rounded(y))
		c.Lo, c.Hi = append(c.Lo, math.Min(rounded(l), rounded(y))), append(c.Hi, math.Max(rounded(h), rounded(y)))
	}
	if len(c.X) < 2 {
		return nil
	}
	if slices.Equal(c.Lo, c.Hi) {
		c.Lo, c.Hi = nil, nil
	}
	return []plot.Curve{c}
}

// The lower end of a band is the curve with every coefficient at the lower end of its 95% interval, the upper end
// likewise: the forms that have a band grow with every coefficient, since sizes and hosts are not negative. To first
// order, a change of the curve is the sum of the coefficients' changes, which cannot deviate by more than its parts
// together. So the band holds the curve's own 95% interval at each x, however the coefficients' errors are correlated.
// It is wider where errors are opposed, as of an intercept and a slope. Lines over ranges have their own interval.

// FunctionCurve is the curve of a cost function over the sizes of series s, with p hosts that communicate, and its
// band. It is none for a form that needs another function.
func FunctionCurve(name string, f params.Function, s params.Series, p float64, log bool) []plot.Curve {
	lo, hi, some := params.Span(s)
	shape, err := f.Shape(nil)
	if err != nil || !some {
		return nil
	}
	end := func(side int) func(float64) float64 {
		if f.Form == params.Pieces {
			return func(x float64) float64 { return f.Within(x, s.Points)[side] }
		}
		shape, _ := f.End(side).Shape(nil) // of the form of f
		return func(x float64) float64 { return shape.At(x, p) }
	}
	at := func(x float64) float64 { return shape.At(x, p) }
	return Traced(name, Spread(lo, hi, log, shape.Corners()...), at, end(0), end(1))
}

// CostCurves draws each series by the function it belongs to, "O_s(m)" by O_s, where that is there.
func CostCurves(f *params.Fit, log bool, series []params.Series) []plot.Curve {
	var out []plot.Curve
	for _, s := range series {
		if fn, ok := f.Functions[s.Symbol]; ok {
			out = append(out, FunctionCurve(s.Name, fn, s, 0, log)...)
		}
	}
	return out
}

// TwoParameterCurve is the curve of a form of two parameters with which it grows, and its band.
func TwoParameterCurve(f *params.Fit, name, first, second string, x []float64,
	form func(x, a, b float64) float64) []plot.Curve {
	a, aLo, aHi, okA := f.Parameters[first].Ends()
	b, bLo, bHi, okB := f.Parameters[second].Ends()
	if !okA || !okB {
		return nil
	}
	at := func(a, b float64) func(float64) float64 { return func(x float64) float64 { return form(x, a, b) } }
	return Traced(name, x, at(a, b), at(aLo, bLo), at(aHi, bHi))
}

// Mark marks a parameter that is an x of the plot; none without a value.
func Mark(f *params.Fit, name, label string) []plot.Mark {
	q := f.Parameters[name]
	v, lo, hi, ok := q.Ends()
	if !ok {
		return nil
	}
	m := plot.Mark{X: v, Label: label + " " + units.Format(v, q.Unit)}
	if lo < hi {
		m.Lo, m.Hi = lo, hi
	}
	return []plot.Mark{m}
}

const (
	SectionPingpong   = "Ping-pong"
	SectionContention = "Contention"
	SectionCluster    = "Cluster model"
	SectionLogGP      = "LogGP"
	SectionLoGPC      = "LoGPC"
	SectionCopies     = "Copies"
	SectionTuning     = "Tuning"
	SectionOverlap    = "Latency hiding"
)

func SizeAxis(log bool) plot.Axis { return plot.Axis{Name: "message size", Unit: "B", Log: log} }

func TimeAxis(name string, log bool) plot.Axis { return plot.Axis{Name: name, Unit: "s", Log: log} }

// SeriesNames lists the names of series, for Plot.Series.
func SeriesNames(series []params.Series) []string {
	return lists.Map(series, func(s params.Series) string { return s.Name })
}

// Misses says how far what is fitted is from the measured points of series.
func Misses(what string, series ...params.Series) string {
	mean, worst, n := params.Misfit(series...)
	if n == 0 {
		return what + " not to be compared with the points"
	}
	return fmt.Sprintf("%s off the points by %s on average and by %s at most", what, Share(mean), Share(worst))
}

// Share prints a relative number with two digits: "7.2%".
func Share(v float64) string {
	switch {
	case math.Abs(v) >= 0.995:
		return fmt.Sprintf("%.0f%%", 100*v)
	case v != 0 && math.Abs(v) < 1e-4:
		return "less than 0.01%"
	}
	return fmt.Sprintf("%.2g%%", 100*v)
}

// ParameterWords prints a parameter with its value, or says that there is none and why.
func ParameterWords(f *params.Fit, name string) string {
	p, ok := f.Parameters[name]
	switch {
	case !ok:
		return ""
	case p.Value != nil && p.CI95 != nil:
		return fmt.Sprintf("%s is %s (95%%: %s to %s)", name, units.Format(*p.Value, p.Unit), units.Format(p.CI95[0], p.Unit),
			units.Format(p.CI95[1], p.Unit))
	case p.Value != nil:
		return name + " is " + units.Format(*p.Value, p.Unit)
	}
	return name + " has no value: " + p.Why
}

// ValueWords prints the value of a parameter; "unknown" without one.
func ValueWords(f *params.Fit, name string) string {
	p := f.Parameters[name]
	if p.Value == nil {
		return "unknown"
	}
	return units.Format(*p.Value, p.Unit)
}

// FunctionWords prints the functions of the fit among names, and why those are missing that are parameters instead.
func FunctionWords(f *params.Fit, names ...string) string {
	var parts []string
	for _, name := range names {
		if fn, ok := f.Functions[name]; ok && !fn.Usable() {
			parts = append(parts, name+" is not to be used: "+fn.Why)
		} else if ok {
			parts = append(parts, fn.Words(name))
		} else if _, ok := f.Parameters[name]; ok {
			parts = append(parts, ParameterWords(f, name))
		}
	}
	return strings.Join(parts, "; ")
}

// Sentences joins texts into sentences, each with a full stop.
func Sentences(texts ...string) string {
	var out []string
	for _, s := range texts {
		if s = strings.TrimSuffix(strings.TrimSpace(s), "."); s != "" {
			out = append(out, s+".")
		}
	}
	return strings.Join(out, " ")
}
