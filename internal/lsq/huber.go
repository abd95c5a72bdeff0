package lsq

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
)

// Constants of the robust fit.
const (
	huberK       = 1.345  // 95% efficiency at the normal, in units of the scale
	madToSigma   = 0.6745 // MAD of a standard normal
	robustPasses = 2000   // limit of the reweightings
)

// Huber fits y ≈ X·β robustly: it minimises Σ ρ(√w·(y − X·β)/σ) with
//
//	ρ'(u) = ψ(u) = max(−k, min(k, u)),  k = 1.345,
//
// by iteratively reweighted QR, weight ψ(u)/u. x, y and w are as for Linear.
//
// The start is the least-absolute-deviations fit, which a minority of outliers in y cannot move far (outliers in X,
// leverage, can). σ is the median absolute residual of that start over 0.6745 and then stays fixed, which leaves a
// convex problem with one minimum; the p smallest residuals, which that start makes zero, are left out of the median. σ
// is held above the rounding of y, so exact data are fitted exactly.
//
// The solution is that of Linear with weights robust·w; robust is the Huber weight of each row in (0, 1], 1 of one that
// is no outlier. Errors are those of Linear, and ErrNoConverge.
func Huber(x [][]float64, y, w []float64) (sol *Solution, robust []float64, err error) {
	s, err := newSystem(x, y, w)
	if err != nil {
		return nil, nil, fmt.Errorf("huber fit: %w", err)
	}
	r, err := s.minAbsolute()
	if err != nil {
		return nil, nil, fmt.Errorf("huber fit: %w", err)
	}
	floor := 16 * eps * floats.Norm(s.b, math.Inf(1))
	scale := max(s.medianAbs(r)/madToSigma, floor)
	if scale == 0 { // y is zero throughout
		scale = 1
	}
	robust, before := make([]float64, s.n), make([]float64, s.n)
	for it := range robustPasses {
		huberWeights(r, scale, robust)
		r, before = before, r
		if err := s.reweighted(robust, r); err != nil {
			return nil, nil, fmt.Errorf("huber fit, iteration %d: %w", it+1, err)
		}
		if floats.Distance(before, r, math.Inf(1)) <= max(1e-8*scale, floor) {
			huberWeights(r, scale, robust)
			total := make([]float64, s.n)
			for i, v := range robust {
				total[i] = v * s.root[i] * s.root[i]
			}
			sol, err := Linear(x, y, total)
			return sol, robust, err
		}
	}
	return nil, nil, fmt.Errorf("huber fit: %d iterations: %w", robustPasses, ErrNoConverge)
}

// minAbsolute returns the residuals of the fit that minimises Σ|b − A·z|, by reweighting with 1/max(|r|, δ), δ a
// thousandth of the median |r|. Source: Schlossmacher (1973), JASA 68, 857-859. It is a start, so that the limit on its
// iterations is no error.
func (s *system) minAbsolute() ([]float64, error) {
	weights := make([]float64, s.n)
	for i := range weights {
		weights[i] = 1
	}
	r, before := make([]float64, s.n), make([]float64, s.n)
	rounding := 16 * eps * floats.Norm(s.b, math.Inf(1))
	err := s.reweighted(weights, r)
	for range 50 {
		if err != nil {
			return nil, err
		}
		mid := s.medianAbs(r)
		floor := max(mid/1000, rounding)
		if floor == 0 {
			return r, nil
		}
		for i, v := range r {
			weights[i] = floor / max(math.Abs(v), floor)
		}
		r, before = before, r
		if err = s.reweighted(weights, r); err == nil && floats.Distance(before, r, math.Inf(1)) <= mid/100 {
			break
		}
	}
	return r, err
}

// reweighted solves min Σ weights·(b − A·z)² and stores the residuals b − A·z in r.
func (s *system) reweighted(weights, r []float64) error {
	if s.factors == nil {
		s.factors, s.q = newQR(s.n, s.p), make([]float64, s.n)
	}
	a, q := s.factors.a.Data, s.q
	for i, v := range weights {
		root := math.Sqrt(v)
		q[i] = root * s.b[i]
		for j := i * s.p; j < (i+1)*s.p; j++ {
			a[j] = root * s.a[j]
		}
	}
	f := s.factors
	f.factorise()
	if f.dependent() {
		return fmt.Errorf("condition number %.3g: %w", f.cond(), ErrCondition)
	}
	f.apply(blas.Trans, q)
	z := q[:s.p]
	f.solveR(blas.NoTrans, z)
	for i, v := range s.b {
		for j, c := range z {
			v -= s.a[i*s.p+j] * c
		}
		r[i] = v
	}
	return nil
}

// huberWeights stores min(1, k·scale/|r|) in w.
func huberWeights(r []float64, scale float64, w []float64) {
	for i, v := range r {
		w[i] = 1
		if a := math.Abs(v); a > huberK*scale {
			w[i] = huberK * scale / a
		}
	}
}

// medianAbs is the median of |r| over the rows with a positive root weight, the p smallest left out: as many as a
// least-absolute fit of p coefficients passes through exactly.
func (s *system) medianAbs(r []float64) float64 {
	var abs []float64
	for i, v := range r {
		if s.root[i] > 0 {
			abs = append(abs, math.Abs(v))
		}
	}
	slices.Sort(abs)
	abs = abs[min(s.p, len(abs)-1):]
	low, high := abs[(len(abs)-1)/2], abs[len(abs)/2]
	return low + (high-low)/2
}
