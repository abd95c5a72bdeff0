package lsq

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// line is the design of an intercept and a slope.
func line(x []float64) [][]float64 {
	rows := make([][]float64, len(x))
	for i, v := range x {
		rows[i] = []float64{1, v}
	}
	return rows
}

// near fails the test unless got and want agree to the relative tolerance, or absolutely where want is below one.
func near(t interface {
	Helper()
	Errorf(string, ...any)
}, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*max(1, math.Abs(want))) {
		t.Errorf("%s: got %.17g, want %.17g within %g", what, got, want, tol)
	}
}

// TestLinearByHand checks every field on x = 1..4, y = 1, 3, 2, 4, whose line is y = 0.5 + 0.8·x with residual sum of
// squares 1.8.
func TestLinearByHand(t *testing.T) {
	x, y := line([]float64{1, 2, 3, 4}), []float64{1, 3, 2, 4}
	sol, err := Linear(x, y, nil)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "intercept", sol.Coef[0], 0.5, 1e-14)
	near(t, "slope", sol.Coef[1], 0.8, 1e-14)
	near(t, "RSS", sol.RSS, 1.8, 1e-14)
}

func TestLinearWithoutIntercept(t *testing.T) {
	sol, err := Linear([][]float64{{1}, {2}, {3}}, []float64{2, 4, 7}, nil)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slope", sol.Coef[0], 31.0/14, 1e-15)
}

func TestLinearUnits(t *testing.T) {
	x := []float64{1, 64, 1024, 65536, 4 << 20}
	y := []float64{9e-4, 9.5e-4, 1.9e-3, 6.1e-2, 3.9}
	a, err := Linear(line(x), y, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range y {
		y[i] *= 1e9
	}
	b, err := Linear(line(x), y, nil)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "ns against s", b.Coef[0]/1e9/a.Coef[0], 1, 1e-12)
	if a.Cond > 10 {
		t.Errorf("condition number %g of a plain line", a.Cond)
	}
}

func TestLinearErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	ok := line([]float64{1, 2, 3})
	y := []float64{1, 2, 3}
	for name, c := range map[string]struct {
		x    [][]float64
		y, w []float64
		want string
	}{
		"empty":        {nil, nil, nil, "fewer than the coefficients"},
		"short":        {ok[:1], y[:1], nil, "fewer than the coefficients"},
		"zero weights": {ok, y, []float64{1, 0, 0}, "linearly dependent"},
		"NaN x":        {line([]float64{1, nan, 3}), y, nil, "norm NaN"},
		"Inf y":        {ok, []float64{1, inf, 3}, nil, "coefficient"},
		"NaN weight":   {ok, y, []float64{1, nan, 1}, "norm NaN"},
		"same x":       {line([]float64{2, 2, 2}), y, nil, "linearly dependent"},
		"same x, odd":  {line([]float64{0.1, 0.1, 0.1}), y, []float64{1, 3, 0.7}, "linearly dependent"},
		"zero column":  {line([]float64{0, 0, 0}), y, nil, "norm 0"},
		"overflow":     {line([]float64{1, 2, math.MaxFloat64}), y, []float64{1, 1, math.MaxFloat64}, "norm +Inf"},
	} {
		sol, err := Linear(c.x, c.y, c.w)
		if err == nil || !strings.Contains(err.Error(), c.want) || sol != nil {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	sol, err := Linear(ok[:2], y[:2], nil)
	if err != nil {
		t.Fatalf("two points: %+v, %v", sol, err)
	}
}

func TestRelative(t *testing.T) {
	x, y := []float64{1, 10, 100}, []float64{1.1, 9, 105}
	sol, err := relative(line(x), y)
	if err != nil {
		t.Fatal(err)
	}
	base := math.Inf(1)
	for _, d := range [][2]float64{{0, 0}, {1e-3, 0}, {-1e-3, 0}, {0, 1e-4}, {0, -1e-4}} {
		var sum float64
		for i := range x {
			r := (y[i] - sol.Coef[0] - d[0] - (sol.Coef[1]+d[1])*x[i]) / y[i]
			sum += r * r
		}
		if base == math.Inf(1) {
			near(t, "RSS", sol.RSS, sum, 1e-14)
			base = sum
		} else if sum <= base {
			t.Errorf("moved by %v the sum of squared relative residuals falls to %g from %g", d, sum, base)
		}
	}
	for _, v := range []float64{0, math.NaN()} {
		if _, err := relative(line(x), []float64{1, v, 2}); err == nil {
			t.Errorf("no error for a relative residual of %g", v)
		}
	}
}

// drawRows generates a small well-posed problem of p = 2 with integer weights.
func drawRows(t *rapid.T) (x [][]float64, y, w []float64) {
	n := rapid.IntRange(4, 12).Draw(t, "n")
	for i := range n {
		x = append(x, []float64{1, float64(i) + rapid.Float64Range(0, 0.5).Draw(t, "x")})
		y = append(y, rapid.Float64Range(-100, 100).Draw(t, "y"))
		w = append(w, float64(rapid.IntRange(1, 4).Draw(t, "w")))
	}
	if sol, err := Linear(x, y, w); err != nil || sol.RSS < 1e-6 {
		t.Skip("ratios of zero residuals say nothing")
	}
	return x, y, w
}

func TestWeightsAreReplicatedRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y, w := drawRows(t)
		weighted, err := Linear(x, y, w)
		if err != nil {
			t.Fatal(err)
		}
		var xs [][]float64
		var ys []float64
		for i := range x {
			for range int(w[i]) {
				xs, ys = append(xs, x[i]), append(ys, y[i])
			}
		}
		rows, err := Linear(xs, ys, nil)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "RSS", weighted.RSS/rows.RSS, 1, 1e-10)
		for j := range rows.Coef {
			near(t, "coefficient", weighted.Coef[j], rows.Coef[j], 1e-10)
		}
	})
}

func TestPermutationInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y, w := drawRows(t)
		order := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := range x {
				if !yield(i) {
					return
				}
			}
		})).Draw(t, "order")
		var xs [][]float64
		var ys, ws []float64
		for _, i := range order {
			xs, ys, ws = append(xs, x[i]), append(ys, y[i]), append(ws, w[i])
		}
		a, errA := Linear(x, y, w)
		b, errB := Linear(xs, ys, ws)
		if err := errors.Join(errA, errB); err != nil {
			t.Fatal(err)
		}
		for j := range a.Coef {
			near(t, "linear", b.Coef[j], a.Coef[j], 1e-10)
		}
	})
}

// relative fits y ≈ X·β by minimising Σ ((y − X·β)/y)², the sum of squared relative residuals: Linear with weights
// 1/y². A zero or a subnormal y is an error.
func relative(x [][]float64, y []float64) (*Solution, error) {
	w, err := OrRelative(y, nil)
	if err != nil {
		return nil, fmt.Errorf("relative fit: %w", err)
	}
	return Linear(x, y, w)
}
