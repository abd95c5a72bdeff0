package plan_test

import (
	"math"
	"strings"
	"testing"

	"calib/bench"
	"calib/bench/experiments"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/units"
	"calib/run/plan"
)

// TestLooksAgree: two looks at the same samples are one; the second one needs samples of its own.
func TestLooksAgree(t *testing.T) {
	s, err := plan.New(plan.Plan{Name: "test", Experiments: []string{names.Pingpong}, Rounds: plan.Rounds{Min: 1, Max: 9},
		Limits: bench.Limits{Sizes: []units.Bytes{1}, Effort: 1}}, 2, experiments.All)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	steering := plan.NewSteering(s, func(*dataset.Dataset) ([]plan.State, error) {
		return []plan.State{{Parameter: "a", Met: true, HalfWidth: 0.01, Target: 0.02,
			Experiments: []string{names.Pingpong}}}, nil
	}, []string{names.Pingpong}, dataset.Header{}, func(text string) { said = append(said, text) })
	for i, step := range []struct{ measured, done bool }{{true, false}, {false, false}, {true, true}} {
		if step.measured {
			steering.Add([]dataset.Sample{{Exp: names.Pingpong}})
		}
		if _, done := steering.Round(i+1, 0); done != step.done {
			t.Errorf("look %d: done %t, want %t: %s", i+1, done, step.done, said[i])
		}
	}
	if !strings.Contains(said[0], "met at one look") || !strings.HasSuffix(said[2], ": met") {
		t.Errorf("said %q", said)
	}
}

// A half-width beyond the value is no number of digits that anybody can use.
func TestStateString(t *testing.T) {
	for half, want := range map[float64]string{
		0.0143:      "a 345 µs ± 1.4%, target 2%",
		0.98:        "a 345 µs ± 98%, target 2%",
		6.5e16:      "a 345 µs ± over 99%, target 2%",
		math.Inf(1): "a 345 µs, target 2%",
	} {
		s := plan.State{Parameter: "a", Unit: "s", Value: 345e-6, HalfWidth: half, Target: 0.02}
		if half < 0.02 {
			want += ": met at one look, two must agree"
		}
		if got := s.String(); got != want {
			t.Errorf("%g: %q, want %q", half, got, want)
		}
	}
}
