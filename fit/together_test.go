package fit

import (
	"bytes"
	"slices"
	"testing"

	"calib/internal/dataset"
	"calib/params"
)

// Numbers of the same replicates have coefficients of correlation, by the names under which they are stored.
func TestTogether(t *testing.T) {
	p := Prepare(&dataset.Dataset{}, Settings{})
	first := p.New("first", "", "")
	ci := [2]float64{1, 3}
	first.Found("L", "s", "", 2, ci)
	first.Found("o_s", "s", "", 2, ci)
	first.Functions["gap"] = params.Function{Model: "first", Coeff: map[string]float64{"c0": 1}}
	fewer := p.New("fewer", "", "")
	fewer.Found("L", "s", "", 2, ci)
	fewer.Found("o_s", "s", "", 2, ci)
	fewer.Together([]string{"L", "o_s"}, [][]float64{{1, 3}, {2, 2}, {3, 1}})
	// What is not found, and what does not vary, does no harm.
	first.Together([]string{"L", "o_s", "none", "gap.c0"}, [][]float64{{1, 3, 0, 5}, {2, 2, 1, 5}, {3, 1, 0, 5}})
	// The same numbers beside one of another model stand once, and rows that lack a replicate nowhere.
	second := p.New("second", "", "")
	second.Found("g", "s", "", 2, ci)
	second.Together([]string{"L", "o_s", "g"}, [][]float64{{1, 3}, {2, 2}, {3, 1}}, [][]float64{{1}, {2}, {3}})
	second.Together([]string{"g", "gap.c0"}, [][]float64{{1}, {2}, {3}}, [][]float64{{1}, {2}})
	both := Collect(p, []*params.Fit{fewer.Fit, second.Fit}).Correlations
	if len(both) != 1 || !slices.Equal(both[0].Names, []string{"L", "o_s", "g"}) || both[0].Rows[2][0] != 1 {
		t.Errorf("two models: %+v", both)
	}
	out := Collect(p, []*params.Fit{first.Fit})
	if len(out.Correlations) != 1 || !slices.Equal(out.Correlations[0].Names, []string{"L", "o_s", "gap.c0"}) {
		t.Fatalf("%+v", out.Correlations)
	}
	if r := out.Correlations[0].Rows; !slices.Equal(r[0], []float64{}) || !slices.Equal(r[1], []float64{-1}) ||
		!slices.Equal(r[2], []float64{0, 0}) {
		t.Errorf("rows %v", r)
	}
	var text bytes.Buffer
	if err := params.Encode(&text, out); err != nil {
		t.Fatal(err)
	}
	if _, err := params.Decode(&text); err != nil {
		t.Error(err)
	}
	for _, wrong := range []params.Correlation{
		{Names: []string{"L", "no"}, Rows: [][]float64{{}, {0}}}, {Names: []string{"L", "o_s"}, Rows: [][]float64{{}, {2}}},
		{Names: []string{"L", "L"}, Rows: [][]float64{{}, {0}}}, {Names: []string{"L"}, Rows: nil},
		{Names: []string{"L"}, Rows: [][]float64{{1}}},
	} {
		text.Reset()
		out.Correlations = []params.Correlation{wrong}
		if err := params.Encode(&text, out); err != nil {
			continue
		}
		if _, err := params.Decode(&text); err == nil {
			t.Errorf("%+v: no error", wrong)
		}
	}
}
