package spend

import (
	"math"
	"strings"
	"testing"

	"calib/bench"
	"calib/fit"
	"calib/fit/params"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
)

// rounds measures every point in rounds first to last−1.
func (w *network) rounds(points []Candidate, first, last int) {
	for round := first; round < last; round++ {
		for _, c := range points {
			w.measure(c, round)
		}
	}
}

func look(t *testing.T, j *Judge, d *dataset.Dataset, round int) map[string]State {
	t.Helper()
	states, err := j.Look(d, round)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]State{}
	for _, s := range states {
		out[s.Parameter] = s
	}
	return out
}

// A target that is met by one look is not met: the next must say so too, and it must have new samples.
func TestMetNeedsTwoLooks(t *testing.T) {
	w := shared(3)
	w.noise, w.within = 0.002, 0
	points := w.paired()
	j := NewJudge(Targets{"a": 0.02, "a_c": 0.02}, fit.Settings{}, 1)
	w.rounds(points, 0, 8)
	first := look(t, j, w.d, 7)
	for _, s := range first {
		if !(s.HalfWidth <= s.Target) || s.Met {
			t.Errorf("first look: %+v, want an interval within the target, and not met", s)
		}
	}
	if _, err := j.Look(w.d, 7); err == nil || !strings.Contains(err.Error(), "the last look was after round 7") {
		t.Errorf("second look after the same round: %v", err)
	}
	w.rounds(points, 8, 9)
	for _, s := range look(t, j, w.d, 8) {
		if !s.Met {
			t.Errorf("second look: %+v, want met", s)
		}
	}
	if text := first["a"].String(); !strings.HasPrefix(text, "a 8") || !strings.HasSuffix(text, "%, target 2%") {
		t.Errorf("state prints %q", text)
	}
}

// A wide interval between two narrow ones starts the count anew.
func TestMetInARow(t *testing.T) {
	count := map[string]int{}
	for i, c := range []struct{ now, want bool }{{true, false}, {false, false}, {true, false}, {true, true}, {true, true}, {false, false}} {
		if got := held(count, "a", c.now); got != c.want {
			t.Errorf("look %d: held %v, want %v", i, got, c.want)
		}
	}
}

// Before there is anything to fit a parameter has no value, and its points are all wanted.
func TestNothingYet(t *testing.T) {
	w := shared(3)
	j := NewJudge(Targets{"a": 0.02, "g": 0.03}, fit.Settings{}, 1)
	s := look(t, j, w.d, 0)["a"]
	if !math.IsNaN(s.Value) || !math.IsInf(s.HalfWidth, 1) || s.Met || s.Beyond || s.String() != "a, target 2% (not fitted yet)" {
		t.Errorf("state %+v, %q", s, s)
	}
	w.others = 3
	for i, c := range append(w.paired(), w.trains()...) {
		c.Rounds = 1
		want := c.Exp == names.PRTT || c.Exp == names.Paired && c.Point[names.FactorStream] == 0
		if got := j.gain(&c); math.IsInf(got, 1) != want {
			t.Errorf("candidate %d, %s at %s: gain %g", i, c.Exp, c.Point.Key(), got)
		}
	}
}

// What no number of rounds can meet does not hold up the end, and says why.
func TestBeyond(t *testing.T) {
	lab := map[string]string{"nic.name": "calib0", "nic.driver": "tun"}
	for _, c := range []struct {
		name    string
		targets Targets
		change  func(*network) []Candidate
		want    string
	}{
		{"one number of pairs", Targets{"a_c": 0.02}, func(w *network) []Candidate {
			w.d.Header.Hosts = w.d.Header.Hosts[:2]
			var out []Candidate
			for _, p := range w.paired() {
				if p.Point[names.FactorPairs] == 1 {
					out = append(out, p)
				}
			}
			return out
		}, "one number of pairs only"},
		{"a switch", Targets{"a_c": 0.02}, func(w *network) []Candidate { w.ac = 0; return w.paired() }, "behaves like a switch"},
		{"a switch, streams", Targets{"b_c": 0.02}, func(w *network) []Candidate { w.bc = 0; return w.paired() }, "behaves like a switch"},
		{"the medium is the bottleneck", Targets{"b": 0.02}, func(w *network) []Candidate { w.b = 0.1e-6; return w.paired() },
			"the medium is the bottleneck"},
		{"an instrument that is too coarse", Targets{"a": 0.01}, func(w *network) []Candidate {
			for i := range w.d.Header.Hosts {
				w.d.Header.Hosts[i].Env = lab
			}
			return w.paired()
		}, "alone make it ± 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := shared(4)
			w.noise, w.within = 0.002, 0.001
			points := c.change(w)
			j := NewJudge(c.targets, fit.Settings{}, 1)
			w.rounds(points, 0, 8)
			for name := range c.targets {
				if s := look(t, j, w.d, 7)[name]; s.Beyond || s.Met {
					t.Errorf("first look: %+v", s)
				}
			}
			w.rounds(points, 8, 9)
			for name := range c.targets {
				s := look(t, j, w.d, 8)[name]
				if !s.Beyond || s.Met || !strings.Contains(s.Why, c.want) || name == "a" && !(s.Scatter < s.Target && s.HalfWidth > 1.9*s.Target) {
					t.Errorf("second look: %s, want beyond reach: %s", s, c.want)
				}
				if Done([]State{s}) || !Done([]State{s, {Met: true}}) {
					t.Error("a run is done when a target is met and the others are beyond reach, and not before")
				}
			}
		})
	}
}

