package lsq

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// decay is y = b0·exp(−b1·x) at x = 0..5, with its derivatives.
func decay(start []float64, y []float64) Problem {
	return Problem{Y: y, Start: start, Predict: func(b, out []float64) error {
		for i := range out {
			out[i] = b[0] * math.Exp(-b[1]*float64(i))
		}
		return nil
	}, Jac: func(b []float64, jac [][]float64) error {
		for i := range jac {
			e := math.Exp(-b[1] * float64(i))
			jac[i][0], jac[i][1] = e, -b[0]*float64(i)*e
		}
		return nil
	}}
}

func TestNonLinearJacobians(t *testing.T) {
	y := []float64{10.1, 6, 3.7, 2.2, 1.4, 0.8}
	given, err := NonLinear(decay([]float64{1, 1}, y))
	if err != nil {
		t.Fatal(err)
	}
	pr := decay([]float64{1, 1}, y)
	pr.Jac = differences(y, pr.Predict)
	diff, err := NonLinear(pr)
	if err != nil {
		t.Fatal(err)
	}
	for j := range given.Coef {
		near(t, "coefficient", diff.Coef[j], given.Coef[j], 1e-9)
		near(t, "standard error", nlStdErr(t, pr, diff)[j]/nlStdErr(t, pr, given)[j], 1, 1e-8)
	}
	if given.Reason != ReasonStep {
		t.Errorf("given %+v, differences %+v", given, diff)
	}
}

// TestNonLinearOnLines requires the linear answer for a linear model.
func TestNonLinearOnLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y, w := drawRows(t)
		want, err := Linear(x, y, w)
		if err != nil {
			t.Fatal(err)
		}
		pr := Problem{Y: y, Weights: w, Start: []float64{1, 1}, Predict: func(b, out []float64) error {
			for i := range out {
				out[i] = b[0] + b[1]*x[i][1]
			}
			return nil
		}}
		pr.Jac = differences(y, pr.Predict)
		got, err := NonLinear(pr)
		if err != nil {
			t.Fatal(err)
		}
		se, nlSE := stdErr(t, x, y, w, want.RSS), nlStdErr(t, pr, got)
		for j := range want.Coef {
			near(t, "coefficient in standard errors", (got.Coef[j]-want.Coef[j])/se[j], 0, 1e-6)
			near(t, "error", nlSE[j]/se[j], 1, 1e-6)
		}
	})
}

func TestNonLinearExact(t *testing.T) {
	y := make([]float64, 6)
	for i := range y {
		y[i] = 10 * math.Exp(-0.5*float64(i))
	}
	sol, err := NonLinear(decay([]float64{1, 0}, y))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "rate", sol.Coef[1], 0.5, 1e-12)
	if sol, err = NonLinear(decay([]float64{10, 0.5}, y)); err != nil || sol.Reason != ReasonExact {
		t.Errorf("started at the answer: %+v, %v", sol, err)
	}
}

// TestNonLinearBarrier keeps trial steps that leave the domain of a logarithm
// from ending the fit.
func TestNonLinearBarrier(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5}
	pr := Problem{Start: []float64{40, 1}, Predict: func(b, out []float64) error {
		for i := range out {
			out[i] = math.Log(b[0] + b[1]*x[i])
		}
		return nil
	}}
	for _, v := range x {
		pr.Y = append(pr.Y, math.Log(0.5+2*v))
	}
	pr.Jac = differences(pr.Y, pr.Predict)
	sol, err := NonLinear(pr)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "offset", sol.Coef[0], 0.5, 1e-8)
	near(t, "slope", sol.Coef[1], 2, 1e-8)
}

func TestNonLinearErrors(t *testing.T) {
	y := []float64{10, 6, 4, 2, 1, 1}
	boom := errors.New("boom")
	change := func(f func(*Problem)) Problem {
		pr := decay([]float64{1, 1}, y)
		f(&pr)
		return pr
	}
	for name, c := range map[string]struct {
		pr   Problem
		want error
	}{
		"no model":       {change(func(p *Problem) { p.Predict = nil }), ErrShape},
		"no jacobian":    {change(func(p *Problem) { p.Jac = nil }), ErrShape},
		"no parameters":  {change(func(p *Problem) { p.Start = nil }), ErrShape},
		"weights":        {change(func(p *Problem) { p.Weights = []float64{1} }), ErrShape},
		"tolerance":      {change(func(p *Problem) { p.Tol = -1 }), ErrShape},
		"short":          {change(func(p *Problem) { p.Y = y[:1] }), ErrShort},
		"NaN y":          {change(func(p *Problem) { p.Y = []float64{1, math.NaN(), 2} }), ErrNotFinite},
		"NaN start":      {change(func(p *Problem) { p.Start = []float64{1, math.NaN()} }), ErrNotFinite},
		"outside domain": {change(func(p *Problem) { p.Start = []float64{1, -1e6} }), ErrNotFinite},
		"negative":       {change(func(p *Problem) { p.Weights = []float64{1, 1, 1, 1, 1, -1} }), ErrWeight},
		"model fails":    {change(func(p *Problem) { p.Predict = func(_, _ []float64) error { return boom } }), boom},
		"jacobian fails": {change(func(p *Problem) { p.Jac = func([]float64, [][]float64) error { return boom } }), boom},
		"no room to move": {change(func(p *Problem) {
			p.Start = []float64{0, 0}
			p.Predict = func(b, out []float64) error {
				clear(out)
				if b[0] != 0 || b[1] != 0 {
					out[0] = math.NaN()
				}
				return nil
			}
		}), ErrNotFinite},
		"jacobian NaN": {change(func(p *Problem) {
			p.Jac = func(_ []float64, j [][]float64) error { j[0][0] = math.NaN(); return nil }
		}), ErrNotFinite},
	} {
		if sol, err := NonLinear(c.pr); !errors.Is(err, c.want) || sol != nil {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestNonLinearPartialResults(t *testing.T) {
	pr := decay([]float64{100, 5}, []float64{10, 6, 4, 2, 1, 1})
	pr.MaxIter = 1
	sol, err := NonLinear(pr)
	if !errors.Is(err, ErrNoConverge) || sol == nil || sol.Reason != ReasonLimit || sol.Iterations != 1 {
		t.Errorf("one iteration: %+v, %v", sol, err)
	}
	same := Problem{Y: []float64{2.1, 1.9, 2.2}, Start: []float64{1, 1}, Predict: func(b, out []float64) error {
		for i := range out {
			out[i] = b[0] + b[1]
		}
		return nil
	}}
	same.Jac = differences(same.Y, same.Predict)
	sol, err = NonLinear(same)
	if !errors.Is(err, ErrCondition) || sol == nil {
		t.Fatalf("a sum of two constants: %+v, %v", sol, err)
	}
	near(t, "their sum", sol.Coef[0]+sol.Coef[1], 6.2/3, 1e-8)
}
