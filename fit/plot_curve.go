package fit

import (
	"math"
	"slices"
	"strconv"
)

// Curves of plots are drawn from the model's own function, not through its values at the measured sizes: close enough on a
// logarithmic axis that straight lines between the points differ from it by less than 0.3%.

const (
	perDecade   = 12 // points of a curve on a logarithmic axis
	curvePoints = 60 // at most
	evenPoints  = 17 // points of a curve on a linear axis
	// curveDigits are the significant digits of a point of a curve: it is looked at, not computed with.
	curveDigits = 6
	// aside is how far behind a jump a curve goes on, as a share of where it is.
	aside = 1e-4
)

// spread returns places from lo to hi, by equal ratios on a logarithmic axis and equal steps on a linear one, with the
// places in must that lie between. It returns nil where there is no range.
func spread(lo, hi float64, log bool, must ...float64) []float64 {
	if !(lo < hi) || !finite(lo) || !finite(hi) || log && lo <= 0 {
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
		out[i] = rounded(out[i])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// rounded returns v with curveDigits significant digits.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', curveDigits, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// traced is a curve through at(x), and its band where lo and hi are given.
func traced(name string, x []float64, at, lo, hi func(float64) float64) []Curve {
	c := Curve{Name: name}
	for _, v := range x {
		y := at(v)
		if !finite(y) {
			continue
		}
		c.X, c.Y = append(c.X, v), append(c.Y, rounded(y))
		if lo != nil && hi != nil {
			l, h := lo(v), hi(v)
			c.Lo, c.Hi = append(c.Lo, math.Min(rounded(l), rounded(y))), append(c.Hi, math.Max(rounded(h), rounded(y)))
		}
	}
	if len(c.X) < 2 {
		return nil
	}
	return []Curve{c}
}

// The bands of curves are made of the ends of the coefficients' own 95% intervals, all of them low and all of them high:
// the forms that have a band grow with every coefficient, since sizes and hosts are not negative. A change of the curve is,
// to first order, a sum of the coefficients' changes, and a sum deviates by no more than its parts' deviations together:
// whatever the coefficients' errors have to do with each other, the band holds the curve's own 95% interval at each x. It
// is wider than that where errors are opposed, as those of an intercept and a slope are.

// drawn is the curve of a function of one argument between lo and hi, p being the hosts that communicate where it has
// that argument too. It is none for a form that the fit alone cannot evaluate.
func (f Function) drawn(name string, lo, hi, p float64, log bool) []Curve {
	args := map[string]float64{"p": p}
	arg := "m"
	if f.Form == SegmentsForm {
		arg = "x"
	}
	if _, err := f.Eval(map[string]float64{arg: lo, "p": p}, nil); err != nil {
		return nil
	}
	at := func(g Function) func(float64) float64 {
		return func(x float64) float64 {
			args[arg] = x
			v, err := g.Eval(args, nil)
			if err != nil {
				return math.NaN()
			}
			return v
		}
	}
	x := spread(lo, hi, log, f.corners()...)
	if len(f.CI95) == 0 {
		return traced(name, x, at(f), nil, nil)
	}
	return traced(name, x, at(f), at(f.end(0)), at(f.end(1)))
}

// end returns f with every coefficient that has an interval at its lower (0) or upper (1) end.
func (f Function) end(side int) Function {
	coeff := map[string]float64{}
	for k, v := range f.Coeff {
		if ci, ok := f.CI95[k]; ok && finite(ci[side]) {
			v = ci[side]
		}
		coeff[k] = v
	}
	f.Coeff = coeff
	return f
}

// corners are the places where f has an edge or a jump.
func (f Function) corners() []float64 {
	switch f.Form {
	case FloorForm:
		return []float64{(f.Coeff["floor"] - f.Coeff["c0"]) / f.Coeff["c1"]}
	case SegmentsForm:
		var out []float64
		for i := 2; ; i++ {
			from, ok := f.Coeff["from_"+strconv.Itoa(i)]
			if !ok {
				return out
			}
			out = append(out, from, from*(1+aside))
		}
	}
	return nil
}

// ends returns the value of a parameter and the ends of its interval, all the same where it has none; false without a value.
func (f *Fit) ends(name string) (v, lo, hi float64, ok bool) {
	p := f.Parameters[name]
	if p.Value == nil || !finite(*p.Value) {
		return 0, 0, 0, false
	}
	v = *p.Value
	if p.CI95 == nil || !holdablePair(p.CI95) {
		return v, v, v, true
	}
	return v, p.CI95[0], p.CI95[1], true
}

// twoParameters is the curve of a form of two parameters with which it grows, and its band.
func (f *Fit) twoParameters(name, first, second string, x []float64, form func(x, a, b float64) float64) []Curve {
	a, aLo, aHi, okA := f.ends(first)
	b, bLo, bHi, okB := f.ends(second)
	if !okA || !okB {
		return nil
	}
	at := func(a, b float64) func(float64) float64 { return func(x float64) float64 { return form(x, a, b) } }
	if aLo == aHi && bLo == bHi {
		return traced(name, x, at(a, b), nil, nil)
	}
	return traced(name, x, at(a, b), at(aLo, bLo), at(aHi, bHi))
}
