package reports

import (
	"strings"
	"testing"

	"calib/params"
)

// The gap of a full packet is called so where full packets were measured.
func TestGapOfLargest(t *testing.T) {
	for largest, want := range map[float64]string{1448: "packet", 1024: "1KiB"} {
		p := &params.Params{Environment: params.Environment{Common: map[string]string{"nic.segment": "1448"}},
			Functions: map[string]params.Function{"g_s": {Form: params.Line, Unit: "s", Status: params.StatusOK,
				Coeff: map[string]float64{"c0": 1e-6, "c1": 1e-9}, Domain: map[string][2]float64{"m": {1, largest}}}}}
		rows := readings(p)
		if len(rows) != 1 || !strings.HasSuffix(rows[0].what, ", "+want) {
			t.Errorf("up to %g B: %+v", largest, rows)
		}
	}
}
