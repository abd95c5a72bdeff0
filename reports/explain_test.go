package reports

import (
	"strings"
	"testing"

	"calib/params"
)

// The coefficients of L_cluster, N among them, are those of the function; L is LogGP's.
func TestExplainCoefficients(t *testing.T) {
	p := &params.Params{Functions: map[string]params.Function{"L_cluster": {Form: params.Limited, Unit: "s",
		Status: params.StatusOK, Coeff: map[string]float64{"l0": 18e-6, "l1": 1e-6, "tau": 1e-9, "N": 1e8}}}}
	for name, want := range map[string]string{"L_cluster.l0": "L_cluster(m, p)", "L_cluster": "L_cluster(m, p)",
		"L.l0": "L_cluster(m, p)", "L(m,p)": "L_cluster(m, p)", "N": "L_cluster(m, p)", "L": ""} {
		e, ok := Explain(name, p)
		var b strings.Builder
		if err := e.Text(&b, Options{Width: 80}); err != nil || !ok {
			t.Fatal(name, err, ok)
		}
		if has := strings.Contains(b.String(), "L_cluster(m, p) = "); has != (want != "") || has == (e.Missing != "") {
			t.Errorf("%s:\n%s", name, b.String())
		}
	}
}
