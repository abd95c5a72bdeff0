package models

import (
	"errors"
	"testing"

	"calib/fit"
	"calib/fit/overlap"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/params"
)

func fitOverlap(t *testing.T, w overlapTruth) *params.Fit {
	t.Helper()
	f := fitWith(t, overlap.Model, w.Dataset(), 100)
	checkFit(t, overlap.Model, f)
	return f
}

// Without noise every parameter comes out as it was put in.
func TestModelExact(t *testing.T) {
	w := overlappingPair()
	f := fitOverlap(t, w)
	transfer := w.Transfer(4000)
	peak := (w.Penalty*transfer - w.Overhead) / w.F
	for name, want := range map[string]float64{
		"r_op": 1 / w.Step, "gamma_h": 0.75 * w.PerByte / w.Step, "i_cs": 0.75 * w.Startup / w.Step,
		"both_ways_gain_4000B": 1.5, "both_ways_gain_64KiB": 1.5,
		"f_4000B": w.F, "f_64KiB": w.F, "hiding_overhead_4000B": w.Overhead, "hiding_overhead_64KiB": w.Overhead,
		"exchange_4000B": transfer, "penalty_4000B": w.Penalty, "Omega_4000B": w.Overhead / peak,
		"gamma_peak_4000B": peak / transfer,
		"gain_max_4000B":   (peak + transfer) / w.Hidden(peak, transfer), "work_peak_4000B": peak / w.Step,
	} {
		near(t, name, value(t, f, name), want, 2e-5)
	}
	if f.Quality.MaxError > 1e-6 {
		t.Errorf("the gain is off by %g", f.Quality.MaxError)
	}
	for name, share := range map[string]float64{"t_tr": 0.75, "t_both": 1} {
		fn := f.Functions[name]
		near(t, "t_cs of "+name, fn.Coeff["c0"], share*w.Startup, 1e-5)
		near(t, "1/r_com of "+name, fn.Coeff["c1"], share*w.PerByte, 1e-5)
	}
	if !notes(f.Findings, "gain-misfit", "0.0% at worst") || warns(f.Findings, params.SharedCPUs, "") {
		t.Errorf("findings %v", f.Findings)
	}
	if n := len(f.Named("penalty(m)").Points); n != 4 {
		t.Errorf("%d points of the penalty, want 4", n)
	}
}

// Samples of another program may not say how many steps were computed: what is counted in steps is left out then.
func TestModelWithoutSteps(t *testing.T) {
	d := overlappingPair().Dataset()
	for i := range d.Samples {
		delete(d.Samples[i].Aux, names.AuxWork)
	}
	f := fitWith(t, overlap.Model, d, 100)
	checkFit(t, overlap.Model, f)
	for _, name := range []string{"r_op", "work_peak_4000B"} {
		if q, ok := f.Parameters[name]; ok {
			t.Errorf("%s: %+v", name, q)
		}
	}
	value(t, f, "gain_max_4000B")
}

// With noise the intervals hold the truth.
func TestModelNoisy(t *testing.T) {
	w := overlappingPair()
	w.Between, w.Within, w.Rounds = 0.02, 0.03, 10
	f := fitOverlap(t, w)
	for name, want := range map[string]float64{"f_4000B": w.F, "hiding_overhead_4000B": w.Overhead,
		"penalty_4000B": w.Penalty, "r_op": 1 / w.Step} {
		if p := f.Parameters[name]; p.CI95 == nil || p.CI95[0] > want || p.CI95[1] < want {
			t.Errorf("%s: %+v %v, want %g", name, p, p.CI95, want)
		}
	}
}

// Agents that share a machine with fewer CPUs than threads: the numbers stand, and their status says so.
func TestModelSharedCPUs(t *testing.T) {
	w := overlappingPair()
	w.Shared, w.Within = true, 0.01
	f := fitOverlap(t, w)
	if p := f.Parameters["f_4000B"]; p.Status != params.StatusProvisional || p.Value == nil {
		t.Errorf("%+v", p)
	}
	if !warns(f.Findings, params.SharedCPUs, "agents share a machine of 2 CPUs: the second thread has no CPU to itself") {
		t.Errorf("findings %v", f.Findings)
	}
	w.CPUs = 4
	if f = fitOverlap(t, w); f.Parameters["f_4000B"].Status != params.StatusOK {
		t.Errorf("four CPUs: %+v", f.Parameters["f_4000B"])
	}
}

// Where handing over costs more than the transfer there is no gain, and no peak.
func TestModelNoOverlap(t *testing.T) {
	w := overlappingPair()
	w.Overhead, w.Penalty = 3*w.Transfer(65536), 1.5
	f := fitOverlap(t, w)
	if p := f.Parameters["gain_max_4000B"]; p.Status != params.StatusUnidentifiable {
		t.Errorf("%+v", p)
	}
	if !warns(f.Findings, "no-overlap", "messages of 4000 B") {
		t.Errorf("findings %v", f.Findings)
	}
}

// What is missing is said: the transfer by the second thread alone, times of computing, all of it.
func TestModelMissing(t *testing.T) {
	w := overlappingPair()
	w.Sizes = []int64{1, 1000}
	f := fitOverlap(t, w)
	if !notes(f.Findings, "sweep-incomplete", "the transfer of 4000 B by the second thread alone") {
		t.Errorf("findings %v", f.Findings)
	}
	d := overlappingPair().Dataset()
	d.Samples = append(d.Samples, dataset.Sample{Exp: names.Overlap, Phase: names.PhaseSkipped}) // without a time
	if _, err := overlap.Model.Fit(fit.Prepare(d, fit.Settings{Replicates: 20})); err != nil {
		t.Error(err)
	}
	w = overlappingPair()
	w.Swept, w.Sizes = nil, []int64{1000}
	f = fitOverlap(t, w)
	if p := f.Parameters["gamma_h"]; p.Status != params.StatusUnidentifiable {
		t.Errorf("%+v", p)
	}
	if _, err := overlap.Model.Fit(fit.Prepare(&dataset.Dataset{}, fit.Settings{})); !errors.Is(err, fit.ErrNeeds) {
		t.Errorf("%v, want ErrNeeds", err)
	}
}

// What overlap.Read gives predicts what the truth does.
func TestRead(t *testing.T) {
	w := overlappingPair()
	d := w.Dataset()
	p, errs := fit.Run([]fit.Model{overlap.Model}, d, fit.Settings{Replicates: 50})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	m, err := overlap.Read(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, work := range []float64{1e-3, 5e-3, 50e-3} {
		o, err := m.Predict(8, 1, 4000, work)
		if err != nil {
			t.Fatal(err)
		}
		transfer := w.Transfer(4000)
		near(t, "gain", o.Gain, (work+transfer)/w.Hidden(work, transfer), 1e-4)
		near(t, "speed-up in turn", o.InTurn, 8*work/(work+transfer), 1e-4)
		near(t, "speed-up", o.Speedup, 8*work/w.Hidden(work, transfer), 1e-4)
		near(t, "best work", o.BestWork, (w.Penalty*transfer-w.Overhead)/w.F, 1e-4)
	}
	if _, size := m.Near(20_000); size != 65536 {
		t.Errorf("near 20,000 B is %g", size)
	}
	m.Transfer = nil
	if _, err := m.Predict(8, 1, 5000, 1); !errors.Is(err, overlap.ErrParameters) {
		t.Errorf("another size than the one measured: %v", err)
	}
	if _, err := overlap.Read(&params.Params{}); !errors.Is(err, overlap.ErrParameters) {
		t.Errorf("%v, want ErrParameters", err)
	}
}
