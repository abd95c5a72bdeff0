package lsq

import (
	"fmt"
	"math"
)

// Problem is a non-linear least-squares problem: minimise over β
//
//	Σ w·(y − f(β))².
//
// A problem stated by its residuals is one with Y all zero.
type Problem struct {
	// Predict stores f(β), one value per element of Y, in out. It may not keep
	// or change beta. Values that are not finite reject a trial step; an error
	// ends the fit.
	Predict func(beta, out []float64) error
	Y       []float64 // n observations
	Start   []float64 // p starting values, p ≤ n
	Weights []float64 // n weights proportional to 1/variance; nil means equal
	// Jac stores ∂f_i/∂β_j in jac[i][j], n×p. Nil means differences: central of
	// fourth order, so that the digits of the answer are those of Predict.
	Jac func(beta []float64, jac [][]float64) error
	// Tol is the relative step at which to stop: ‖D·Δβ‖ ≤ Tol·‖D·β‖. Zero means
	// 1e-10.
	Tol float64
	// MaxIter limits the number of Jacobians. Zero means 1000.
	MaxIter int
}

// Reason says why a non-linear fit stopped.
type Reason string

// Reasons to stop.
const (
	ReasonStep     Reason = "step below tolerance"
	ReasonCost     Reason = "cost cannot be reduced further"
	ReasonGradient Reason = "residuals orthogonal to the model"
	ReasonExact    Reason = "exact fit"
	ReasonLimit    Reason = "iteration limit"
)

// NLSolution is a non-linear fit. The embedded Solution is the linear one at the
// minimum: Cov = RSS/DF·(JᵀWJ)⁻¹, R2 about the weighted mean of y (Centred is
// true), Cond of the column-scaled weighted Jacobian.
type NLSolution struct {
	Solution
	Iterations  int // Jacobians
	Evaluations int // calls of Predict, those for differences included
	Reason      Reason
}

// NonLinear solves the problem by the Levenberg-Marquardt method in its scaled
// trust-region form: each step minimises ‖r − J·s‖ over ‖D·s‖ ≤ Δ by QR of J and
// of the damped [R; √λ·I], D holds the largest column norms of J seen so far.
// Source: Moré (1978), The Levenberg-Marquardt algorithm: implementation and
// theory, LNM 630, 105-116.
//
// Errors: ErrShape, ErrShort, ErrNotFinite (data, or f at Start), ErrWeight, and
// whatever Predict or Jac return. With ErrNoConverge (MaxIter) and ErrCondition
// (parameters not separately determined; StdErr and Cov are NaN) the last
// iterate is returned beside the error.
func NonLinear(pr Problem) (*NLSolution, error) {
	s, err := newSearch(pr)
	if err != nil {
		return nil, fmt.Errorf("non-linear fit: %w", err)
	}
	reason, err := s.run()
	if err != nil {
		return nil, fmt.Errorf("non-linear fit: %w", err)
	}
	sol, err := s.solution(reason)
	if sol == nil || err != nil {
		return sol, fmt.Errorf("non-linear fit: %w", err)
	}
	if reason == ReasonLimit {
		return sol, fmt.Errorf("non-linear fit: %d iterations: %w", s.iterations, ErrNoConverge)
	}
	return sol, nil
}

// search is the state of one Levenberg-Marquardt run.
type search struct {
	pr    Problem
	n, p  int
	root  []float64 // √w
	beta  []float64
	r     []float64 // √w·(y − f(β))
	cost  float64   // ‖r‖
	size  float64   // ‖√w·y‖
	jac   []float64 // √w·J, row-major n×p
	rows  [][]float64
	d     []float64 // scale of each parameter
	delta float64   // trust radius in scaled parameters
	par   float64   // λ of the last step

	iterations, evaluations int
}