// The part of the rounds must leave room for what rounds do not narrow.
func TestRoom(t *testing.T) {
	for _, c := range []struct{ target, fixed, want float64 }{{0.05, 0, 0.05}, {0.05, 0.03, 0.04}, {0.05, 0.049, 0.05}, {0.05, 1, 0.05}} {
		if got := room(c.target, c.fixed); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("room(%g, %g) = %g, want %g", c.target, c.fixed, got, c.want)
		}
	}
}

// A coefficient of a function is a target like another.
func TestCoefficient(t *testing.T) {
	w := shared(6)
	for round := range 8 {
		for _, m := range []int64{1, 100, 500, 1000, 1448} {
			p := bench.Point{names.FactorBytes: m}
			per := w.noisy(60e-6+90e-9*float64(m), p, round)
			w.line(names.Gap, names.PhaseGap, p, 0, round, []int{0, 1, 2}, []int64{1}, map[string]float64{
				names.AuxWindow: per * 1e3 * 1e9, names.AuxWindowMessages: 1e3})
		}
	}
	j := NewJudge(Targets{"g_s.c0": 0.001}, fit.Settings{}, 1)
	s := look(t, j, w.d, 7)["g_s.c0"]
	if math.Abs(s.Value/60e-6-1) > 0.1 || !(s.HalfWidth > 0.001) || math.IsInf(s.HalfWidth, 0) || s.Unit != "s" {
		t.Errorf("state %+v", s)
	}
	small, large := Candidate{Exp: names.Gap, Point: bench.Point{names.FactorBytes: 1}, Rounds: 8}, Candidate{Exp: names.Gap,
		Point: bench.Point{names.FactorBytes: 500}, Rounds: 8}
	if a, b := j.gain(&small), j.gain(&large); !(a > 4*b) {
		t.Errorf("gain of 1 B %g, of 500 B %g: the fixed part is read off the smallest sizes", a, b)
	}
	merged := Candidate{Exp: names.Gap, Point: bench.Point{names.FactorBytes: 1, names.FactorMerge: 1}, Rounds: 8}
	if g := j.gain(&merged); g != 0 {
		t.Errorf("gain of merged messages %g, want none", g)
	}
}

// A number that has no interval meets no target, however many rounds are behind it, and says why it has none.
func TestNoInterval(t *testing.T) {
	value := 753.4e-12
	v := &view{fit.Prepare(&dataset.Dataset{}, fit.Settings{}), &params.Params{Fits: []*params.Fit{{Model: "hyperbolic-network", Rounds: 8}}, Parameters: map[string]params.Parameter{
		"b_c": {Value: &value, Unit: "s/B", Status: params.StatusProvisional, Model: "hyperbolic-network", Why: "no interval: nothing varied"}}}}
	j := NewJudge(Targets{"b_c": 0.02}, fit.Settings{}, 1)
	for range looks + 1 {
		s := j.state(v, "b_c", v.number("b_c"))
		if want := "b_c 753.4 ps/B, target 2% (no interval: nothing varied)"; s.String() != want || s.Met || Done([]State{s}) {
			t.Errorf("%q, want %q, which is not met", s, want)
		}
	}
	q := v.fits.Parameters["b_c"]
	q.CI95 = &[2]float64{0.99 * value, 1.01 * value}
	v.fits.Parameters["b_c"] = q
	if s := j.state(v, "b_c", v.number("b_c")); s.String() != "b_c 753.4 ps/B ± 1%, target 2%" {
		t.Errorf("with an interval: %q", s)
	}
	if got := halfWidth(0, [2]float64{-1, 1}, true); !math.IsInf(got, 1) {
		t.Errorf("around zero: %g", got)
	}
}
