package lsq

import (
	"fmt"
	"math"
	"slices"

	"calib/internal/lists"
)

const (
	huberK       = 1.345    // 95% efficiency at the normal, in units of the scale
	madToSigma   = 0.6745   // MAD of a standard normal
	startPasses  = 50       // limit of the reweightings of the start,
	robustPasses = 2000     // and of the fit
	rounding     = 16 * eps // of a relative residual
)

// HuberLine fits a line robustly: with r = (y − c0 − c1·x)/|y| it minimises Σ ρ(r/σ),
//
//	ρ'(u) = ψ(u) = max(−k, min(k, u)),  k = 1.345,
//
// by iteratively reweighted least squares, weight ψ(u)/u.
//
// The start is the line that minimises Σ|r|, by reweighting with 1/max(|r|, δ), δ a thousandth of the median |r|
// (Schlossmacher 1973, JASA 68, 857-859). A minority of outliers in y cannot move it far. σ is the median |r| of that
// start over 0.6745 and then stays fixed, which leaves a convex problem with one minimum. The two smallest |r|, which
// that start makes zero, are left out of the median. σ is held above rounding, so exact data are fitted exactly.
//
// The line is that of FitLine with the last weights. Errors are those of FitLine, and that it does not converge.
func HuberLine(x, y []float64) (Line, error) {
	if line, err := RelativeLine(x, y); err != nil {
		return line, err
	}
	w, r := make([]float64, len(y)), make([]float64, len(y))
	// refit weighs a residual by 1, or limit/|r| where that is above the limit, and says how far residuals moved.
	refit := func(limit float64) (moved float64) {
		var s running
		for i, v := range y {
			w[i] = limit / max(math.Abs(r[i]), limit) / v / v
			s.add(x[i], v, w[i])
		}
		line := s.line()
		for i, v := range y {
			before := r[i]
			r[i] = (v - line.At(x[i])) / math.Abs(v)
			moved = max(moved, math.Abs(r[i]-before))
		}
		return moved
	}
	refit(1)
	for range startPasses {
		if mid := medianAbs(r); refit(max(mid/1000, rounding)) <= mid/100 {
			break
		}
	}
	scale := max(medianAbs(r)/madToSigma, rounding)
	for range robustPasses {
		if refit(huberK*scale) <= max(1e-8*scale, rounding) {
			return FitLine(x, y, w)
		}
	}
	return Line{}, fmt.Errorf("huber fit: no convergence in %d iterations", robustPasses)
}

// medianAbs is the median of |r| without the two smallest, as many as a line that minimises Σ|r| passes through.
func medianAbs(r []float64) float64 {
	abs := slices.Sorted(slices.Values(lists.Map(r, math.Abs)))
	abs = abs[min(2, len(abs)-1):]
	return (abs[(len(abs)-1)/2] + abs[len(abs)/2]) / 2
}