// newSearch validates the problem and evaluates it at the start.
func newSearch(pr Problem) (*search, error) {
	n, p := len(pr.Y), len(pr.Start)
	switch {
	case pr.Predict == nil || p == 0:
		return nil, fmt.Errorf("no model or no parameters: %w", ErrShape)
	case pr.Weights != nil && len(pr.Weights) != n:
		return nil, fmt.Errorf("%d observations, %d weights: %w", n, len(pr.Weights), ErrShape)
	case pr.Tol < 0 || pr.MaxIter < 0 || !finite(pr.Tol):
		return nil, fmt.Errorf("tolerance %g, iteration limit %d: %w", pr.Tol, pr.MaxIter, ErrShape)
	case countPositive(pr.Weights, n) < p:
		return nil, fmt.Errorf("%d observations for %d parameters: %w", n, p, ErrShort)
	}
	for name, v := range map[string][]float64{"y": pr.Y, "start": pr.Start} {
		if err := allFinite(name, v); err != nil {
			return nil, err
		}
	}
	if err := checkWeights(pr.Weights); err != nil {
		return nil, err
	}
	if pr.Tol == 0 {
		pr.Tol = 1e-10
	}
	if pr.MaxIter == 0 {
		pr.MaxIter = 1000
	}
	s := &search{pr: pr, n: n, p: p, root: make([]float64, n),
		beta: append([]float64(nil), pr.Start...), r: make([]float64, n),
		jac: make([]float64, n*p), rows: make([][]float64, n), d: make([]float64, p)}
	for i := range s.root {
		s.root[i] = 1
		if pr.Weights != nil {
			s.root[i] = math.Sqrt(pr.Weights[i])
		}
		s.rows[i] = s.jac[i*p : (i+1)*p]
	}
	for i, y := range pr.Y {
		s.r[i] = s.root[i] * y
	}
	s.size = norm(s.r)
	ok, err := s.residual(s.beta, s.r)
	if err != nil {
		return nil, err
	}
	if s.cost = norm(s.r); !ok || !finite(s.cost) {
		return nil, fmt.Errorf("model at the start %v: %w", pr.Start, ErrNotFinite)
	}
	return s, nil
}

// predict evaluates f(β) and reports whether it is finite throughout.
func (s *search) predict(beta, out []float64) (bool, error) {
	s.evaluations++
	if err := s.pr.Predict(beta, out); err != nil {
		return false, fmt.Errorf("model at %v: %w", beta, err)
	}
	return allFinite("model", out) == nil, nil
}

// residual stores √w·(y − f(β)) in r and reports whether it is finite.
func (s *search) residual(beta, r []float64) (bool, error) {
	ok, err := s.predict(beta, r)
	for i, f := range r {
		r[i] = s.root[i] * (s.pr.Y[i] - f)
	}
	return ok, err
}

// solution assembles the result at the current β.
func (s *search) solution(reason Reason) (*NLSolution, error) {
	if err := s.jacobian(); err != nil {
		return nil, err
	}
	out := &NLSolution{Iterations: s.iterations, Evaluations: s.evaluations, Reason: reason}
	out.Coef = s.beta
	out.DF = countPositive(s.pr.Weights, s.n) - s.p
	out.RSS = s.cost * s.cost
	out.Centred = true
	out.R2 = rSquared(s.pr.Y, s.pr.Weights, out.RSS, true)
	out.Residuals = make([]float64, s.n)
	out.Fitted = make([]float64, s.n)
	if err := s.pr.Predict(s.beta, out.Fitted); err != nil {
		return nil, err
	}
	for i, y := range s.pr.Y {
		out.Residuals[i] = y - out.Fitted[i]
	}
	scale, err := equilibrate(s.jac, s.n, s.p)
	out.Cond = math.Inf(1)
	if err == nil {
		f := factorise(s.jac, s.n, s.p)
		if out.Cond = f.cond(); out.Cond < 1/eps {
			out.covariance(f.unscaledCov(), scale, out.RSS/float64(out.DF))
			return out, nil
		}
		err = fmt.Errorf("condition number %.3g at %v: %w", out.Cond, s.beta, ErrCondition)
	}
	ones, unknown := make([]float64, s.p), make([][]float64, s.p)
	for j := range unknown {
		ones[j], unknown[j] = 1, make([]float64, s.p)
	}
	out.covariance(unknown, ones, math.NaN())
	return out, err
}
