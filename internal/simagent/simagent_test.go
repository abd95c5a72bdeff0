package simagent_test

import (
	"context"
	"testing"

	"calib/bench"
	"calib/fit"
	"calib/internal/coord"
	"calib/internal/dataset"
	"calib/internal/netspec"
	"calib/internal/simagent"
	"calib/internal/units"
	"calib/transport/sim"
)

// measure runs a plan on a simulated network, through the coordinator.
func measure(t testing.TB, spec netspec.Spec, opt sim.Options, plan bench.Plan) *dataset.Dataset {
	t.Helper()
	s, err := bench.NewSchedule(plan, spec.Hosts, bench.Experiments)
	if err != nil {
		t.Fatal(err)
	}
	d := &dataset.Dataset{Header: dataset.Header{Schema: dataset.Schema, Run: "test", Seed: plan.Seed}}
	var agents []coord.Agent
	for _, a := range simagent.New(spec, opt) {
		h, err := a.Hello(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		d.Header.Hosts = append(d.Header.Hosts, h)
		agents = append(agents, a)
	}
	_, err = coord.Walk(context.Background(), agents, coord.Config{
		Run: "test", Schedule: s, Stopper: bench.NewStopper(s),
		Deadline: func(bench.Slot) units.Nanos { return 600 * units.Second },
		Sink:     func(b []dataset.Sample) error { d.Samples = append(d.Samples, b...); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSparc(t *testing.T) {
	spec, err := netspec.Preset("sparc1994", 8)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := bench.BuiltinPlan(bench.PlanQuick)
	if err != nil {
		t.Fatal(err)
	}
	plan.Budget = 0
	plan.Limits.MaxBytes = 64 * units.KiB
	d := measure(t, *spec, sim.Options{}, plan)
	fits, errs := fit.All(d, fit.Settings{})
	for _, err := range errs {
		t.Error(err)
	}
	for _, f := range fits {
		for name, p := range f.Parameters {
			if p.Value != nil {
				t.Logf("%s %s = %g %s %v", f.Model, name, *p.Value, p.Unit, p.CI95)
			}
		}
	}
}
