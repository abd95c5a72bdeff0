package main

import (
	"testing"

	"calib/fit/params"
	"calib/internal/netspec"
)

func TestCoverageChecks(t *testing.T) {
	s, err := netspec.Resolve("sparc1994:8")
	if err != nil {
		t.Fatal(err)
	}
	number := func(v, lo, hi float64) params.Parameter {
		return params.Parameter{Value: &v, CI95: &[2]float64{lo, hi}, Unit: "s", Status: params.StatusOK}
	}
	p := &params.Params{Parameters: map[string]params.Parameter{
		"a": number(862e-6, 855e-6, 870e-6), "a_c": number(345e-6, 344e-6, 345.5e-6), "b": {Status: params.StatusUnidentifiable},
		"alpha": number(1, 1, 2),
	}}
	var counts tally
	for range 10 {
		counts.add("sparc1994", coverageChecks(s, p))
	}
	a, ac := "sparc1994 | a | 859.5 µs", "sparc1994 | a_c | 345.6 µs"
	if len(counts.total) != 2 || counts.hit[a] != 10 || counts.total[a] != 10 || counts.hit[ac] != 0 || counts.total[ac] != 10 {
		t.Errorf("counts %v of %v, want a always and a_c never", counts.hit, counts.total)
	}
	if below := counts.print(); below != 1 {
		t.Errorf("%d below, want 1", below)
	}
}
