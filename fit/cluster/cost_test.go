package cluster

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/optimize"

	"calib/internal/lsq"
	"calib/params"
)

// No other floor and line may have a smaller sum of squares than the one found.
func TestFloorIsLeast(t *testing.T) {
	x := []float64{1, 20, 40, 100, 250, 500, 1000, 1448}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		truth := params.Cost{Floor: 1 + 3*rng.Float64(), C0: 2 * rng.Float64(), C1: 0.001 + 0.02*rng.Float64()}
		y, w := make([]float64, len(x)), slices.Repeat([]float64{1}, len(x))
		for i, v := range x {
			y[i] = truth.Of(v) + 0.3*rng.NormFloat64()
		}
		got, err := floorCost(x, y, w)
		if err != nil {
			continue
		}
		least := lsq.SumOfSquares(x, y, w, got.Of)
		for range 200 {
			c := params.Cost{Floor: got.Floor + 0.2*rng.NormFloat64(), C0: got.C0 + 0.2*rng.NormFloat64(),
				C1: got.C1 * (1 + 0.1*rng.NormFloat64())}
			if corner := (c.Floor - c.C0) / c.C1; corner < x[1] || corner > x[len(x)-2] {
				continue // fewer than two sizes on one side
			}
			if sse := lsq.SumOfSquares(x, y, w, c.Of); sse < least*(1-1e-9) {
				t.Fatalf("seed %d: %+v has %g, %+v has %g", seed, got, least, c, sse)
			}
		}
	}
}

// The exact search for N must not be worse than a simplex search from the truth.
func TestLimitedIsLeast(t *testing.T) {
	truth := tableOne(false).L
	truth.N = 60e6
	truth.Gs = params.Cost{Floor: 6.73e-6, C0: 3.027e-6, C1: 0.0796e-6}
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
		got, err := transferForm{limited: true}.fit(at, y, w, truth.Gs)
		if err != nil {
			t.Fatal(err)
		}
		squares := func(x []float64) (sum float64) { // of a share of each true parameter
			f := params.Transfer{L0: x[0] * truth.L0, L1: x[1] * truth.L1, Tau: x[2] * truth.Tau, N: x[3] * truth.N,
				Gs: truth.Gs}
			for i, q := range at {
				r := y[i] - f.At(q.m, q.p)
				sum += w[i] * r * r
			}
			return sum
		}
		sol, err := optimize.Minimize(optimize.Problem{Func: squares}, []float64{1, 1, 1, 1}, nil, &optimize.NelderMead{})
		if err != nil {
			t.Fatal(err)
		}
		if got.RSS > sol.F*(1+1e-9) {
			t.Errorf("seed %d: %+v has %g, Nelder and Mead's simplex %v has %g", seed, got.Transfer, got.RSS, sol.X, sol.F)
		}
	}
}
