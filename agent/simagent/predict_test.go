package simagent_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"calib/bench"
	"calib/fit"
	"calib/fit/models"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/params"
	"calib/predict"
	"calib/run/plan"
	"calib/transport/sim"
)

// predicted measures and fits a network, and holds the predictions against its patterns.
func predicted(t *testing.T, spec netspec.Spec, opt sim.Options, chosen plan.Plan) (*params.Params, *dataset.Dataset) {
	t.Helper()
	d := measure(t, spec, opt, chosen)
	return graded(t, d), d
}

// graded fits what was measured, and holds the predictions against its patterns.
func graded(t *testing.T, d *dataset.Dataset) *params.Params {
	t.Helper()
	p, errs := fit.Run(models.All, d, fit.Settings{Replicates: 200})
	for _, err := range errs {
		t.Error(err)
	}
	if err := predict.Validate(p, d); err != nil {
		t.Fatal(err)
	}
	return p
}

// patternPlan measures what the network is made of, and patterns.
func patternPlan(seed uint64, experiments ...string) plan.Plan {
	return plan.Plan{
		Name: "patterns", Experiments: append(experiments, names.Pattern),
		Limits: bench.Limits{Effort: 0.25, MaxBytes: 64 * units.KiB},
		Rounds: plan.Rounds{Min: 6, Max: 6}, Permute: true, Seed: seed,
	}
}

var pointToPoint = []string{names.Clock, names.Pingpong, names.Paired}

// The calibrated simulation of a network is as good as its parameters: patterns that nothing was fitted to are
// predicted to some per cent, on a shared medium from the hyperbolic model, on a switch from the cluster model, and on
// a switch that only pairs were measured on as far as no port is crowded.
func TestSimulationPredicts(t *testing.T) {
	shared, err := netspec.Preset("sparc1994", 6)
	if err != nil {
		t.Fatal(err)
	}
	whole := append(pointToPoint, names.Overhead, names.Gap, names.Gather, names.Load)
	for _, c := range []struct {
		name        string
		spec        netspec.Spec
		opt         sim.Options
		chosen      plan.Plan
		mean, worst float64
	}{
		{"shared medium", *shared, sim.Options{Seed: 1}, patternPlan(1, pointToPoint...), 0.01, 0.03},
		{"switch", clusterSpec(), sim.Options{Seed: 1, Cost: clusterCost}, patternPlan(2, whole...), 0.03, 0.10},
	} {
		p, _ := predicted(t, c.spec, c.opt, c.chosen)
		g, ok := params.GradeOf(p.Validation, predict.Sim, "")
		if !ok || g.N < 8 || g.Mean > c.mean || g.Worst > c.worst {
			t.Errorf("%s: %d patterns, %.2g%% off on average, %.2g%% at most; want %.2g%% and %.2g%%", c.name, g.N, 100*g.Mean,
				100*g.Worst, 100*c.mean, 100*c.worst)
			for _, v := range p.Validation {
				if v.Model == predict.Sim {
					t.Logf("%s, %d hosts, %d bytes: predicted %.4g s, measured %.4g s", v.Pattern, v.Hosts, v.Bytes, v.Predicted,
						v.Measured)
				}
			}
		}
	}
}

// Over 50 simulated runs whose packets and rounds scatter, the 95% intervals of the simulation hold the measured times
// in 90 to 99% of the cases.
func TestPredictionIntervals(t *testing.T) {
	spec, err := netspec.Preset("sparc1994", 4)
	if err != nil {
		t.Fatal(err)
	}
	covered, all := 0, 0
	for seed := range uint64(50) {
		opt := sim.Options{Seed: seed, Noise: sim.Noise{Jitter: 0.05, Round: 0.01}, ClockOffset: units.Second, ClockDrift: 10}
		chosen := patternPlan(seed, pointToPoint...)
		chosen.Limits.Sizes = []units.Bytes{1, 701, 1401, 8001, 32001}
		p, _ := predicted(t, *spec, opt, chosen)
		g, _ := params.GradeOf(p.Validation, predict.Sim, "")
		covered, all = covered+g.Covered, all+g.N
	}
	if share := float64(covered) / float64(all); share < 0.90 || share > 0.99 {
		t.Errorf("%d of %d measured times are in the interval (%.3g%%), want 90 to 99%%", covered, all, 100*share)
	}
}

