package run

import (
	"math"
	"slices"
	"strings"
	"testing"

	"calib/bench"
	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/params"
	"calib/run/plan"
)

// rounds measures every point in rounds first to last−1.
func (w *network) rounds(points []bench.Point, first, last int) {
	for round := first; round < last; round++ {
		for _, c := range points {
			w.measure(c, round)
		}
	}
}

func look(t *testing.T, j plan.Look, d *dataset.Dataset) map[string]plan.State {
	t.Helper()
	states, err := j(d)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]plan.State{}
	for _, s := range states {
		out[s.Parameter] = s
	}
	return out
}

// Before there is anything to fit a number has no value; then it has one, and is met when its interval is narrow.
func TestLook(t *testing.T) {
	w := shared(3)
	w.noise, w.within = 0.002, 0
	j := newLook(Targets{"a": 0.02, "g": 0.03}, fit.Settings{}, nil)
	s := look(t, j, w.d)["a"]
	if !math.IsNaN(s.Value) || !math.IsInf(s.HalfWidth, 1) || s.Met || s.Beyond ||
		s.String() != "a, target 2% (not fitted yet)" {
		t.Errorf("state %+v, %q", s, s)
	}
	w.rounds(w.paired(), 0, 8)
	s = look(t, j, w.d)["a"]
	if !(s.HalfWidth <= s.Target) || !s.Met || !slices.Equal(s.Experiments, []string{names.Paired}) ||
		!strings.HasPrefix(s.String(), "a 8") {
		t.Errorf("state %+v, %q", s, s)
	}
}

// What no number of rounds can meet does not hold up the end, and says why.
func TestBeyond(t *testing.T) {
	for _, c := range []struct {
		name    string
		targets Targets
		change  func(*network) []bench.Point
		want    string
	}{
		{"one number of pairs", Targets{"a_c": 0.02}, func(w *network) []bench.Point {
			w.d.Header.Hosts = w.d.Header.Hosts[:2]
			var out []bench.Point
			for _, p := range w.paired() {
				if p[names.FactorPairs] == 1 {
					out = append(out, p)
				}
			}
			return out
		}, "one number of pairs only"},
		{"a switch", Targets{"a_c": 0.02}, func(w *network) []bench.Point { w.ac = 0; return w.paired() },
			"do not delay each other's packets"},
		{"a switch, streams", Targets{"b_c": 0.02}, func(w *network) []bench.Point { w.bc = 0; return w.paired() },
			"b' does not grow up to n = 4"},
		{"the medium is the bottleneck", Targets{"b": 0.02},
			func(w *network) []bench.Point { w.b = 0.1e-6; return w.paired() },
			"the medium is the bottleneck"},
		{"an instrument that is too coarse", Targets{"a": 0.01}, func(w *network) []bench.Point {
			for h := range w.d.Header.Hosts {
				w.d.Samples = append(w.d.Samples, dataset.Sample{Exp: names.Clock, Phase: names.PhaseStep, Parts: 1,
					Ranks: []int{h}, NS: []int64{30_000}})
			}
			return w.paired()
		}, "± 2% is from first delivery"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := shared(4)
			w.noise, w.within = 0.002, 0.001
			w.rounds(c.change(w), 0, 8)
			for name, s := range look(t, newLook(c.targets, fit.Settings{}, nil), w.d) {
				if !s.Beyond || s.Met || !strings.Contains(s.Why, c.want) {
					t.Errorf("%s: %s, want beyond reach: %s", name, s, c.want)
				}
			}
		})
	}
}

// A port that never overflowed, and a cost that is too small to matter, do not hold up the end either.
func TestNothingToNarrow(t *testing.T) {
	p := &params.Params{Parameters: map[string]params.Parameter{}}
	for name, ends := range map[string][2]float64{"alpha": {1.9e-3, 2.1e-3}, "o_s": {1e-6, 30e-6}, "g": {100e-6, 300e-6}} {
		v := (ends[0] + ends[1]) / 2
		p.Parameters[name] = params.Parameter{Value: &v, CI95: &ends, Unit: "s", Status: params.StatusOK}
	}
	p.Parameters["B_L"] = params.Parameter{Bound: &params.Bound{1000, math.Inf(1)}, Unit: "packets",
		Status: params.StatusBound, Why: "it never overflowed"}
	zero := 0.
	p.Parameters["L"] = params.Parameter{Value: &zero, Unit: "s", Status: params.StatusProvisional,
		Why: "all rounds gave the same value"}
	p.Parameters["o_r"] = params.Parameter{Value: &zero, CI95: &[2]float64{-3e-6, 3e-6}, Unit: "s",
		Status: params.StatusOK}
	p.Functions = map[string]params.Function{"O_s": {Unit: "s", Coeff: map[string]float64{"c0": 0, "c1": 0},
		Domain: map[string][2]float64{"m": {1, 1448}}, Status: params.StatusProvisional}}
	v := &view{fits: p}
	for name, want := range map[string]string{"o_s": "too small to matter", "L": "too small to matter",
		"o_r": "too small to matter", "O_s": "too small to matter", "B_L": "it never overflowed", "g": ""} {
		if s := v.state(name, 0.02); s.Beyond != (want != "") || s.Why != want || s.Met {
			t.Errorf("%s: beyond reach %t, want %q", s, s.Beyond, want)
		}
	}
	p.Parameters["g_r"] = params.Parameter{Status: params.StatusUnidentifiable, Why: "one sender does not fill it"}
	if s := v.state("g_r", 0.03); !s.Beyond {
		t.Errorf("%s: more rounds do not fill the receiver", s)
	}
	// Where one burst overflowed the port, more bursts give its value.
	p.Parameters["B_L"] = params.Parameter{Bound: &params.Bound{0, 1500}, Unit: "packets", Status: params.StatusBound,
		Why: "one burst only overflowed the port"}
	if s := v.state("B_L", 0.02); s.Beyond || s.Met {
		t.Errorf("%s: beyond reach, although a burst overflowed the port", s)
	}
}

