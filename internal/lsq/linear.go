package lsq

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
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
}

// newSystem builds the scaled problem of numbers that are finite. It needs at least as many rows as there are columns.
func newSystem(x [][]float64, y, w []float64) (*system, error) {
	n := len(y)
	if n == 0 || n < len(x[0]) {
		return nil, fmt.Errorf("%d rows are fewer than the coefficients: %w", n, ErrShort)
	}
	if err := cmp.Or(allFinite("y", y), allFinite("weight", w)); err != nil {
		return nil, err
	}
	p := len(x[0])
	s := &system{a: make([]float64, n*p), b: make([]float64, n), root: make([]float64, n), n: n, p: p}
	for i, row := range x {
		if err := allFinite("x", row); err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
		s.root[i] = 1
		if w != nil {
			s.root[i] = math.Sqrt(w[i])
		}
		s.b[i] = s.root[i] * y[i]
		for j, v := range row {
			s.a[i*p+j] = s.root[i] * v
		}
	}
	var err error
	s.scale, err = equilibrate(s.a, n, p)
	return s, err
}

// Linear fits y ≈ X·β by least squares, minimising Σ w·(y − X·β)².
//
// x holds n rows of p columns; an intercept is a column of ones. w nil means equal weights; otherwise w[i] is
// proportional to 1/variance of y[i], not negative, and a row of weight zero does not take part.
//
// The solution is a Householder QR of the design scaled by columns and by √w, with iterative refinement. Errors:
// ErrShort, ErrNotFinite, and ErrCondition when columns are dependent (Cond ≥ 1/ε). Source: Björck
// (1996), Numerical Methods for Least Squares Problems, ch. 2.
func Linear(x [][]float64, y, w []float64) (*Solution, error) {
	s, err := newSystem(x, y, w)
	if err != nil {
		return nil, fmt.Errorf("linear fit: %w", err)
	}
	f := newQR(s.n, s.p)
	copy(f.a.Data, s.a)
	f.factorise()
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

func norm(v []float64) float64 {
	return blas64.Nrm2(blas64.Vector{N: len(v), Data: v, Inc: 1})
}
