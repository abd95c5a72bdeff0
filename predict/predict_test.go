package predict

import (
	"testing"

	"calib/internal/params"
)

// The simulation that predicted best what the run measured comes first, and so decides the best algorithm.
func TestBetterSimulationFirst(t *testing.T) {
	p := &params.Params{Validation: []params.Validation{{Model: Sim, Pattern: "bcast-binary", Error: 0.3}, {Model: SimCold, Pattern: "bcast-binary", Error: -0.02}}}
	if got := inOrder(p); got[0] != SimCold || len(got) != len(Models) {
		t.Errorf("%v, want %s first", got, SimCold)
	}
	p.Validation = nil
	if got := inOrder(p); got[0] != Sim {
		t.Errorf("%v without validation, want %s first", got, Sim)
	}
}
