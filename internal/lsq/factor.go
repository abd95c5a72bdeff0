package lsq

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// qr is the Householder factorisation A = Q·R of an n×p matrix, n ≥ p, kept in
// LAPACK's compact form so that Q (n×n) is applied and never formed.
type qr struct {
	a    blas64.General // R above the diagonal, reflectors below
	tau  []float64
	work []float64
	n, p int
}

// factorise overwrites a (row-major, n×p, n ≥ p) with its QR factorisation.
func factorise(a []float64, n, p int) *qr {
	f := &qr{
		a:   blas64.General{Rows: n, Cols: p, Stride: p, Data: a},
		tau: make([]float64, p),
		n:   n, p: p,
	}
	f.work = make([]float64, 64*p)
	lapack64.Geqrf(f.a, f.tau, f.work, len(f.work))
	return f
}

// apply overwrites v (length n) with Q·v, or with Qᵀ·v when t is blas.Trans.
func (f *qr) apply(t blas.Transpose, v []float64) {
	c := blas64.General{Rows: f.n, Cols: 1, Stride: 1, Data: v}
	lapack64.Ormqr(blas.Left, t, f.a, f.tau, c, f.work, len(f.work))
}

// solveR overwrites v (length p) with R⁻¹·v, or with R⁻ᵀ·v when t is blas.Trans.
// R must not have a zero on its diagonal.
func (f *qr) solveR(t blas.Transpose, v []float64) {
	r := blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: f.p, Data: f.a.Data, Stride: f.p}
	blas64.Trsv(t, r, blas64.Vector{N: f.p, Data: v, Inc: 1})
}

// singular reports whether R has a diagonal element that is zero or not finite.
func (f *qr) singular() bool {
	for j := range f.p {
		if d := f.a.Data[j*f.p+j]; d == 0 || !finite(d) {
			return true
		}
	}
	return false
}

// cond is the 2-norm condition number of R, which is that of A; +Inf when A is
// singular.
func (f *qr) cond() float64 {
	if f.singular() {
		return math.Inf(1)
	}
	r := mat.NewDense(f.p, f.p, nil)
	for i := range f.p {
		for j := i; j < f.p; j++ {
			r.Set(i, j, f.a.Data[i*f.p+j])
		}
	}
	var svd mat.SVD
	if !svd.Factorize(r, mat.SVDNone) {
		return math.Inf(1)
	}
	s := svd.Values(nil)
	if s[f.p-1] == 0 {
		return math.Inf(1)
	}
	return s[0] / s[f.p-1]
}

// unscaledCov is (AᵀA)⁻¹ = R⁻¹·R⁻ᵀ, computed from R alone.
func (f *qr) unscaledCov() [][]float64 {
	inv := make([][]float64, f.p) // inv[j] is row j of R⁻ᵀ, column j of R⁻¹
	for j := range inv {
		inv[j] = make([]float64, f.p)
		inv[j][j] = 1
		f.solveR(blas.NoTrans, inv[j])
	}
	cov := make([][]float64, f.p)
	for i := range cov {
		cov[i] = make([]float64, f.p)
		for j := range cov[i] {
			for k := max(i, j); k < f.p; k++ {
				cov[i][j] += inv[k][i] * inv[k][j]
			}
		}
	}
	return cov
}

// equilibrate scales each column of a (row-major, n×p) by a power of two that
// brings its 2-norm into [1, 2), which loses no digits, and returns the factors.
// A column of zeros, or one whose norm overflows, gives ErrCondition.
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
