package lsq

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

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
	f = factorise(append([]float64(nil), s.jac...), s.n, s.p)
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

// damped returns the step that minimises ‖q − R·step‖² + λ·‖step‖² and its λ ≥ 0:
// zero when that step is no longer than 1.1·delta, otherwise such that its length
// is within a tenth of delta. λ is found by Newton's method on the secular
// equation, started at par and bracketed; at most ten factorisations of 2p×p.
func (f *qr) damped(q []float64, delta, par float64) (step []float64, lambda float64) {
	var low float64
	newton := append([]float64(nil), q...)
	if !f.singular() {
		f.solveR(blas.NoTrans, newton)
		excess := norm(newton) - delta
		if excess <= 0.1*delta {
			return newton, 0
		}
		low = excess / delta / f.curvature(newton)
	}
	grad := append([]float64(nil), q...)
	upper := blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: f.p, Data: f.a.Data, Stride: f.p}
	blas64.Trmv(blas.Trans, upper, blas64.Vector{N: f.p, Data: grad, Inc: 1})
	high := norm(grad) / delta
	if high == 0 {
		high = math.SmallestNonzeroFloat64 / min(delta, 0.1)
	}
	lambda = min(max(par, low), high)
	if !(lambda > 0) {
		lambda = max(norm(grad)/max(norm(newton), delta), 1e-3*high)
	}
	var before float64
	for it := 0; ; it++ {
		g, h := f.ridge(q, lambda)
		step = h
		excess := norm(step) - delta
		if math.Abs(excess) <= 0.1*delta || it == 10 || (low == 0 && excess <= before && before < 0) {
			return step, lambda
		}
		before = excess
		if excess > 0 {
			low = max(low, lambda)
		} else {
			high = min(high, lambda)
		}
		change := excess / delta / g.curvature(step)
		lambda = max(low, lambda+change)
		if !(lambda > 0) {
			lambda = 1e-3 * high
		}
	}
}

// ridge factorises [R; √λ·I] and returns it with the damped step for q.
func (f *qr) ridge(q []float64, lambda float64) (*qr, []float64) {
	p := f.p
	a, b := make([]float64, 2*p*p), make([]float64, 2*p)
	for i := range p {
		copy(a[i*p+i:(i+1)*p], f.a.Data[i*p+i:(i+1)*p])
		a[(p+i)*p+i] = math.Sqrt(lambda)
	}
	copy(b, q)
	g := factorise(a, 2*p, p)
	g.apply(blas.Trans, b)
	g.solveR(blas.NoTrans, b[:p])
	return g, b[:p]
}

// curvature is ‖R⁻ᵀ·u‖² with u the direction of step: minus the derivative of
// log‖step‖ with respect to λ.
func (f *qr) curvature(step []float64) float64 {
	u := append([]float64(nil), step...)
	size := norm(u)
	for j := range u {
		u[j] /= size
	}
	f.solveR(blas.Trans, u)
	size = norm(u)
	return size * size
}