// Of streams of one and two pairs on eight hosts nobody knows whether four would be slower: b_c is not beyond reach,
// and no sentence denies the contention that a_c shows.
func TestInnerPairsShowNothing(t *testing.T) {
	w := shared(5)
	w.noise, w.within = 0.002, 0.001
	w.bc = 0.4e-6 // three pairs or four show it
	var few []bench.Point
	for _, p := range w.paired() {
		if p[names.FactorPairs] <= 2 {
			few = append(few, p)
		}
	}
	w.rounds(few, 0, 8)
	got := look(t, newLook(Targets{"a_c": 0.02, "b_c": 0.02}, fit.Settings{}, nil), w.d)
	if s := got["b_c"]; s.Beyond || s.Met || strings.Contains(s.String(), "no contention") {
		t.Errorf("two numbers of pairs: %s", s)
	}
	if s := got["a_c"]; math.Abs(s.Value/w.ac-1) > 0.1 {
		t.Errorf("a_c: %s", s)
	}
	w = shared(5)
	w.noise, w.within, w.bc = 0.002, 0.001, 0.4e-6
	w.rounds(w.paired(), 0, 8)
	if s := look(t, newLook(Targets{"b_c": 0.02}, fit.Settings{}, nil), w.d)["b_c"]; math.Abs(s.Value/w.bc-1) > 0.05 {
		t.Errorf("all numbers of pairs: %s", s)
	}
}

// The part of the rounds must leave room for what rounds do not narrow.
func TestRoom(t *testing.T) {
	for _, c := range []struct{ target, fixed, want float64 }{{0.05, 0, 0.05}, {0.05, 0.03, 0.04}, {0.05, 0.049, 0.05},
		{0.05, 1, 0.05}} {
		if got := room(c.target, c.fixed); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("room(%g, %g) = %g, want %g", c.target, c.fixed, got, c.want)
		}
	}
}

// A function is a target by its value in the middle of its domain.
func TestFunction(t *testing.T) {
	w := shared(6)
	for round := range 8 {
		for _, m := range []int64{1, 100, 500, 1000, 1448} {
			p := bench.Point{names.FactorBytes: m}
			per := w.noisy(60e-6 + 90e-9*float64(m))
			w.line(names.Gap, names.PhaseGap, p, 0, round, []int{0, 1, 2}, []int64{1}, map[string]float64{
				names.AuxWindow: per * 1e3 * 1e9, names.AuxWindowMessages: 1e3})
		}
	}
	got := look(t, newLook(Targets{"g_s": 0.001}, fit.Settings{}, nil), w.d)
	s := got["g_s"]
	if math.Abs(s.Value/(60e-6+90e-9*724.5)-1) > 0.1 || !(s.HalfWidth > 0.001) || math.IsInf(s.HalfWidth, 0) ||
		s.Unit != "s" {
		t.Errorf("state %+v", s)
	}
}

// A function with a floor is known as well as the floor where it is flat.
func TestFlatFunction(t *testing.T) {
	v := &view{fits: &params.Params{Functions: map[string]params.Function{"g_r": {Form: params.Floored, Unit: "s",
		Coeff:  map[string]float64{"floor": 100e-6, "c0": 10e-6, "c1": 90e-9},
		CI95:   map[string][2]float64{"floor": {99e-6, 101e-6}, "c0": {-90e-6, 110e-6}, "c1": {0, 180e-9}},
		Domain: map[string][2]float64{"m": {1, 1447}}}}}}
	if s := v.state("g_r", 0.03); !s.Met || s.Value != 100e-6 || math.Abs(s.HalfWidth-0.01) > 1e-9 {
		t.Errorf("%+v", s)
	}
}

// A number that has no interval meets no target, however many rounds are behind it, and says why it has none.
func TestNoInterval(t *testing.T) {
	value := 753.4e-12
	v := &view{fits: &params.Params{Parameters: map[string]params.Parameter{"b_c": {Value: &value, Unit: "s/B",
		Status: params.StatusProvisional, Model: "hyperbolic-network", Why: "no interval: nothing varied"}}}}
	if s := v.state("b_c", 0.02); s.String() != "b_c 753.4 ps/B, target 2% (no interval: nothing varied)" || s.Met {
		t.Errorf("%q is met: %v", s, s.Met)
	}
	q := v.fits.Parameters["b_c"]
	q.CI95 = &[2]float64{0.99 * value, 1.01 * value}
	v.fits.Parameters["b_c"] = q
	if s := v.state("b_c", 0.02); s.String() != "b_c 753.4 ps/B ± 1%, target 2%: met" || !s.Met {
		t.Errorf("with an interval: %q, met: %v", s, s.Met)
	}
	if got := halfWidth(0, [2]float64{-1, 1}); !math.IsInf(got, 1) {
		t.Errorf("around zero: %g", got)
	}
}
