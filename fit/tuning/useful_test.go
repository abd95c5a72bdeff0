package tuning

import (
	"testing"

	"calib/fit"
	"calib/params"
)

// A choice is good within a quarter of it, and a gain within 5 percentage points: others are rough, and say why.
func TestUseful(t *testing.T) {
	r := (&fit.Prepared{}).New("fragment", "fragment", "")
	for _, c := range []struct {
		v, lo, hi, half float64
		want            string
	}{
		{262144, 131072, 262144, params.Useful * 262144, params.StatusOK},
		{4096, 4096, 4194304, params.Useful * 4096, params.StatusProvisional},
		{4096, 4096, 4096, params.Useful * 4096, params.StatusOK},
		{0.31, 0.27, 0.36, goodShare, params.StatusOK},
		{0.31, -0.34, 0.59, goodShare, params.StatusProvisional},
		{0.01, -0.16, 0.12, goodShare, params.StatusProvisional},
	} {
		r.Found("x", "1", "", c.v, [2]float64{c.lo, c.hi})
		useful(r, "x", c.half, "that")
		q := r.Parameters["x"]
		wide := q.Why == "the interval is wider than that"
		if q.Status != c.want || q.Value == nil || wide != (c.want == params.StatusProvisional) {
			t.Errorf("%+v: %s, %q", c, q.Status, q.Why)
		}
	}
}
