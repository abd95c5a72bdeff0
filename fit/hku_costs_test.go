package fit

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"calib/internal/lsq"
)

// TestEvalTable1 holds the forms against table 1 of the paper [µs].
func TestEvalTable1(t *testing.T) {
	others := map[string]Function{"g_s": {Form: FloorForm, Coeff: map[string]float64{"floor": 6.73, "c0": 3.027, "c1": 0.0796}}}
	l := map[string]float64{"l0": 16.684, "l1": 1.556, "tau": 0.0826, "N": 90}
	for _, c := range []struct {
		fn   Function
		m, p float64
		want float64
	}{
		{others["g_s"], 40, 0, 6.73},
		{others["g_s"], 1448, 0, 118.2878},
		{Function{Form: LineForm, Coeff: map[string]float64{"c0": 12.176, "c1": 0.0429}}, 100, 0, 16.466},
		{Function{Form: TransferForm, Coeff: l}, 1448, 2, 16.684 + 3.112 + 119.6048},
		{Function{Form: TransferForm, Coeff: l}, 1448, 16, 16.684 + 24.896 + 119.6048*16*1448/(90*118.2878)},
		{Function{Form: BilinearForm, Coeff: l}, 1448, 16, 16.684 + 24.896 + 119.6048},
		{Function{Form: SegmentsForm, Coeff: map[string]float64{"from_1": 0, "c0_1": 1, "c1_1": 0, "from_2": 50, "c0_2": 2, "c1_2": 3}},
			50, 0, 1},
		{Function{Form: SegmentsForm, Coeff: map[string]float64{"from_1": 0, "c0_1": 1, "c1_1": 0, "from_2": 50, "c0_2": 2, "c1_2": 3}},
			51, 0, 155},
	} {
		v, err := c.fn.Eval(map[string]float64{"m": c.m, "x": c.m, "p": c.p}, others)
		if err != nil || math.Abs(v/c.want-1) > 1e-12 {
			t.Errorf("%q at m = %g, p = %g: %v (%v), want %v", c.fn.Form, c.m, c.p, v, err, c.want)
		}
	}
}

func TestEvalErrors(t *testing.T) {
	one := map[string]float64{"c0": 1, "l0": 1, "l1": 1, "tau": 1, "N": 1, "from_1": 0}
	gs := map[string]Function{"g_s": {Form: LineForm}}
	for _, c := range []struct {
		form   string
		args   map[string]float64
		others map[string]Function
		want   string
	}{
		{"1/m", map[string]float64{"m": 1}, nil, `unknown form "1/m"`},
		{LineForm, nil, nil, "needs argument m"},
		{SegmentsForm, map[string]float64{"m": 1}, nil, "needs argument x"},
		{SegmentsForm, map[string]float64{"x": 1}, nil, "without coefficient c0_1"},
		{LineForm, map[string]float64{"m": 1}, nil, "without coefficient c1"},
		{TransferForm, map[string]float64{"m": 1}, nil, "needs argument p"},
		{TransferForm, map[string]float64{"m": 1, "p": 2}, nil, "needs function g_s"},
		{TransferForm, map[string]float64{"m": 1, "p": 2}, gs, "g_s: function cannot be evaluated"},
	} {
		_, err := Function{Form: c.form, Coeff: one}.Eval(c.args, c.others)
		if !errors.Is(err, ErrEval) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %v: %v, want %q", c.form, c.args, err, c.want)
		}
	}
}

