package compare

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"calib/params"
)

// statusRuns are runs on one host with one number, of the given statuses; of a status without a value it is withheld.
func statusRuns(statuses ...string) []Run {
	var out []Run
	for i, status := range statuses {
		v := 1e-3 * (1 + 0.001*float64(i))
		q := params.Parameter{Unit: "s", Status: status, Model: "m", Label: "a time"}
		if status == params.StatusOK || status == params.StatusProvisional {
			q.Value = &v
		} else {
			q.Estimate = &v
		}
		p := &params.Params{Run: params.Run{ID: "r", Hosts: []string{"h0"}}, Parameters: map[string]params.Parameter{"x": q}}
		out = append(out, FromParams(p, time.Time{}))
	}
	return out
}

// TestSizesOfValues: the runs without a value have no say in which sizes count, wherever they stand.
func TestSizesOfValues(t *testing.T) {
	none, some := reading{value: math.NaN()}, reading{value: 1, sound: true, sizes: "1 to 1448 B"}
	for _, side := range [][]reading{{none, none, none, some, some, some}, {some, some, some, none, none, none}} {
		sizes, status := kept(side, false)
		count := 0
		for _, r := range side {
			if !math.IsNaN(r.value) {
				count++
			}
		}
		if sizes != some.sizes || status != params.StatusOK || count != 3 {
			t.Errorf("%q, %s, %d values", sizes, status, count)
		}
	}
}

// Like is compared with like; what is not compared is listed with the status of both sides.
func TestStatusesCompared(t *testing.T) {
	const ok, provisional, inconsistent = params.StatusOK, params.StatusProvisional, params.StatusInconsistent
	for _, c := range []struct {
		what     string
		old, new []string
		oldRuns  int // compared; 0 where it is not
		newRuns  int
		skipped  []Skipped
		note     string
	}{
		{"ok on both sides", []string{ok, ok, ok}, []string{ok, ok, ok}, 3, 3, nil, ""},
		{"provisional on both", []string{provisional, provisional}, []string{provisional, provisional, ok}, 2, 3, nil, ""},
		{"a run that is not", []string{ok, ok, provisional}, []string{ok, ok, ok}, 2, 3, nil, ""},
		{"not any more", []string{ok, ok}, []string{provisional, provisional}, 0, 0,
			[]Skipped{{Name: "x", Old: ok, New: provisional}}, "not compared: x (ok, now provisional)"},
		{"only now", []string{provisional}, []string{ok}, 0, 0, []Skipped{{Name: "x", Old: provisional, New: ok}},
			"not compared: x (provisional, now ok)"},
		{"withheld now", []string{ok, ok}, []string{inconsistent, inconsistent}, 0, 0, nil, "in the old runs only: x"},
	} {
		v := Compare(statusRuns(c.old...), statusRuns(c.new...), Options{})
		if d := cmp.Diff(c.skipped, v.Skipped); d != "" {
			t.Errorf("%s: skipped %s", c.what, d)
		}
		if !strings.Contains(strings.Join(v.Notes, "\n"), c.note) {
			t.Errorf("%s: notes %q, want %q", c.what, v.Notes, c.note)
		}
		switch {
		case c.oldRuns == 0 && (len(v.Network) > 0 || v.Outcome != NotComparable):
			t.Errorf("%s: compared: %+v, %s", c.what, v.Network, v.Outcome)
		case c.oldRuns > 0 && (len(v.Network) != 1 || v.Network[0].OldRuns != c.oldRuns || v.Network[0].NewRuns != c.newRuns):
			t.Errorf("%s: %+v", c.what, v.Network)
		}
	}
}
