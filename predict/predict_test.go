package predict

import (
	"slices"
	"testing"

	"calib/bench/pattern"
	"calib/params"
)

// The simulation that predicted best what the run measured comes first, and so decides the best algorithm.
func TestBetterSimulationFirst(t *testing.T) {
	p := &params.Params{Validation: []params.Validation{{Model: Sim, Pattern: "bcast-binary", Error: 0.3},
		{Model: SimCold, Pattern: "bcast-binary", Error: -0.02}}}
	if got := inOrder(p); got[0] != SimCold || len(got) != len(Models) {
		t.Errorf("%v, want %s first", got, SimCold)
	}
	p.Validation = nil
	if got := inOrder(p); got[0] != Sim {
		t.Errorf("%v without validation, want %s first", got, Sim)
	}
}

// TestBestOf: of the models that predict most patterns, whichever comes first.
func TestBestOf(t *testing.T) {
	row := func(model, pattern string, e float64) params.Validation {
		return params.Validation{Model: model, Pattern: pattern, Error: e}
	}
	rows := []params.Validation{row(Sim, "bcast-binary", 0.01), row(Hyperbolic, "bcast-binary", 0.1),
		row(Hyperbolic, "gather-direct", 0.1), row(Hockney, "bcast-binary", 0.2), row(Hockney, "gather-direct", 0.2)}
	if g, ok := params.BestOf(rows); !ok || g.Model != Hyperbolic {
		t.Errorf("%+v, want %s", g, Hyperbolic)
	}
}

// A simulation that misses what was measured is at fault itself, unless the formulas of the parameters that it was told
// miss it as well.
func TestWhoIsAtFault(t *testing.T) {
	for _, tc := range []struct {
		name     string
		formulas float64 // relative error of the hyperbolic model
		want     string  // status of a
	}{{"simulation", 0.05, params.StatusOK}, {"parameters", -0.6, params.StatusProvisional}} {
		p := run(params.Shared, sparc())
		for name, q := range p.Parameters {
			q.Model = "hyperbolic-network"
			p.Parameters[name] = q
		}
		q, err := New(p, []string{Sim, SimCold, Hyperbolic})
		if err != nil {
			t.Fatal(err)
		}
		p.Validation = []params.Validation{{Model: Sim, Pattern: "bcast-binary", Error: 0.5},
			{Model: SimCold, Pattern: "bcast-binary", Error: 0.4},
			{Model: Hyperbolic, Pattern: "bcast-binary", Error: tc.formulas}}
		q.mark(p)
		if got := p.Parameters["a"].Status; got != tc.want {
			t.Errorf("%s at fault: a is %s, want %s", tc.name, got, tc.want)
		}
		if !slices.ContainsFunc(p.Findings, func(f params.Finding) bool { return f.Code == params.SimulationMisses }) {
			t.Errorf("%s at fault: no finding says that the simulation misses", tc.name)
		}
	}
}

// Bounds hold the prediction that they stand beside.
func TestBounds(t *testing.T) {
	p := run(params.Shared, sparc())
	for name, q := range p.Parameters {
		q.Model = "hyperbolic-network"
		p.Parameters[name] = q
	}
	q, err := New(p, []string{Hyperbolic})
	if err != nil {
		t.Fatal(err)
	}
	bounded := 0
	for _, algorithm := range []string{"overlap", "staggered"} {
		of, err := pattern.Find("mg", algorithm)
		if err != nil {
			t.Fatal(err)
		}
		for _, hosts := range []int{4, 8} {
			for _, bytes := range []int{1, 1000, 65536} {
				v := q.Predict(Query{Pattern: of, Hosts: hosts, Bytes: bytes})[0]
				if b := v.Bounds; b != nil {
					bounded++
					if v.Seconds < b[0] || v.Seconds > b[1] {
						t.Errorf("%s of %d B on %d hosts: %g s, bounds %v", algorithm, bytes, hosts, v.Seconds, *b)
					}
				}
			}
		}
	}
	if bounded == 0 {
		t.Error("nothing is bounded")
	}
}
