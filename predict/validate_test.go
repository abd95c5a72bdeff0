package predict

import (
	"slices"
	"testing"

	"calib/bench/pattern"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/params"
)

// Samples of a validation have ranks of their own: its hosts need not be all of the run's, or only those.
func TestHostsByName(t *testing.T) {
	of, err := pattern.Find("bcast", "binary")
	if err != nil {
		t.Fatal(err)
	}
	d := &dataset.Dataset{}
	for _, name := range []string{"a", "b", "c", "d"} {
		d.Header.Hosts = append(d.Header.Hosts, dataset.Host{Name: name})
	}
	for i, ranks := range [][]int{{1, 2}, {1, 3}, {0, 1}} {
		d.Samples = append(d.Samples, dataset.Sample{Exp: names.Pattern, Phase: names.PhasePattern, NS: []int64{1000},
			Ranks: ranks, Point: dataset.Point{names.FactorPattern: of.ID, names.FactorHosts: 2,
				names.FactorBytes: int64(i + 1)}})
	}
	p := run(params.Shared, sparc())
	p.Run.Hosts = []string{"b", "c", "d"}
	slow := params.Warnf(params.SlowHost, "host d is slow")
	slow.Hosts = []string{"d"}
	p.Findings = []params.Finding{slow}
	if err := Validate(p, d); err != nil {
		t.Fatal(err)
	}
	if len(p.Validation) == 0 {
		t.Fatal("nothing was predicted")
	}
	for _, v := range p.Validation {
		if want := v.Bytes == 2; v.SlowHost != want {
			t.Errorf("%s, %d B: slow host %v, want %v", v.Model, v.Bytes, v.SlowHost, want)
		}
	}
	seen, err := patterns(d, p.Run.Hosts, map[string]bool{"d": true})
	if err != nil || len(seen) != 3 {
		t.Fatalf("%d patterns, %v", len(seen), err)
	}
	for i, want := range [][][]int{{{0, 1}}, {{0, 2}}, nil} { // host a is not of the run
		if got := seen[i].asked.teams; !slices.EqualFunc(got, want, slices.Equal[[]int]) {
			t.Errorf("%d B are played by %v, want %v", i+1, got, want)
		}
	}
}

// What an earlier validation has made provisional is judged anew.
func TestForget(t *testing.T) {
	v := 1.
	p := &params.Params{Parameters: map[string]params.Parameter{
		"a": {Value: &v, Status: params.StatusProvisional, Why: missBoth + "hyperbolic both miss"},
		"g": {Value: &v, Status: params.StatusProvisional, Why: "two rounds"}},
		Findings: []params.Finding{params.Notef(params.Provisional, "provisional: a: %sx", missBoth),
			params.Notef(params.Provisional, "provisional: g: two rounds")}}
	forget(p)
	if p.Parameters["a"].Status != params.StatusOK || p.Parameters["g"].Status != params.StatusProvisional ||
		len(p.Findings) != 1 {
		t.Errorf("%+v", p)
	}
}
