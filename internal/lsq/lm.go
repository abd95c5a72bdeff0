package lsq

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
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
	// Jac stores ∂f_i/∂β_j in jac[i][j], n×p.
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
// minimum: Cond is that of the column-scaled weighted Jacobian.
type NLSolution struct {
	Solution
	Iterations int // Jacobians
	Reason     Reason
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

	iterations int
}

// newSearch validates the problem and evaluates it at the start.
func newSearch(pr Problem) (*search, error) {
	n, p := len(pr.Y), len(pr.Start)
	switch {
	case pr.Predict == nil || pr.Jac == nil || p == 0:
		return nil, fmt.Errorf("no model, no derivatives or no parameters: %w", ErrShape)
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
	out := &NLSolution{Iterations: s.iterations, Reason: reason}
	out.Coef, out.RSS = s.beta, s.cost*s.cost
	if _, err := equilibrate(s.jac, s.n, s.p); err != nil {
		return out, err
	}
	if out.factors = factorise(s.jac, s.n, s.p); out.factors.dependent() {
		return out, fmt.Errorf("condition number %.3g at %v: %w", out.Cond(), s.beta, ErrCondition)
	}
	return out, nil
}

// trial is a step and what the linear model promises of it.
type trial struct {
	beta, r      []float64
	cost         float64 // ‖r‖ at beta; +Inf when the model is not finite there
	length       float64 // ‖D·step‖
	promised     float64 // relative reduction of ‖r‖² in the linear model
	slope        float64 // half the relative directional derivative of ‖r‖²
	actual       float64 // relative reduction of ‖r‖²; −1 for a large increase
	ratio        float64 // actual/promised
	size, newton float64 // ‖D·β‖ before the step; 1 when λ is 0
}

// run iterates from the start until a reason to stop is met.
func (s *search) run() (Reason, error) {
	for s.iterations < s.pr.MaxIter {
		if s.cost == 0 {
			return ReasonExact, nil
		}
		s.iterations++
		if err := s.jacobian(); err != nil {
			return "", err
		}
		q, f, stop := s.prepare()
		if stop {
			return ReasonGradient, nil
		}
		blocked := false // the last trial of any length was outside the model's domain
		for accepted := false; !accepted; {
			t, err := s.try(f, q)
			if err != nil {
				return "", err
			}
			s.resize(t)
			if accepted = t.ratio >= 1e-4; accepted {
				s.beta, s.r, s.cost = t.beta, t.r, t.cost
			}
			blocked = math.IsInf(t.cost, 1) || (blocked && t.length == 0)
			switch why := s.converged(t); {
			case why != "" && blocked:
				return "", fmt.Errorf("model next to %v: %w", s.beta, ErrNotFinite)
			case why != "":
				return why, nil
			}
		}
	}
	return ReasonLimit, nil
}

// prepare updates D, scales the Jacobian to J·D⁻¹, factorises it and returns
// Qᵀ·r; stop when r is orthogonal to every column to working precision.
func (s *search) prepare() (q []float64, f *qr, stop bool) {
	first := s.iterations == 1
	var steepest float64
	for j := range s.p {
		col := blas64.Vector{N: s.n, Data: s.jac[j:], Inc: s.p}
		size := blas64.Nrm2(col)
		if size > 0 {
			dot := blas64.Dot(col, blas64.Vector{N: s.n, Data: s.r, Inc: 1})
			steepest = max(steepest, math.Abs(dot)/size/s.cost)
		}
		if s.d[j] = max(s.d[j], size); s.d[j] == 0 {
			s.d[j] = 1
		}
		blas64.Scal(1/s.d[j], col)
	}
	if first { // Moré allows factors of 0.1 to 100; 100 leaps past the minimum of BoxBOD
		if s.delta = 10 * s.scaledNorm(s.beta); s.delta == 0 {
			s.delta = 10
		}
	}
	f = factorise(s.jac, s.n, s.p)
	q = append([]float64(nil), s.r...)
	f.apply(blas.Trans, q)
	return q[:s.p], f, steepest <= 4*eps
}

// try takes the step of the current trust radius and evaluates the model there.
func (s *search) try(f *qr, q []float64) (*trial, error) {
	step, par := f.damped(q, s.delta, s.par)
	s.par = par
	t := &trial{beta: append([]float64(nil), s.beta...), r: make([]float64, s.n)}
	t.length, t.size = norm(step), s.scaledNorm(s.beta)
	if !finite(t.length) {
		return nil, fmt.Errorf("step from %v: %w", s.beta, ErrNotFinite)
	}
	for j := range step {
		t.beta[j] += step[j] / s.d[j]
	}
	if par == 0 {
		t.newton = 1
	}
	if s.iterations == 1 {
		s.delta = min(s.delta, t.length)
	}
	ok, err := s.residual(t.beta, t.r)
	if err != nil {
		return nil, err
	}
	if t.cost = norm(t.r); !ok || !finite(t.cost) {
		t.cost = math.Inf(1)
	}
	fit := make([]float64, s.p) // R·step, as long as J·step
	copy(fit, step)
	upper := blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: s.p, Data: f.a.Data, Stride: s.p}
	blas64.Trmv(blas.NoTrans, upper, blas64.Vector{N: s.p, Data: fit, Inc: 1})
	linear := norm(fit) / s.cost
	damping := math.Sqrt(par) * t.length / s.cost
	t.promised = linear*linear + 2*damping*damping
	t.slope = -(linear*linear + damping*damping)
	t.actual = -1
	if t.cost < 10*s.cost {
		t.actual = (1 - t.cost/s.cost) * (1 + t.cost/s.cost)
	}
	if t.promised > 0 {
		t.ratio = t.actual / t.promised
	}
	return t, nil
}

// resize adapts the trust radius to how well the linear model predicted.
func (s *search) resize(t *trial) {
	switch {
	case t.ratio <= 0.25:
		shrink := 0.5
		if t.actual < 0 {
			shrink = 0.5 * t.slope / (t.slope + 0.5*t.actual)
		}
		if 0.1*t.cost >= s.cost || !(shrink >= 0.1) {
			shrink = 0.1
		}
		s.delta = shrink * min(s.delta, t.length*10)
		s.par /= shrink
	case s.par == 0 || t.ratio >= 0.75:
		s.delta = 2 * t.length
		s.par /= 2
	}
}

// converged returns the reason to stop after trial t, or "".
func (s *search) converged(t *trial) Reason {
	switch {
	case s.cost == 0:
		return ReasonExact
	case s.delta <= s.pr.Tol*t.size, t.newton == 1 && t.length <= s.pr.Tol*t.size:
		return ReasonStep
	case math.Abs(t.actual) <= eps && t.promised <= eps && t.ratio <= 2:
		return ReasonCost
	}
	return ""
}

// scaledNorm is ‖D·v‖.
func (s *search) scaledNorm(v []float64) float64 {
	u := make([]float64, s.p)
	for j := range u {
		u[j] = s.d[j] * v[j]
	}
	return norm(u)
}

// jacobian stores √w·∂f/∂β at the current β in s.jac.
func (s *search) jacobian() error {
	if err := s.pr.Jac(s.beta, s.rows); err != nil {
		return fmt.Errorf("jacobian at %v: %w", s.beta, err)
	}
	for i, row := range s.rows {
		for j := range row {
			row[j] *= s.root[i]
			if !finite(row[j]) {
				return fmt.Errorf("jacobian[%d][%d] at %v: %w", i, j, s.beta, ErrNotFinite)
			}
		}
	}
	return nil
}
