package export

import (
	"errors"
	"math"
	"strings"
	"testing"

	"calib/params"
)

func with(f map[string]params.Function, p map[string]params.Parameter) *input {
	return newInput(&params.Params{Functions: f, Parameters: p}, Options{})
}

// TestNeed: a parameter is there where the run has determined it; else the error says how to measure it.
func TestNeed(t *testing.T) {
	v, nan := 2.0, math.NaN()
	in := with(nil, map[string]params.Parameter{
		"L": {Value: &v, Status: params.StatusOK}, "g": {Value: &nan, Status: params.StatusOK},
		"G":   {Value: &v, Status: params.StatusBound},
		"o_s": {Status: params.StatusUnidentifiable, Why: "one\nround"},
	})
	if got, err := in.need("L"); err != nil || got != v {
		t.Errorf("L = %g, %v", got, err)
	}
	for name, want := range map[string]string{"g": "parameter g: not measured", "G": "parameter G: not measured",
		"o_s": "(one round)", "packet": "--only clock,load,overhead", "beta": "--only clock,pingpong"} {
		if _, err := in.need(name); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want ErrMissing with %q", name, err, want)
		}
	}
}

func TestHostCount(t *testing.T) {
	in := with(nil, nil)
	in.Params.Run.Hosts = []string{"a", "b", "c"}
	for hosts, want := range map[int]int{0: 3, 2: 2, maxHosts: maxHosts, 1: 0, -1: 0, maxHosts + 1: 0} {
		in.Hosts, in.err = hosts, nil
		if got := in.hostCount(); got != want || (in.err == nil) != (want > 0) || in.err != nil &&
			!errors.Is(in.err, ErrOption) {
			t.Errorf("%d hosts asked for: %d, %v", hosts, got, in.err)
		}
	}
}

// TestFunctions: the forms of params.json as the exporters see them.
func TestFunctions(t *testing.T) {
	in := with(map[string]params.Function{
		"T": {Form: params.Pieces, Coeff: map[string]float64{"from_1": 0, "c0_1": 1, "c1_1": 2, "from_2": 10, "c0_2": 3,
			"c1_2": 4},
			Domain: map[string][2]float64{"bytes": {1, 99}}},
		"g_s": {Form: params.Floored, Coeff: map[string]float64{"floor": 5, "c0": 1, "c1": 2}},
		"g_r": {Form: params.Line, Coeff: map[string]float64{"c0": -9, "c1": 1},
			CI95: map[string][2]float64{"c1": {0.5, 1.5}}},
		"o_s": {Form: params.Line, Coeff: map[string]float64{"c0": 1, "c1": 1},
			CI95: map[string][2]float64{"c1": {-0.5, 1.5}}},
		"L_cluster": {Form: params.Bilinear, Coeff: map[string]float64{"l0": 1, "l1": -0.5, "tau": 7},
			Domain: map[string][2]float64{"p": {2, 8}}},
		"x": {Form: "unheard of"},
	}, nil)
	if got, largest, ok := in.pieces("T"); !ok || largest != 99 || len(got) != 2 ||
		got[1] != (params.Segment{From: 10, C0: 3, C1: 4}) {
		t.Errorf("segments %v, %g, %t", got, largest, ok)
	}
	if _, _, ok := in.pieces("g_s"); ok {
		t.Error("a floor has segments")
	}
	if cost, kink, err := in.packetCost("g_s", 100); err != nil || kink != 2 || cost(1) != 5 || cost(3) != 7 {
		t.Errorf("floor: kink %g, %v", kink, err)
	}
	if cost, kink, err := in.packetCost("g_r", 100); err != nil || kink != 0 || cost(1) != 0 || cost(10) != 1 {
		t.Errorf("line below zero: kink %g, %v", kink, err)
	}
	for _, name := range []string{"x", "nothing"} {
		if _, _, err := in.packetCost(name, 100); !errors.Is(err, ErrMissing) {
			t.Errorf("%s: %v, want ErrMissing", name, err)
		}
	}
}
