package lsq

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

// Curve is what was fitted to points.
type Curve interface{ At(x float64) float64 }

// Func is a function as a Curve.
type Func func(x float64) float64

func (f Func) At(x float64) float64 { return f(x) }

// Line is y = C0 + C1·x.
type Line struct {
	C0, C1 float64
	Cond   float64 // condition number of the fit, 0 where none was made
}

func (l Line) At(x float64) float64 { return l.C0 + l.C1*x }

// FitLine fits a line by weighted least squares; w nil makes residuals relative.
func FitLine(x, y, w []float64) (Line, error) {
	w, err := OrRelative(y, w)
	if err != nil {
		return Line{}, err
	}
	rows, all := make([][]float64, len(x)), make([]float64, 2*len(x))
	for i, v := range x {
		rows[i] = all[2*i : 2*i+2]
		rows[i][0], rows[i][1] = 1, v
	}
	sol, err := Linear(rows, y, w)
	if err != nil {
		return Line{}, err
	}
	return Line{sol.Coef[0], sol.Coef[1], sol.Cond}, nil
}

// RelativeLine is FitLine to relative residuals.
func RelativeLine(x, y []float64) (Line, error) { return FitLine(x, y, nil) }

// OrRelative returns w, or where it is nil 1/y² for each y: the weights under which residuals are relative. It is an
// error where that is not finite.
func OrRelative(y, w []float64) ([]float64, error) {
	if w != nil {
		return w, nil
	}
	w = make([]float64, len(y))
	for i, v := range y {
		if w[i] = 1 / v / v; !finite(w[i]) {
			return nil, fmt.Errorf("y[%d] is %g, which has no relative residual", i, v)
		}
	}
	return w, nil
}

// Weights returns 1/variance of each value. A variance from a handful of rounds is itself uncertain by half, and
// weights that follow its noise are worse than equal ones: the relative variance of each value is averaged with the
// mean of all. Exact data weigh by 1/value².
func Weights(values []float64, replicates [][]float64) []float64 {
	rel := make([]float64, len(values))
	mean := 0.0
	for i, v := range values {
		for _, r := range replicates {
			d := (r[i] - v) / v
			rel[i] += d * d / float64(len(replicates))
		}
		mean += rel[i] / float64(len(values))
	}
	w := make([]float64, len(values))
	for i, v := range values {
		share := 1.0
		if mean > 0 {
			share = (rel[i] + mean) / (2 * mean)
		}
		w[i] = 1 / (v * v * share)
	}
	return w
}

// WeightedMean is the least-squares constant.
func WeightedMean(v, w []float64) float64 { return stat.Mean(v, w) }

// Proportional is the least-squares slope of a line through the origin.
func Proportional(n, v, w []float64) float64 {
	_, slope := stat.LinearRegression(n, v, w, true)
	return slope
}

// SumOfSquares is Σ w·(y − at(x))².
func SumOfSquares(x, y, w []float64, at func(float64) float64) float64 {
	sum := 0.0
	for i, v := range x {
		d := y[i] - at(v)
		sum += w[i] * d * d
	}
	return sum
}

// BIC is the Bayesian information criterion of n points fitted with q coefficients. Residuals are relative; smaller
// ones than a billionth are rounding errors, and count as a billionth.
func BIC(rss float64, n, q int) float64 {
	return float64(n)*math.Log(math.Max(rss/float64(n), 1e-18)) + float64(q)*math.Log(float64(n))
}

// Clearly is by how much BIC must be lower for the richer of two models to be taken: strong evidence. Source: Kass,
// Raftery 1995, Bayes factors, J. Am. Stat. Assoc. 90, section 3.2.
const Clearly = 6

// Up to mostAlone points LeaveOneOut leaves each out alone. More are left out in folds, so that a fit of n points that
// takes O(n²) does so a bounded number of times.
const mostAlone, folds = 100, 10

// LeaveOneOut is the mean relative error at each inner point of a fit made without it. The ends stay: a fit without
// them would be judged where nobody uses it. Of more than 100 inner points every tenth is left out at a time (ten-fold
// cross-validation). Points that the fit fails without are left out of the mean. It returns false where it always
// fails, and without inner points. x ascends. Source: Breiman, Spector 1992, Submodel selection and evaluation in
// regression, Int. Stat. Rev. 60, 291-319.
func LeaveOneOut[C Curve](x, y []float64, fit func(x, y []float64) (C, error)) (float64, bool) {
	last := len(x) - 1
	sum, n, step := 0.0, 0, last-1
	if step > mostAlone {
		step = folds
	}
	xs, ys := make([]float64, 0, len(x)), make([]float64, 0, len(y))
	for first := 1; first <= step; first++ {
		xs, ys = xs[:0], ys[:0]
		for i := range x {
			if i == 0 || i == last || (i-first)%step != 0 {
				xs, ys = append(xs, x[i]), append(ys, y[i])
			}
		}
		curve, err := fit(xs, ys)
		if err != nil {
			continue
		}
		for i := first; i < last; i += step {
			sum += math.Abs((y[i] - curve.At(x[i])) / y[i])
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	return sum / float64(n), true
}

// WithinBreaks refits the lines between the breaks of seg to relative residuals, or joins the points again: intercept
// and slope of each line, in order.
func WithinBreaks(x, y []float64, seg *Segments) ([]float64, error) {
	if seg.Joined {
		s, err := seg.Again(x, y)
		return s.Coef(), err
	}
	var out []float64
	k := 0
	for _, g := range seg.Segments {
		n := k + g.Distinct
		l, err := g.Refit(x[k:n], y[k:n])
		if err != nil {
			return nil, err
		}
		out = append(out, l.C0, l.C1)
		k = n
	}
	return out, nil
}

// Refit fits the line of a segment, or the constant where it is flat, to other points of it, to relative residuals.
func (g Segment) Refit(x, y []float64) (Line, error) {
	w, err := OrRelative(y, nil)
	if err == nil && g.Flat {
		return Line{C0: WeightedMean(y, w)}, nil
	}
	return FitLine(x, y, w)
}