func TestClusterOf(t *testing.T) {
	w := hku2000(4000)
	p := fitCluster(t, &w, 10, hkuModels()...)
	c, err := ClusterOf(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []float64{1, 100, 1448} {
		for what, v := range map[string][2]float64{
			"O_s": {c.Os.At(m), w.Os.At(m)}, "g_s": {c.Gs.At(m), w.Gs.At(m)}, "g_r": {c.Gr.At(m), w.Gr.At(m)},
			"O_r": {c.Or.At(m), w.Or.At(m)}, "U_r": {c.Ur.At(m), w.Ur.At(m)}, "L": {c.L.At(m, 8), w.L.At(m, 8)},
		} {
			if math.Abs(v[0]/v[1]-1) > 1e-6 {
				t.Errorf("%s(%g) = %g, want %g", what, m, v[0], v[1])
			}
		}
	}
	if c.MTU != 1448 || !math.IsInf(c.BL, 1) {
		t.Errorf("MTU %g, B_L %g", c.MTU, c.BL)
	}
	p.Parameters["B_L"] = Parameter{Status: StatusBound, Bound: &[2]float64{64, math.Inf(1)}}
	if c, err = ClusterOf(p); err != nil || c.BL != 64 {
		t.Errorf("B_L %g of a bound: %v", c.BL, err)
	}
	p.Parameters["B_L"] = Parameter{Status: StatusOK, Value: number(1935)}
	if c, err = ClusterOf(p); err != nil || c.BL != 1935 {
		t.Errorf("B_L %g: %v", c.BL, err)
	}
	odd := p.Functions["O_s"]
	odd.Form = SegmentsForm
	p.Functions["O_s"] = odd
	if _, err = ClusterOf(p); !errors.Is(err, ErrEval) {
		t.Errorf("O_s of another form: %v", err)
	}
	delete(p.Functions, "g_s")
	delete(p.Functions, "L")
	p.Functions["O_s"] = p.Functions["U_r"]
	if _, err = ClusterOf(p); !errors.Is(err, ErrNeeds) || !strings.Contains(err.Error(), "no function g_s, L") {
		t.Errorf("without g_s and L: %v", err)
	}
}

// No other floor and line may have a smaller sum of squares than the one found.
func TestFloorIsLeast(t *testing.T) {
	x := []float64{1, 20, 40, 100, 250, 500, 1000, 1448}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		truth := Cost{Floor: 1 + 3*rng.Float64(), C0: 2 * rng.Float64(), C1: 0.001 + 0.02*rng.Float64()}
		y, w := make([]float64, len(x)), filled(len(x), 1)
		for i, v := range x {
			y[i] = truth.At(v) + 0.3*rng.NormFloat64()
		}
		got, err := floorCost(x, y, w)
		if err != nil {
			continue
		}
		least := sumOfSquares(x, y, w, got.At)
		for range 200 {
			c := Cost{got.Floor + 0.2*rng.NormFloat64(), got.C0 + 0.2*rng.NormFloat64(), got.C1 * (1 + 0.1*rng.NormFloat64())}
			if corner := (c.Floor - c.C0) / c.C1; corner < x[1] || corner > x[len(x)-2] {
				continue // fewer than two sizes on one side
			}
			if sse := sumOfSquares(x, y, w, c.At); sse < least*(1-1e-9) {
				t.Fatalf("seed %d: %+v has %g, %+v has %g", seed, got, least, c, sse)
			}
		}
	}
}

// A floor must not be found in a line, nor be missed where it is deep.
func TestFloorShows(t *testing.T) {
	for _, c := range []struct {
		floor float64
		want  bool
	}{{0, false}, {3.027e-6 * 40 * 1.03, false}, {6.73e-6 * 40, true}} {
		found := 0
		for seed := range uint64(20) {
			w := small()
			w.noise, w.hosts, w.seed, w.Gs.Floor = 0.01, 2, seed, c.floor
			if f := mustFit(t, HKUGap{}, w.dataset()); f.Functions["g_s"].Form == FloorForm {
				found++
			}
		}
		if c.want && found != 20 || !c.want && found > 1 {
			t.Errorf("floor %g: found in %d of 20 runs", c.floor, found)
		}
	}
}

// The exact search for N must not be worse than Levenberg-Marquardt from the truth.
func TestLimitedIsLeast(t *testing.T) {
	truth := hku2000(1).L
	truth.N = 60e6
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
				out[i] = Transfer{b[0], b[1], b[2], b[3], truth.Gs}.At(q.m, q.p)
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
