package models

import (
	"slices"
	"strings"
	"testing"

	"calib/bench"
	"calib/bench/experiments"
	"calib/fit"
	"calib/params"
)

// The command that measures a number names every experiment that the model of the number needs, and only experiments.
func TestMeasureCommands(t *testing.T) {
	needs := map[string][]string{}
	for _, m := range All {
		needs[m.Name] = m.Needs
	}
	named := func(number string) []string {
		_, only, _ := strings.Cut((&params.Params{}).Measure(number), " --only ")
		return strings.Split(only, ",")
	}
	met := 0
	check := func(number, model string) {
		if got := named(number); len(got) > 1 {
			met++
			for _, exp := range needs[model] {
				if !slices.Contains(got, exp) {
					t.Errorf("%s of %s is measured with %v, and its model needs %v", number, model, got, needs[model])
				}
			}
			for _, exp := range got {
				if !slices.ContainsFunc(experiments.All, func(e *bench.Experiment) bool { return e.Name == exp }) {
					t.Errorf("%s is measured with %q, which is no experiment", number, exp)
				}
			}
		}
	}
	for _, d := range datasets() {
		p, _ := fit.Run(All, d, fit.Settings{Replicates: 20})
		for name, q := range p.Parameters {
			check(name, q.Model)
		}
		for name, f := range p.Functions {
			check(name, f.Model)
		}
	}
	if met == 0 {
		t.Error("no number was met")
	}
	if got := (&params.Params{Parameters: map[string]params.Parameter{"o_s": {}}}).Hint("o_s"); got != "" {
		t.Errorf("o_s was measured, and is to be measured with%s", got)
	}
	p := &params.Params{Run: params.Run{Sampled: map[string]params.Sampled{"pingpong": {}, "clock": {}}}}
	p.Run.Where = "--local 2"
	if got, want := p.Measure("L_cluster"), "calib run --local 2 --only clock,load,overhead,pingpong"; got != want {
		t.Errorf("on hosts that were typed: %q, want %q", got, want)
	}
	p.Run.Where = ""
	const want = "calib run --hosts hosts.txt --only clock,load,overhead,pingpong"
	if got := p.Measure("L_cluster"); got != want {
		t.Errorf("beside what a run has: %q, want %q", got, want)
	}
}
