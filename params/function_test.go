package params

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestCoeffUnit(t *testing.T) {
	all := map[string]float64{"c0": 1, "c1": 1, "floor": 1, "l0": 1, "l1": 1, "tau": 1, "N": 1}
	for i := 1; i <= 12; i++ {
		for _, name := range []string{"c0", "c1", "from"} {
			all[fmt.Sprintf("%s_%d", name, i)] = float64(i)
		}
	}
	for _, c := range []struct{ form, coeff, want string }{
		{Line, "c0", "s"}, {Line, "c1", "s/B"}, {Line, "c2", ""}, {Floored, "floor", "s"}, {Floored, "c1", "s/B"},
		{Pieces, "c0_1", "s"}, {Pieces, "c1_12", "s/B"}, {Pieces, "from_2", "B"},
		{Bilinear, "l1", "s"}, {Limited, "tau", "s/B"}, {Limited, "N", "B/s"}, {"another", "c0", ""},
	} {
		if got := (Function{Form: c.form, Coeff: all, Unit: "s"}).CoeffUnit(c.coeff); got != c.want {
			t.Errorf("%s in %q: %q, want %q", c.coeff, c.form, got, c.want)
		}
	}
}

// TestEvalTable1 holds the forms against table 1 of the paper [µs].
func TestEvalTable1(t *testing.T) {
	others := map[string]Function{"g_s": {Form: Floored,
		Coeff: map[string]float64{"floor": 6.73, "c0": 3.027, "c1": 0.0796}}}
	l := map[string]float64{"l0": 16.684, "l1": 1.556, "tau": 0.0826, "N": 90, "floor": 18}
	for _, c := range []struct {
		fn   Function
		m, p float64
		want float64
	}{
		{others["g_s"], 40, 0, 6.73},
		{others["g_s"], 1448, 0, 118.2878},
		{Function{Form: Line, Coeff: map[string]float64{"c0": 12.176, "c1": 0.0429}}, 100, 0, 16.466},
		{Function{Form: Limited, Coeff: l}, 1448, 2, 16.684 + 3.112 + 119.6048},
		{Function{Form: Limited, Coeff: l}, 1448, 16, 16.684 + 24.896 + 119.6048*16*1448/(90*118.2878)},
		{Function{Form: Bilinear, Coeff: l}, 1448, 16, 16.684 + 24.896 + 119.6048},
		{Function{Form: FlooredBilinear, Coeff: l}, 1, 16, 18 + 24.896},
		{Function{Form: FlooredBilinear, Coeff: l}, 1448, 16, 16.684 + 24.896 + 119.6048},
		{Function{Form: FlooredLimited, Coeff: l}, 1, 16, 18 + 24.896},
		{Function{Form: FlooredLimited, Coeff: l}, 1448, 16, 16.684 + 24.896 + 119.6048*16*1448/(90*118.2878)},
		{Function{Form: Pieces, Coeff: map[string]float64{"from_1": 0, "c0_1": 1, "c1_1": 0, "from_2": 50, "c0_2": 2,
			"c1_2": 3}},
			50, 0, 1},
		{Function{Form: Pieces, Coeff: map[string]float64{"from_1": 0, "c0_1": 1, "c1_1": 0, "from_2": 50, "c0_2": 2,
			"c1_2": 3}},
			51, 0, 155},
	} {
		v, err := c.fn.At(c.m, c.p, others)
		if err != nil || math.Abs(v/c.want-1) > 1e-12 {
			t.Errorf("%q at m = %g, p = %g: %v (%v), want %v", c.fn.Form, c.m, c.p, v, err, c.want)
		}
	}
}

// At a measured size the interval is that of the point, stretched to a line that is off it. Between two sizes it also
// holds what lines between sizes miss, at this size and below. No time falls with the size.
func TestWithin(t *testing.T) {
	point := func(x, y, half float64) Residual { return Residual{X: x, Measured: y, Lo: y - half, Hi: y + half} }
	points := []Residual{point(1, 100, 0.1), point(11, 101, 0.2), point(1001, 200, 1), point(2001, 320, 1),
		point(3001, 400, 2), point(5001, 600, 3), {X: 6001, Measured: 700, Lo: 700, Hi: 700}}
	f := Function{Form: Pieces, Coeff: map[string]float64{"from_1": 0, "c0_1": 99.9, "c1_1": 0.1}, // 0.1·x + 99.9
		CI95: map[string][2]float64{"c0_1": {99, 101}}}
	// The line between 101 and 320 misses 200 at 1,001 B by 9.95, that between 200 and 400 misses 320 by 20.
	for _, c := range []struct{ x, lo, hi float64 }{
		{1, 99.9, 100.1}, {11, 100.8, 101.2}, {1001, 199, 201}, {2001, 300, 321}, {5001, 597, 603},
		{6, 100.301, 100.699}, {506, 140.522, 160.478}, {1501, 229.961, 276.575}, {4001, 479.844, 520.156},
		{1101, 199, 234.821}, {5501, 629.737, 670.263}, {6001, 700, 700},
		{0.5, 99.95, 99.95}, {6002, 700.1, 700.1},
	} {
		if ci := f.Within(c.x, points); math.Abs(ci[0]-c.lo) > 1e-3 || math.Abs(ci[1]-c.hi) > 1e-3 {
			t.Errorf("at %g B: %.3f, want %g to %g", c.x, ci, c.lo, c.hi)
		}
	}
	p := &Params{Functions: map[string]Function{"T": f}, Measured: []Series{{Quantity: Time, Points: points}}}
	if ci := p.TInterval(1001); ci != f.Within(1001, points) {
		t.Errorf("%v", ci)
	}
	if ci := (&Params{Measured: p.Measured}).TInterval(1); ci != [2]float64{} {
		t.Errorf("no T, but the interval %v", ci)
	}
	f.CI95 = nil
	if ci := f.Within(1501, points); ci[0] != ci[1] || math.Abs(ci[0]-250) > 1e-9 {
		t.Errorf("one round: %v", ci)
	}
}

func TestEvalErrors(t *testing.T) {
	one := map[string]float64{"c0": 1, "l0": 1, "l1": 1, "tau": 1, "N": 1, "from_1": 0}
	gs := map[string]Function{"g_s": {Form: Line}}
	for _, c := range []struct {
		form   string
		others map[string]Function
		want   string
	}{
		{"1/m", nil, `unknown form "1/m"`},
		{Pieces, nil, "without coefficient c0_1"},
		{Line, nil, "without coefficient c1"},
		{Floored, nil, "without coefficient c1"},
		{Limited, nil, "no function g_s"},
		{Limited, gs, "g_s: function cannot be evaluated"},
	} {
		_, err := Function{Form: c.form, Coeff: one}.At(1, 2, c.others)
		if !errors.Is(err, ErrForm) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.form, err, c.want)
		}
	}
}
