package lsq

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// Solution is a least-squares fit of y ≈ X·Coef with p coefficients to n rows.
type Solution struct {
	Coef []float64 // p estimates; coefficient j has the unit of y over that of column j
	RSS  float64   // Σ w·residual²

	factors *qr
}

// Cond is the 2-norm condition number of the column-scaled weighted design, +Inf where it has none. It takes longer to
// compute than the fit.
func (s *Solution) Cond() float64 {
	if s.factors == nil {
		return math.Inf(1)
	}
	return s.factors.cond()
}

// system is the weighted, column-scaled problem min ‖b − A·z‖ with A = √w·X·diag(scale), b = √w·y and coefficients
// diag(scale)·z.
type system struct {
	a, b, scale, root []float64
	n, p              int

	// What reweighting uses again and again: the factorisation, and the right-hand side.
	factors *qr
	q       []float64
	abs     []float64 // of residuals, for their median
}

// newSystem validates the arguments and builds the scaled problem. It needs at least as many rows of positive weight as
// there are columns.
func newSystem(x [][]float64, y, w []float64) (*system, error) {
	p, err := checkRows(x, y, w)
	if err != nil {
		return nil, err
	}
	n := len(y)
	if m := countPositive(w, n); m < p {
		return nil, fmt.Errorf("%d rows for %d coefficients: %w", m, p, ErrShort)
	}
	s := &system{a: make([]float64, n*p), b: make([]float64, n), root: make([]float64, n), n: n, p: p}
	for i, row := range x {
		s.root[i] = 1
		if w != nil {
			s.root[i] = math.Sqrt(w[i])
		}
		s.b[i] = s.root[i] * y[i]
		for j, v := range row {
			s.a[i*p+j] = s.root[i] * v
		}
	}
	s.scale, err = equilibrate(s.a, n, p)
	return s, err
}

// Linear fits y ≈ X·β by least squares, minimising Σ w·(y − X·β)².
//
// x holds n rows of p columns; an intercept is a column of ones. w nil means equal weights; otherwise w[i] is
// proportional to 1/variance of y[i], and a row of weight zero does not take part.
//
// The solution is a Householder QR of the design scaled by columns and by √w, with iterative refinement. Errors:
// ErrShape, ErrShort, ErrNotFinite, ErrWeight, and ErrCondition when columns are dependent (Cond ≥ 1/ε). Source: Björck
// (1996), Numerical Methods for Least Squares Problems, ch. 2.
func Linear(x [][]float64, y, w []float64) (*Solution, error) {
	s, err := newSystem(x, y, w)
	if err != nil {
		return nil, fmt.Errorf("linear fit: %w", err)
	}
	f := factorise(s.a, s.n, s.p)
	if f.dependent() {
		return nil, fmt.Errorf("linear fit: condition number %.3g: %w", f.cond(), ErrCondition)
	}
	z, r := f.solve(s.a, s.b)
	sol := &Solution{Coef: z, factors: f}
	for j := range z {
		z[j] *= s.scale[j]
	}
	if err := allFinite("coefficient", z); err != nil {
		return nil, fmt.Errorf("linear fit: %w", err)
	}
	for _, v := range r {
		sol.RSS += v * v
	}
	return sol, nil
}

// Relative fits y ≈ X·β by minimising Σ ((y − X·β)/y)², the sum of squared relative residuals: Linear with weights
// 1/y². A zero or a subnormal y is ErrWeight.
func Relative(x [][]float64, y []float64) (*Solution, error) {
	w, err := RelativeWeights(y)
	if err != nil {
		return nil, fmt.Errorf("relative fit: %w", err)
	}
	return Linear(x, y, w)
}

// RelativeWeights returns 1/y² for each y, the weights under which residuals are relative. It returns ErrWeight where
// 1/y² overflows.
func RelativeWeights(y []float64) ([]float64, error) {
	w := make([]float64, len(y))
	for i, v := range y {
		w[i] = 1 / v / v
		if !finite(w[i]) && !math.IsNaN(v) {
			return nil, fmt.Errorf("y[%d] is %g, which has no relative residual: %w", i, v, ErrWeight)
		}
	}
	return w, allFinite("y", y)
}

// equilibrate scales each column of a (row-major, n×p) by a power of two that brings its 2-norm into [1, 2), which
// loses no digits, and returns the factors. A column of zeros, or one whose norm overflows, gives ErrCondition.
func equilibrate(a []float64, n, p int) ([]float64, error) {
	scale := make([]float64, p)
	for j := range p {
		col := blas64.Vector{N: n, Data: a[j:], Inc: p}
		norm := blas64.Nrm2(col)
		if norm == 0 || !finite(norm) {
			return nil, fmt.Errorf("column %d has norm %g: %w", j, norm, ErrCondition)
		}
		scale[j] = math.Ldexp(1, -math.Ilogb(norm))
		if !finite(scale[j]) {
			return nil, fmt.Errorf("column %d has norm %g: %w", j, norm, ErrCondition)
		}
		blas64.Scal(scale[j], col)
	}
	return scale, nil
}
