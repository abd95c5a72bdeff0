package figure_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"calib/agent/simagent"
	"calib/bench"
	"calib/bench/experiments"
	"calib/fit"
	"calib/fit/models"
	"calib/internal/dataset"
	"calib/internal/netspec"
	"calib/internal/plot"
	"calib/internal/units"
	"calib/params"
	"calib/reports/figure"
	"calib/reports/html"
	"calib/run/coord"
	"calib/run/plan"
	"calib/transport/sim"
)

// whole is a run of every experiment on a simulated network, and every model's fit.
type whole struct {
	d *dataset.Dataset
	// params.json and points.json
	file, points []byte
	err          error
}

// simulated runs it once for all tests.
var simulated = sync.OnceValue(func() (w whole) {
	spec, err := netspec.Preset("hku2000", 5)
	if err != nil {
		return whole{err: err}
	}
	p, err := plan.Builtin(plan.Standard)
	if err != nil {
		return whole{err: err}
	}
	p.Experiments, p.Budget, p.Seed, p.Rounds = nil, 0, 7, plan.Rounds{Min: 2, Max: 2}
	p.Limits.Effort, p.Limits.Pairs, p.Limits.MaxBytes = 0.1, bench.AllPairs, 32*units.KiB
	s, err := plan.New(p, spec.Hosts, experiments.All)
	if err != nil {
		return whole{err: err}
	}
	w.d = &dataset.Dataset{Header: dataset.Header{Schema: dataset.Schema, Run: "simulated", Seed: p.Seed}}
	var agents []coord.Agent
	noise := sim.Options{Seed: p.Seed, Noise: sim.Noise{Jitter: 0.005, Round: 0.005}}
	for _, a := range simagent.New(*spec, noise) {
		h, err := a.Hello(context.Background(), false)
		if err != nil {
			return whole{err: err}
		}
		w.d.Header.Hosts = append(w.d.Header.Hosts, h)
		agents = append(agents, a)
	}
	if _, w.err = coord.Walk(context.Background(), agents, coord.Config{
		Progress: func(coord.Progress) {}, Slot: func(bench.Slot, time.Duration) {}, Note: func(string) {},
		Run: "simulated", Schedule: s,
		Deadline: func(bench.Slot) units.Nanos { return 600 * units.Second },
		Sink:     func(b []dataset.Sample) error { w.d.Samples = append(w.d.Samples, b...); return nil },
	}); w.err != nil {
		return w
	}
	fitted, errs := fit.Run(models.All, w.d, fit.Settings{Replicates: 50})
	if len(errs) > 0 {
		return whole{err: errs[0]}
	}
	var file, points bytes.Buffer
	w.err = errors.Join(params.Encode(&file, fitted), params.EncodePoints(&points, fitted))
	w.file, w.points = file.Bytes(), points.Bytes()
	return w
})

// simulation returns the run with fresh Params, which a test may change.
func simulation(t testing.TB) (*params.Params, *dataset.Dataset) {
	t.Helper()
	w := simulated()
	if w.err != nil {
		t.Fatal(w.err)
	}
	p, err := params.Decode(bytes.NewReader(w.file))
	if err == nil {
		err = p.ReadPoints(bytes.NewReader(w.points))
	}
	if err != nil {
		t.Fatal(err)
	}
	return p, w.d
}

// Every series of more than one place is in a plot of its model: nothing else draws it.
func TestEverySeriesHasAPlot(t *testing.T) {
	p, _ := simulation(t)
	for _, f := range p.Fits {
		for _, s := range f.Series {
			shown := slices.ContainsFunc(models.Plots(f), func(q plot.Plot) bool { return slices.Contains(q.Series, s.Name) })
			if !shown && slices.ContainsFunc(s.Points, func(r params.Residual) bool { return r.X != s.Points[0].X }) {
				t.Errorf("%s of model %s is not drawn", s.Name, f.Model)
			}
		}
	}
}

// The report of a run of every experiment stays small: it is kept for years, and mailed.
func TestReportIsSmall(t *testing.T) {
	p, d := simulation(t)
	var page bytes.Buffer
	if err := html.Report(&page, p, figure.Build(p, models.Plots, d), html.Options{Dir: "runs/1"}); err != nil {
		t.Fatal(err)
	}
	if n := page.Len(); n > 400_000 {
		t.Errorf("%d bytes", n)
	}
}
