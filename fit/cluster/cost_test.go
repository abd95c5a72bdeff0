package cluster

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"calib/fit/regress"
	"calib/internal/form"
	"calib/internal/lsq"
)

// No other floor and line may have a smaller sum of squares than the one found.
func TestFloorIsLeast(t *testing.T) {
	x := []float64{1, 20, 40, 100, 250, 500, 1000, 1448}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		truth := form.Cost{Floor: 1 + 3*rng.Float64(), C0: 2 * rng.Float64(), C1: 0.001 + 0.02*rng.Float64()}
		y, w := make([]float64, len(x)), slices.Repeat([]float64{1}, len(x))
		for i, v := range x {
			y[i] = truth.Of(v) + 0.3*rng.NormFloat64()
		}
		got, err := floorCost(x, y, w)
		if err != nil {
			continue
		}
		least := regress.SumOfSquares(x, y, w, got.Of)
		for range 200 {
			c := form.Cost{Floor: got.Floor + 0.2*rng.NormFloat64(), C0: got.C0 + 0.2*rng.NormFloat64(), C1: got.C1 * (1 + 0.1*rng.NormFloat64())}
			if corner := (c.Floor - c.C0) / c.C1; corner < x[1] || corner > x[len(x)-2] {
				continue // fewer than two sizes on one side
			}
			if sse := regress.SumOfSquares(x, y, w, c.Of); sse < least*(1-1e-9) {
				t.Fatalf("seed %d: %+v has %g, %+v has %g", seed, got, least, c, sse)
			}
		}
	}
}

// The exact search for N must not be worse than Levenberg-Marquardt from the truth.
func TestLimitedIsLeast(t *testing.T) {
	truth := tableOne(false).L
	truth.N = 60e6
	truth.Gs = form.Cost{Floor: 6.73e-6, C0: 3.027e-6, C1: 0.0796e-6}
	var at []loadPoint
	for _, p := range []float64{2, 4, 6, 8} {
		for _, m := range []float64{1, 181, 701, 1123, 1401} {
			at = append(at, loadPoint{m, p})
		}
	}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 4))
		y, w := make([]float64, len(at)), make([]float64, len(at))
		for i, q := range at {
			y[i] = truth.At(q.m, q.p) * (1 + 0.01*rng.NormFloat64())
			w[i] = 1 / (y[i] * y[i])
		}
		got, err := limited(at, y, w, truth.Gs)
		if err != nil {
			t.Fatal(err)
		}
		predict := func(b, out []float64) error {
			for i, q := range at {
				out[i] = form.Transfer{L0: b[0], L1: b[1], Tau: b[2], N: b[3], Gs: truth.Gs}.At(q.m, q.p)
			}
			return nil
		}
		sol, err := lsq.NonLinear(lsq.Problem{Y: y, Weights: w, Start: []float64{truth.L0, truth.L1, truth.Tau, truth.N},
			Predict: predict, Jac: func(b []float64, jac [][]float64) error { // by central differences
				low, high := make([]float64, len(at)), make([]float64, len(at))
				for j, v := range b {
					h := 1e-5 * math.Abs(v)
					if err := errors.Join(predict(moved(b, j, -h), low), predict(moved(b, j, h), high)); err != nil {
						return err
					}
					for i := range at {
						jac[i][j] = (high[i] - low[i]) / (2 * h)
					}
				}
				return nil
			}})
		if sol == nil {
			t.Fatal(err)
		}
		if got.rss > sol.RSS*(1+1e-9) {
			t.Errorf("seed %d: %+v has %g, Levenberg-Marquardt %v has %g", seed, got.Transfer, got.rss, sol.Coef, sol.RSS)
		}
	}
}

// moved is b with element j moved by h.
func moved(b []float64, j int, h float64) []float64 {
	out := slices.Clone(b)
	out[j] += h
	return out
}
