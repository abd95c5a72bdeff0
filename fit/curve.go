package fit

import (
	"math"
	"slices"
	"strconv"

	"calib/internal/params"
	"calib/internal/units"
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
	n := evenPoints
	if log {
		n = min(max(2, int(math.Ceil(perDecade*math.Log10(hi/lo)))+1), curvePoints)
	}
	var out []float64
	for i := range n {
		share := float64(i) / float64(n-1)
		if log {
			out = append(out, lo*math.Pow(hi/lo, share))
		} else {
			out = append(out, lo+(hi-lo)*share)
		}
	}
	out[n-1] = hi
	for _, v := range must {
		if v > lo && v < hi {
			out = append(out, v)
		}
	}
	for i := range out {
		out[i] = Rounded(out[i])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Rounded returns v with the digits of a point of a curve.
func Rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', curveDigits, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// Traced is a curve through at(x), and its band where lo and hi are given. It is none with fewer than two points.
func Traced(name string, x []float64, at, lo, hi func(float64) float64) []params.Curve {
	c := params.Curve{Name: name}
	for _, v := range x {
		y := at(v)
		if !Finite(y) {
			continue
		}
		c.X, c.Y = append(c.X, v), append(c.Y, Rounded(y))
		if lo != nil && hi != nil {
			l, h := lo(v), hi(v)
			c.Lo, c.Hi = append(c.Lo, math.Min(Rounded(l), Rounded(y))), append(c.Hi, math.Max(Rounded(h), Rounded(y)))
		}
	}
	if len(c.X) < 2 {
		return nil
	}
	return []params.Curve{c}
}

// The lower end of a band is the curve with every coefficient at the lower end of its 95% interval, the upper end
// likewise: the forms that have a band grow with every coefficient, since sizes and hosts are not negative. To first
// order, a change of the curve is the sum of the coefficients' changes, which cannot deviate by more than its parts
// together. So the band holds the curve's own 95% interval at each x, however the coefficients' errors are correlated.
// It is wider than that interval where errors are opposed, as those of an intercept and a slope are.

// FunctionCurve is the curve of a cost function over the sizes of series s, with p hosts that communicate, and its band. It
// is none for a form that needs another function.
func FunctionCurve(name string, f params.Function, s params.Series, p float64, log bool) []params.Curve {
	lo, hi, some := params.Span(s)
	shape, err := f.Shape(nil)
	if err != nil || !some {
		return nil
	}
	at := func(g params.Function) func(float64) float64 {
		shape, err := g.Shape(nil)
		return func(x float64) float64 {
			if err != nil {
				return math.NaN()
			}
			return shape.At(x, p)
		}
	}
	x := Spread(lo, hi, log, shape.Corners()...)
	if len(f.CI95) == 0 {
		return Traced(name, x, at(f), nil, nil)
	}
	return Traced(name, x, at(f), at(f.End(0)), at(f.End(1)))
}

// CostCurves draws each series by the function it belongs to, "O_s(m)" by O_s, where that is there.
func CostCurves(f *params.Fit, log bool, series []params.Series) []params.Curve {
	var out []params.Curve
	for _, s := range series {
		if fn, ok := f.Functions[s.Symbol]; ok {
			out = append(out, FunctionCurve(s.Name, fn, s, 0, log)...)
		}
	}
	return out
}

// TwoParameterCurve is the curve of a form of two parameters with which it grows, and its band.
func TwoParameterCurve(f *params.Fit, name, first, second string, x []float64, form func(x, a, b float64) float64) []params.Curve {
	a, aLo, aHi, okA := f.Parameters[first].Ends()
	b, bLo, bHi, okB := f.Parameters[second].Ends()
	if !okA || !okB {
		return nil
	}
	at := func(a, b float64) func(float64) float64 { return func(x float64) float64 { return form(x, a, b) } }
	if aLo == aHi && bLo == bHi {
		return Traced(name, x, at(a, b), nil, nil)
	}
	return Traced(name, x, at(a, b), at(aLo, bLo), at(aHi, bHi))
}

// Mark marks a parameter that is an x of the plot; none without a value.
func Mark(f *params.Fit, name, label string) []params.Mark {
	q := f.Parameters[name]
	v, lo, hi, ok := q.Ends()
	if !ok {
		return nil
	}
	m := params.Mark{X: v, Label: label + " " + units.Format(v, q.Unit)}
	if lo < hi {
		m.Lo, m.Hi = lo, hi
	}
	return []params.Mark{m}
}
