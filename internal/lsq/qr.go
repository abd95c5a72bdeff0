package lsq

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// qr is the Householder factorisation A = Q·R of an n×p matrix, n ≥ p, kept in LAPACK's compact form so that Q (n×n) is
// applied and never formed.
type qr struct {
	a      blas64.General // R above the diagonal, reflectors below
	tau    []float64
	work   []float64
	column []float64 // of R⁻¹
	n, p   int
}

// newQR returns the space for a factorisation.
func newQR(n, p int) *qr {
	return &qr{
		a:   blas64.General{Rows: n, Cols: p, Stride: p, Data: make([]float64, n*p)},
		tau: make([]float64, p), work: make([]float64, p), column: make([]float64, p),
		n: n, p: p,
	}
}

// factorise returns the QR factorisation of a (row-major, n×p, n ≥ p).
func factorise(a []float64, n, p int) *qr {
	f := newQR(n, p)
	copy(f.a.Data, a)
	f.factorise()
	return f
}

// factorise overwrites the matrix in f with its factorisation.
func (f *qr) factorise() { lapack64.Geqrf(f.a, f.tau, f.work, len(f.work)) }

// apply overwrites v (length n) with Q·v, or with Qᵀ·v when t is blas.Trans.
func (f *qr) apply(t blas.Transpose, v []float64) {
	c := blas64.General{Rows: f.n, Cols: 1, Stride: 1, Data: v}
	lapack64.Ormqr(blas.Left, t, f.a, f.tau, c, f.work, len(f.work))
}

// solveR overwrites v (length p) with R⁻¹·v, or with R⁻ᵀ·v when t is blas.Trans. R must not have a zero on its
// diagonal.
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

// cond is the 2-norm condition number of R, which is that of A; +Inf when A is singular.
func (f *qr) cond() float64 {
	if f.singular() {
		return math.Inf(1)
	}
	return mat.Cond(mat.NewTriDense(f.p, mat.Upper, f.a.Data[:f.p*f.p]), 2)
}

// dependent reports whether the columns are linearly dependent to working precision: a condition number of 1/ε or more.
// That is below the product of the Frobenius norms of R and R⁻¹, which costs less than singular values do.
func (f *qr) dependent() bool {
	if f.singular() {
		return true
	}
	var size, inverse float64 // squares
	column := f.column
	for j := range f.p {
		clear(column)
		column[j] = 1
		f.solveR(blas.NoTrans, column)
		for k := range f.p {
			inverse += column[k] * column[k]
			if k >= j {
				size += f.a.Data[j*f.p+k] * f.a.Data[j*f.p+k]
			}
		}
	}
	return !(size*inverse < 1/eps/eps) && !(f.cond() < 1/eps)
}

// solve returns the x that minimises ‖b − A·x‖ and the residual r = b − A·x, from the factorisation f of a. f must not
// be singular.
//
// The plain QR solution is refined on the augmented system
//
//	r + A·x = b,  Aᵀ·r = 0,
//
// with the residuals of both equations summed in twice the working precision, until the correction stops shrinking.
// Source: Björck (1967), Iterative refinement of linear least squares solutions I, BIT 7, 257-278.
func (f *qr) solve(a, b []float64) (x, r []float64) {
	n, p := f.n, f.p
	q := append([]float64(nil), b...)
	f.apply(blas.Trans, q)
	x = append([]float64(nil), q[:p]...)
	f.solveR(blas.NoTrans, x)
	r = make([]float64, n)
	clear(q[:p])
	copy(r, q)
	f.apply(blas.NoTrans, r)

	df, dg := make([]float64, n), make([]float64, p)
	last := math.Inf(1)
	for range 10 {
		augmentedResidual(a, b, x, r, df, dg)
		f.correct(df, dg)
		size, ref := norm(dg), norm(x)
		if !finite(size) || size > last/2 {
			break
		}
		for j := range x {
			x[j] += dg[j]
		}
		for i := range r {
			r[i] += df[i]
		}
		if size <= eps/4*ref {
			break
		}
		last = size
	}
	return x, r
}

// correct solves the augmented system for the right-hand sides df (length n) and dg (length p) and overwrites them with
// the corrections of r and x.
func (f *qr) correct(df, dg []float64) {
	f.solveR(blas.Trans, dg) // h = R⁻ᵀ·g
	f.apply(blas.Trans, df)  // (d1, d2) = Qᵀ·f
	for j := range dg {
		df[j], dg[j] = dg[j], df[j]-dg[j]
	}
	f.apply(blas.NoTrans, df)  // dr = Q·(h, d2)
	f.solveR(blas.NoTrans, dg) // dx = R⁻¹·(d1 − h)
}

// augmentedResidual stores b − r − A·x in df and −Aᵀ·r in dg, both summed in double-double arithmetic.
func augmentedResidual(a, b, x, r, df, dg []float64) {
	p := len(x)
	g := make([]doubled, p)
	for i := range b {
		var s doubled
		s.add(b[i])
		s.add(-r[i])
		for j, v := range a[i*p : (i+1)*p] {
			s.addProduct(-v, x[j])
			g[j].addProduct(-v, r[i])
		}
		df[i] = s.hi + s.lo
	}
	for j := range g {
		dg[j] = g[j].hi + g[j].lo
	}
}

// doubled is an unevaluated sum hi + lo: about 106 significant bits.
type doubled struct{ hi, lo float64 }

// add adds v by Knuth's two-sum.
func (s *doubled) add(v float64) {
	t := s.hi + v
	z := t - s.hi
	s.lo += (s.hi - (t - z)) + (v - z)
	s.hi = t
}

// addProduct adds u·v exactly, the rounding error of the product taken by a fused multiply-add.
func (s *doubled) addProduct(u, v float64) {
	m := u * v
	s.add(m)
	s.lo += math.FMA(u, v, -m)
}

// norm is the Euclidean norm of v.
func norm(v []float64) float64 {
	return blas64.Nrm2(blas64.Vector{N: len(v), Data: v, Inc: 1})
}
