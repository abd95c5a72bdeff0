package reports

import (
	"fmt"
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

// Of loss a run says how much was sent again, of how much, and where most.
func TestExplainLoss(t *testing.T) {
	p := &params.Params{Loss: &params.Loss{Segments: 46_000, Again: 4, Rate: 4. / 46_000, CI95: [2]float64{3e-5, 2.2e-4}}}
	for k := range 2 {
		l := &params.Loss{Segments: 23_000, Again: int64(4 * k), Rate: float64(4*k) / 23_000, CI95: [2]float64{0, 4e-4}}
		p.Pairs = append(p.Pairs, params.Pair{From: "n1", To: fmt.Sprintf("n%d", k+2), Loss: l})
	}
	for _, c := range []struct {
		p    *params.Params
		want string
	}{
		{p, "Loss: 0.0087% [0.003%, 0.022%] of 46,000 segments were sent again, most between n1 and n3: " +
			"0.017% [0%, 0.04%]. In all 4 segments."},
		{&params.Params{}, "has no value"},
		{nil, "Share of TCP segments"},
	} {
		e, ok := Explain("loss", c.p)
		var b strings.Builder
		if err := e.Text(&b, Options{Width: 200}); err != nil || !ok || !strings.Contains(b.String(), c.want) ||
			strings.Count(b.String(), "\n") > 10 {
			t.Errorf("%v %v: %s, want %s", ok, err, b.String(), c.want)
		}
	}
}
