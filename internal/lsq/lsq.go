// Package lsq holds the least-squares numerics that the models are built on: linear and weighted fits, a robust line,
// piecewise lines, and the small regressions that several models make of points, with their weights and the error they
// make at points they have not seen.
//
// Opinions, and what was rejected:
//
//   - Every solve is an orthogonal factorisation, gonum's mat.QR. Normal
//     equations square the condition number and are never formed.
//   - A coefficient is what the data say. Nothing is clamped.
//   - Condition numbers are those of the column-scaled design, so that a fit in
//     seconds and bytes is not called singular because of its units.
//   - There are no standard errors: the intervals of calib come from the
//     bootstrap, which assumes no distribution.
//
// Nothing here knows a network model, prints, or keeps state.
package lsq

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// eps is the spacing of float64 at 1.
const eps = 0x1p-52

// finite reports whether v is neither NaN nor infinite.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Solution is a least-squares fit of y ≈ X·Coef with p coefficients to n rows.
type Solution struct {
	Coef []float64 // p estimates; coefficient j has the unit of y over that of column j
	RSS  float64   // Σ w·residual²
	Cond float64   // condition number of the column-scaled weighted design, as gonum estimates it
}

// Linear fits y ≈ X·β by least squares, minimising Σ w·(y − X·β)².
//
// x holds n rows of p columns; an intercept is a column of ones. w nil means equal weights; otherwise w[i] is
// proportional to 1/variance of y[i], not negative, and a row of weight zero does not take part.
//
// The solution is a Householder QR of the design, scaled by √w and by powers of two that bring the norms of columns
// into [1, 2). The last column is the first to be reduced: with ascending powers that is the largest, which gives two
// more digits in the worst of NIST's problems (Wampler5: 7.6 and 5.5). It is an error if there are fewer rows than
// columns, if a number is not finite, or if columns are linearly dependent (a condition number of 1/ε).
func Linear(x [][]float64, y, w []float64) (*Solution, error) {
	n := len(y)
	if n == 0 || n < len(x[0]) {
		return nil, fmt.Errorf("linear fit: %d rows are fewer than the coefficients", n)
	}
	p := len(x[0])
	a, b := mat.NewDense(n, p, nil), mat.NewVecDense(n, nil)
	for i, row := range x {
		root := 1.0
		if w != nil {
			root = math.Sqrt(w[i])
		}
		b.SetVec(i, root*y[i])
		for j, v := range row {
			a.Set(i, p-1-j, root*v)
		}
	}
	scale := make([]float64, p)
	for j := range scale {
		norm := mat.Norm(a.ColView(j), 2)
		if scale[j] = math.Ldexp(1, -math.Ilogb(norm)); !finite(norm * scale[j]) { // of 0, too
			return nil, fmt.Errorf("linear fit: column %d has norm %g", p-1-j, norm)
		}
	}
	a.Apply(func(_, j int, v float64) float64 { return v * scale[j] }, a)
	var qr mat.QR
	qr.Factorize(a)
	if c := qr.Cond(); !(c < 1/eps) {
		return nil, fmt.Errorf("linear fit: the columns are linearly dependent: condition number %.3g", c)
	}
	z, r := mat.NewVecDense(p, nil), mat.NewVecDense(n, nil)
	if err := qr.SolveVecTo(z, false, b); err != nil {
		return nil, fmt.Errorf("linear fit: %w", err)
	}
	r.MulVec(a, z)
	r.SubVec(b, r)
	sol := &Solution{Coef: make([]float64, p), RSS: mat.Dot(r, r), Cond: qr.Cond()}
	for j := range p {
		sol.Coef[j] = z.AtVec(p-1-j) * scale[p-1-j]
		if !finite(sol.Coef[j]) {
			return nil, fmt.Errorf("linear fit: coefficient %d is %g", j, sol.Coef[j])
		}
	}
	return sol, nil
}
