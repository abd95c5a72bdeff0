package measuring

import (
	"testing"

	"calib/bench"
	"calib/bench/experiments"
	"calib/internal/units"
	"calib/run/plan"
)

// Patterns are measured on a slow network too: they are all that predict validate asks for.
func TestValidationPlan(t *testing.T) {
	p, err := plan.Builtin(plan.Standard)
	if err != nil {
		t.Fatal(err)
	}
	p.Limits.Path = bench.Path{Latency: 2070 * units.Microsecond, PerByte: 1460, Slot: 16 * units.Millisecond}
	p.Limits.Sizes = []units.Bytes{128 * units.KiB, units.MiB}
	for _, hosts := range []int{8, 64} {
		s, err := plan.New(validationPlan(p, units.Nanos(validationTime)), hosts, experiments.All)
		if err != nil || s.Slots() == 0 {
			t.Errorf("%d hosts: %v", hosts, err)
		}
	}
}
