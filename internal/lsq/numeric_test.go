package lsq

import (
	"math"

	"gonum.org/v1/gonum/blas"
)

// fatal is a *testing.T or a *rapid.T.
type fatal interface {
	Helper()
	Fatal(...any)
}

// covariance is RSS/DF·(XᵀWX)⁻¹ of a fit, from the factor R alone. No model reports it (intervals come from the
// bootstrap); NIST certifies its diagonal, which shows that R is good to as many digits.
func covariance(t fatal, x [][]float64, y, w []float64, rss float64) [][]float64 {
	t.Helper()
	s, err := newSystem(x, y, w)
	if err != nil {
		t.Fatal(err)
	}
	f := newQR(s.n, s.p)
	copy(f.a.Data, s.a)
	f.factorise()
	inv := make([][]float64, s.p) // inv[j] is column j of R⁻¹
	for j := range inv {
		inv[j] = make([]float64, s.p)
		inv[j][j] = 1
		f.solveR(blas.NoTrans, inv[j])
	}
	variance := rss / float64(s.n-s.p)
	cov := make([][]float64, s.p)
	for i := range cov {
		cov[i] = make([]float64, s.p)
		for j := range cov[i] {
			for k := max(i, j); k < s.p; k++ {
				cov[i][j] += inv[k][i] * inv[k][j]
			}
			cov[i][j] *= s.scale[i] * s.scale[j] * variance
		}
	}
	return cov
}

// stdErr is the root of the diagonal of covariance.
func stdErr(t fatal, x [][]float64, y, w []float64, rss float64) []float64 {
	t.Helper()
	cov := covariance(t, x, y, w, rss)
	out := make([]float64, len(cov))
	for j := range out {
		out[j] = math.Sqrt(cov[j][j])
	}
	return out
}
