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
	f := factorise(s.a, s.n, s.p)
	inv := make([][]float64, s.p) // inv[j] is column j of R⁻¹
	for j := range inv {
		inv[j] = make([]float64, s.p)
		inv[j][j] = 1
		f.solveR(blas.NoTrans, inv[j])
	}
	variance := rss / float64(countPositive(w, s.n)-s.p)
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

// nlStdErr is stdErr at the minimum of a non-linear fit.
func nlStdErr(t fatal, pr Problem, sol *NLSolution) []float64 {
	t.Helper()
	pr.Start = sol.Coef
	s, err := newSearch(pr)
	if err == nil {
		err = s.jacobian()
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range s.rows { // the search holds √w·J
		for j := range row {
			row[j] /= s.root[i]
		}
	}
	return stdErr(t, s.rows, pr.Y, pr.Weights, sol.RSS)
}

// differences is a Jacobian by central differences of fourth order, for models of which only values are known:
//
//	f' = [8·(f(β+h) − f(β−h)) − (f(β+2h) − f(β−2h))]/(12·h),
//
// with h = 2⁻¹³·|β|, or more where it takes more to move the model by 2⁻²⁶ of the size of y (2⁻¹³ while β and the slope
// are both zero). That is smaller than the ε^(1/5)·|β| that balances truncation (h⁴) and rounding (ε/h) for a model
// that varies on the scale of β, since a peak far from the origin varies on a shorter one. Where the model is not
// finite at β ± 2h, h is reduced until it is. The slope is the largest of those met so far, so that each fit needs its
// own.
func differences(y []float64, predict func(beta, out []float64) error) func(beta []float64, jac [][]float64) error {
	var slope []float64
	return func(at []float64, jac [][]float64) error {
		if slope == nil {
			slope = make([]float64, len(at))
		}
		beta := append([]float64(nil), at...)
		r := make([]float64, len(y))
		if err := predict(beta, r); err != nil {
			return err
		}
		for i := range r {
			r[i] = y[i] - r[i]
		}
		for j, b := range at {
			h := math.Ldexp(math.Abs(b), -13)
			if slope[j] > 0 {
				h = max(h, math.Ldexp((norm(y)+norm(r))/slope[j], -26))
			}
			if h == 0 {
				h = math.Ldexp(1, -13)
			}
			column, err := derivative(beta, j, h, len(y), predict)
			if err != nil {
				return err
			}
			for i, v := range column {
				jac[i][j] = v
			}
			if slope[j] = max(slope[j], norm(column)); slope[j] == 0 {
				slope[j] = 1
			}
		}
		return nil
	}
}

// derivative is that of n values of the model to parameter j, with the step h or a smaller one.
func derivative(at []float64, j int, h float64, n int, predict func(beta, out []float64) error) ([]float64, error) {
	beta := append([]float64(nil), at...)
	var f [4][]float64
	for good, cut := false, 0; !good; cut++ {
		if cut > 0 {
			h /= 8
		}
		if cut > 10 || h == 0 {
			return nil, ErrNotFinite
		}
		good = true
		for k, m := range [4]float64{-2, -1, 1, 2} {
			f[k] = make([]float64, n)
			beta[j] = at[j] + m*h
			if err := predict(beta, f[k]); err != nil {
				return nil, err
			}
			good = good && allFinite("model", f[k]) == nil
		}
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = (8*(f[2][i]-f[1][i]) - (f[3][i] - f[0][i])) / (12 * h)
	}
	return out, nil
}
