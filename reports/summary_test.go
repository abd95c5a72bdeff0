package reports

import (
	"math"
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

// A report has one set of words for how good a number is: those of the screen. The file's statuses are in the file.
func TestWordsOfQuality(t *testing.T) {
	inf := math.Inf(1)
	number := func(status string, bound *params.Bound) params.Parameter {
		return params.Parameter{Unit: "s", Status: status, Bound: bound, Why: "reason " + status, Model: "m"}
	}
	p := &params.Params{Parameters: map[string]params.Parameter{
		"a": number(params.StatusBound, &params.Bound{1e-3, inf}), "b": number(params.StatusBound, &params.Bound{-inf, inf}),
		"c": number(params.StatusUnidentifiable, nil), "d": number(params.StatusProvisional, nil),
	}, Functions: map[string]params.Function{"f": {Status: params.StatusBound, Form: "linear"}}}
	want := map[string]string{"a": LimitOnly, "b": NotMeasurable, "c": NotMeasurable, "d": Rough}
	for _, row := range gridOf(p, []string{"a", "b", "c", "d"}).Rows {
		if row[4] != want[row[0]] {
			t.Errorf("%s is %q, want %q", row[0], row[4], want[row[0]])
		}
	}
	says := strings.Join(ReasonsOf(p), "\n")
	for _, line := range []string{
		"a is known by a limit only (≥ 1.000 ms): reason bound.", "b is not measurable: reason bound.",
		"c is not measurable: reason unidentifiable.", "d is rough: reason provisional.",
		"function f is known by a limit only.",
	} {
		if !strings.Contains(says, line) {
			t.Errorf("no %q in:\n%s", line, says)
		}
	}
}

// One round has no interval: its ends are the value, and are not shown as if the value were known that well.
func TestOneRoundHasNoInterval(t *testing.T) {
	q := measured("latency", "s", 32e-6, 32e-6, 32e-6)
	if cells := q.cells(); cells[2] != "" || cells[3] != Rough {
		t.Errorf("%q", cells)
	}
	var p page
	p.series("m", params.Series{Name: "T(x)", XName: "bytes", Points: []params.Residual{{X: 1, Measured: 32e-6, Lo: 32e-6,
		Hi: 32e-6, Fitted: 31e-6, N: 1}}})
	if strings.Contains(p.String(), "[32.00, 32.00]") {
		t.Error(p.String())
	}
}
