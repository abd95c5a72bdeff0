package lsq

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/stat/distuv"
)

// Solution is a least-squares fit of y ≈ X·Coef with p coefficients to n rows.
// Coefficient j has the unit of y over that of column j.
type Solution struct {
	Coef   []float64   // p estimates
	StdErr []float64   // p standard errors; NaN when DF is 0
	Cov    [][]float64 // p×p covariance of Coef; NaN when DF is 0

	Residuals []float64 // y − fitted, unweighted, in the unit of y
	Fitted    []float64 // X·Coef

	DF   int     // rows of positive weight − p
	RSS  float64 // Σ w·residual²
	R2   float64 // 1 − RSS/TSS; NaN when TSS is 0
	Cond float64 // 2-norm condition number of the column-scaled weighted design

	// Centred says about what TSS was taken: the weighted mean of y when the
	// design spans the constant, zero when it does not.
	Centred bool
}

// system is the weighted, column-scaled problem min ‖b − A·z‖ with
// A = √w·X·diag(scale), b = √w·y and coefficients diag(scale)·z.
type system struct {
	a, b, scale, root []float64
	n, p              int
}

// newSystem validates the arguments and builds the scaled problem. It needs at
// least as many rows of positive weight as there are columns.
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
// x holds n rows of p columns; an intercept is a column of ones. w nil means
// equal weights; otherwise w[i] is proportional to 1/variance of y[i], and a
// row of weight zero is predicted but not fitted. Standard errors use the
// residual variance RSS/DF, so only the ratios of the weights matter to them.
//
// The solution is a Householder QR of the design scaled by columns and by √w,
// with iterative refinement. Errors: ErrShape, ErrShort, ErrNotFinite,
// ErrWeight, and ErrCondition when columns are dependent (Cond ≥ 1/ε).
// Source: Björck (1996), Numerical Methods for Least Squares Problems, ch. 2.
func Linear(x [][]float64, y, w []float64) (*Solution, error) {
	s, err := newSystem(x, y, w)
	if err != nil {
		return nil, fmt.Errorf("linear fit: %w", err)
	}
	f := factorise(append([]float64(nil), s.a...), s.n, s.p)
	cond := f.cond()
	if !(cond < 1/eps) {
		return nil, fmt.Errorf("linear fit: condition number %.3g: %w", cond, ErrCondition)
	}
	z, r := f.solve(s.a, s.b)
	sol := &Solution{Coef: z, Cond: cond, DF: countPositive(w, s.n) - s.p}
	for j := range z {
		z[j] *= s.scale[j]
	}
	if err := allFinite("coefficient", z); err != nil {
		return nil, fmt.Errorf("linear fit: %w", err)
	}
	sol.residuals(x, y, s.root, r)
	for _, v := range r {
		sol.RSS += v * v
	}
	sol.covariance(f.unscaledCov(), s.scale, sol.RSS/float64(sol.DF))
	sol.Centred = spansConstant(f, s.root)
	sol.R2 = rSquared(y, w, sol.RSS, sol.Centred)
	return sol, nil
}

// Relative fits y ≈ X·β by minimising Σ ((y − X·β)/y)², the sum of squared
// relative residuals: Linear with weights 1/y². A zero or a subnormal y is
// ErrWeight.
func Relative(x [][]float64, y []float64) (*Solution, error) {
	w, err := RelativeWeights(y)
	if err != nil {
		return nil, fmt.Errorf("relative fit: %w", err)
	}
	return Linear(x, y, w)
}

// RelativeWeights returns 1/y² for each y, the weights under which residuals
// are relative. It returns ErrWeight where 1/y² overflows.
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

// CI returns the interval of each coefficient at the given level in (0, 1),
//
//	Coef ± t(1−(1−level)/2, DF)·StdErr,
//
// with t the quantile of Student's distribution. ErrShort when DF is 0.
func (s *Solution) CI(level float64) ([][2]float64, error) {
	if !(level > 0 && level < 1) {
		return nil, fmt.Errorf("confidence level %g: %w", level, ErrShape)
	}
	if s.DF < 1 {
		return nil, fmt.Errorf("confidence interval with %d degrees of freedom: %w", s.DF, ErrShort)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(s.DF)}.Quantile(1 - (1-level)/2)
	ci := make([][2]float64, len(s.Coef))
	for j, c := range s.Coef {
		ci[j] = [2]float64{c - t*s.StdErr[j], c + t*s.StdErr[j]}
	}
	return ci, nil
}

// residuals fills Residuals and Fitted from the weighted residuals r = √w·(y −
// X·β); rows of zero weight are evaluated directly.
func (s *Solution) residuals(x [][]float64, y, root, r []float64) {
	s.Residuals = make([]float64, len(y))
	s.Fitted = make([]float64, len(y))
	for i := range y {
		if root[i] > 0 {
			s.Residuals[i] = r[i] / root[i]
			s.Fitted[i] = y[i] - s.Residuals[i]
			continue
		}
		for j, c := range s.Coef {
			s.Fitted[i] += c * x[i][j]
		}
		s.Residuals[i] = y[i] - s.Fitted[i]
	}
}

// covariance fills Cov and StdErr from the unscaled covariance u of the scaled
// coefficients, their scale factors and the residual variance.
func (s *Solution) covariance(u [][]float64, scale []float64, variance float64) {
	if s.DF < 1 {
		variance = math.NaN()
	}
	s.StdErr = make([]float64, len(u))
	for i := range u {
		for j := range u[i] {
			u[i][j] *= scale[i] * scale[j] * variance
		}
		s.StdErr[i] = math.Sqrt(u[i][i])
	}
	s.Cov = u
}

// spansConstant reports whether the weighted constant √w lies in the column
// space of the factorised design, to within rounding.
func spansConstant(f *qr, root []float64) bool {
	v := append([]float64(nil), root...)
	f.apply(blas.Trans, v)
	return norm(v[f.p:]) <= 1e-10*norm(root)
}

// rSquared is 1 − RSS/TSS with TSS = Σ w·(y − c)², c the weighted mean of y when
// centred and zero otherwise.
func rSquared(y, w []float64, rss float64, centred bool) float64 {
	var sw, mean, tss float64
	at := func(i int) float64 {
		if w == nil {
			return 1
		}
		return w[i]
	}
	if centred {
		for i, v := range y {
			if at(i) > 0 {
				sw += at(i)
				mean += at(i) / sw * (v - mean)
			}
		}
	}
	for i, v := range y {
		tss += at(i) * (v - mean) * (v - mean)
	}
	if tss == 0 {
		return math.NaN()
	}
	return 1 - rss/tss
}