// No fit reads what predictions are held against: parameters are the same, to the last bit, with patterns and without.
func TestNoFitReadsPatterns(t *testing.T) {
	spec, err := netspec.Preset("sparc1994", 4)
	if err != nil {
		t.Fatal(err)
	}
	d := measure(t, *spec, sim.Options{Seed: 3, Noise: sim.Noise{Jitter: 0.05}}, patternPlan(3, pointToPoint...))
	without := *d
	without.Samples = nil
	for _, s := range d.Samples {
		if s.Exp != names.Pattern {
			without.Samples = append(without.Samples, s)
		}
	}
	if len(without.Samples) == len(d.Samples) {
		t.Fatal("no patterns were measured")
	}
	with, _ := fit.Run(models.All, d, fit.Settings{Replicates: 50})
	bare, _ := fit.Run(models.All, &without, fit.Settings{Replicates: 50})
	if len(with.Parameters) != len(bare.Parameters) || len(with.Functions) != len(bare.Functions) {
		t.Fatalf("%d parameters and %d functions with patterns, %d and %d without", len(with.Parameters), len(with.Functions),
			len(bare.Parameters), len(bare.Functions))
	}
	for name, q := range with.Parameters {
		r := bare.Parameters[name]
		v, _ := q.Raw()
		w, _ := r.Raw()
		if v != w || q.Status != r.Status || (q.CI95 == nil) != (r.CI95 == nil) || q.CI95 != nil && *q.CI95 != *r.CI95 {
			t.Errorf("%s: %v with patterns, %v without", name, q, r)
		}
	}
	for name, f := range with.Functions {
		for c, v := range f.Coeff {
			if w := bare.Functions[name].Coeff[c]; math.Float64bits(v) != math.Float64bits(w) {
				t.Errorf("%s.%s: %g with patterns, %g without", name, c, v, w)
			}
		}
	}
}

// Parameters that describe messages between two hosts, and nothing of what was measured, are not left ok: validation
// says why.
func TestValidationContradicts(t *testing.T) {
	spec, err := netspec.Preset("sparc1994", 8)
	if err != nil {
		t.Fatal(err)
	}
	p, d := predicted(t, *spec, sim.Options{Seed: 1, Noise: sim.Noise{Jitter: 0.005}}, patternPlan(1, pointToPoint...))
	reliable := slices.DeleteFunc([]string{"a", "b", "a_c", "b_c"},
		func(name string) bool { return p.Parameters[name].Status != params.StatusOK })
	if len(reliable) == 0 {
		t.Fatal("no parameter of the medium is ok before")
	}
	for i := range d.Samples {
		if s := &d.Samples[i]; s.Exp == names.Pattern {
			for k := range s.NS {
				s.NS[k] *= 3
			}
		}
	}
	if err := predict.Validate(p, d); err != nil {
		t.Fatal(err)
	}
	for _, name := range reliable {
		if q := p.Parameters[name]; q.Status != params.StatusProvisional || q.Why == "" {
			t.Errorf("%s is %s (%s), although everything takes three times as long as predicted", name, q.Status, q.Why)
		}
	}
}

// A slow host is in no parameter, so that patterns in which it took part judge none. Of a pattern that some rounds ran
// without it these count alone.
func TestValidationLeavesSlowHostsOut(t *testing.T) {
	spec, err := netspec.Preset("sparc1994", 8)
	if err != nil {
		t.Fatal(err)
	}
	spec.Overrides = map[int]netspec.Block{5: {A: 6 * spec.Host.A, B: 6 * spec.Host.B}}
	p := graded(t, measureAfter(t, 36, *spec, sim.Options{Seed: 1, Noise: sim.Noise{Jitter: 0.005}},
		patternPlan(1, pointToPoint...)))
	for name, q := range p.Parameters {
		if strings.Contains(q.Why, "validation") {
			t.Errorf("%s is %s: %s", name, q.Status, q.Why)
		}
	}
	judged, ok := params.GradeOf(p.Validation, predict.Sim, "")
	if !ok || judged.Mean > 0.05 {
		t.Errorf("without the slow host %+v", judged)
	}
	for _, v := range p.Validation {
		if v.SlowHost != (v.Hosts == spec.Hosts) {
			t.Errorf("%s on %d of %d hosts: slow host %t", v.Pattern, v.Hosts, spec.Hosts, v.SlowHost)
		}
	}
}
