package reports

import (
	"slices"
	"testing"

	"calib/params"
)

// What a fit saw and left out is told in words: one value as one, a flag with what it means, and nothing of what there
// was none of.
func TestDataOf(t *testing.T) {
	f := &params.Fit{Model: "m", Used: 90, LeftOut: 10, Hosts: []string{"a", "b"},
		Domain:     map[string][2]float64{"bytes": {1, 4096}, "senders": {3, 3}},
		LeftOutWhy: map[string]int{"steal": 4, "slow host": 6, "unsteady": 0}}
	want := []string{"m saw bytes 1 … 4,096, senders 3, on 2 hosts.",
		"m leaves out 10 of 100 timings: 6 slow host, 4 steal (the hypervisor took CPU time away)."}
	if got := dataOf(f); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A note that several models have stands once, and names them: the same sentence with another number is of others.
func TestFindingsNameTheirModels(t *testing.T) {
	note := func(n int) []params.Finding { return []params.Finding{params.Notef("x", "%d timings are late", n)} }
	p := &params.Params{Findings: []params.Finding{params.Notef("y", "hosts differ")}, Fits: []*params.Fit{
		{Model: "hockney", Findings: note(5)}, {Model: "hyperbola", Findings: note(5)},
		{Model: "cluster", Findings: note(7)}}}
	want := []string{"Hosts differ.", "5 timings are late. [hockney, hyperbola]", "7 timings are late. [cluster]"}
	if got := FindingsOf(p); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Where a table has a value in brackets, the reasons begin with what brackets mean.
func TestBracketsAreExplained(t *testing.T) {
	v := 3e-6
	p := &params.Params{Parameters: map[string]params.Parameter{
		"a": {Estimate: &v, Unit: "s", Status: params.StatusInconsistent, Why: "it is"}}}
	if got := ReasonsOf(p); len(got) != 2 || got[0] != "A value in brackets is not to be used." {
		t.Errorf("%q", got)
	}
	p.Parameters["a"] = params.Parameter{Unit: "s", Status: params.StatusUnidentifiable, Why: "it is"}
	if got := ReasonsOf(p); len(got) != 1 {
		t.Errorf("without brackets: %q", got)
	}
}
