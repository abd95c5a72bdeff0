package fit

import (
	"testing"

	"calib/params"
)

// A figure does not state what was withheld.
func TestFunctionWords(t *testing.T) {
	f := &params.Fit{Functions: map[string]params.Function{
		"O_s":       {Form: params.Line, Unit: "s", Coeff: map[string]float64{"c0": 1e-6, "c1": 0}, Status: params.StatusOK},
		"L_cluster": {Form: params.Line, Unit: "s", Status: params.StatusInconsistent, Why: "use neither"}}}
	want := f.Functions["O_s"].Words("O_s") + "; L_cluster is not to be used: use neither"
	if got := FunctionWords(f, "O_s", "U_r", "L_cluster"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
