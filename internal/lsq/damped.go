package lsq

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

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
