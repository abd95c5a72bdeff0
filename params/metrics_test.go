package params

import (
	"math"
	"slices"
	"testing"
)

// What can be followed is what every run has alike: of segments not the coefficients, whose breaks move.
func TestMetrics(t *testing.T) {
	v, wild := 2e-4, math.NaN()
	p := &Params{
		Parameters: map[string]Parameter{
			"a": {Value: &v, Unit: "s", CI95: &[2]float64{1e-4, 3e-4}, Status: StatusOK},
			"b": {Status: StatusUnidentifiable, Unit: "s/B"},
			"n": {Value: &wild, Unit: "1"}, "r": {Value: &v, Unit: "B/s", CI95: &[2]float64{math.Inf(-1), 1}},
			"B_L": {Value: &v, Unit: "packets"},
		},
		Functions: map[string]Function{
			"g_s": {Form: Line, Unit: "s", Coeff: map[string]float64{"c0": 1, "c1": 2},
				CI95: map[string][2]float64{"c0": {0, 2}}},
			"T": {Form: Pieces, Unit: "s", Coeff: map[string]float64{"from_1": 0, "c0_1": 1, "c1_1": 1, "from_2": 100, "c0_2": 5,
				"c1_2": 2},
				Domain: map[string][2]float64{"bytes": {1, 2000}}},
		},
		Pairs: []Pair{{From: "y", To: "x", Latency: &v}, {From: "x", To: "y", Rate: &wild}},
	}
	got := p.Metrics()
	var names []string
	for _, m := range got {
		names = append(names, m.Link()+" "+m.Name+" "+m.Unit+" "+m.Better)
	}
	want := []string{" B_L packets ", " T.1B s lower", " T.1KiB s lower", " T.64B s lower", " a s lower",
		" g_s.c0 s lower", " g_s.c1 s/B lower",
		" r B/s higher", "x→y latency s lower"}
	if !slices.Equal(names, want) {
		t.Errorf("got  %q\nwant %q", names, want)
	}
	if i := slices.Index(names, " T.1KiB s lower"); i >= 0 && got[i].Value != 5+2*1024 {
		t.Errorf("T at 1 KiB: %v", got[i].Value)
	}
	if i := slices.Index(names, " r B/s higher"); i >= 0 && got[i].CI95 != nil {
		t.Error("an interval without an end was kept")
	}
}

// The size of a link's rate is that of the largest message, which need not be a whole number of KiB.
func TestSplitSize(t *testing.T) {
	for name, want := range map[string][2]string{"rate.42.2KiB": {"rate", "42.2KiB"}, "T.64B": {"T", "64B"},
		"rate": {"rate", ""}, "g_s.c0": {"g_s.c0", ""}, "loss": {"loss", ""}} {
		if base, size := SplitSize(name); base != want[0] || size != want[1] {
			t.Errorf("%s: %q of %q, want %q", name, base, size, want)
		}
	}
}
