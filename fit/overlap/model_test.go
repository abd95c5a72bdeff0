package overlap

import (
	"errors"
	"testing"

	"calib/fit"
	"calib/fit/fittest"
	"calib/internal/dataset"
	"calib/internal/params"
)

func fitted(t *testing.T, w fittest.OverlapTruth) *params.Fit {
	t.Helper()
	f := fittest.Fit(t, Model, w.Dataset(), 100)
	fittest.CheckFit(t, Model, f)
	return f
}

// Without noise every parameter comes out as it was put in.
func TestModelExact(t *testing.T) {
	w := fittest.Overlap()
	f := fitted(t, w)
	transfer := w.Transfer(4000)
	peak := (w.Penalty*transfer - w.Overhead) / w.F
	for name, want := range map[string]float64{
		"r_op": 1 / w.Step, "gamma_h": w.PerByte / w.Step, "i_cs": w.Startup / w.Step,
		"f_4000B": w.F, "f_64KiB": w.F, "hiding_overhead_4000B": w.Overhead, "hiding_overhead_64KiB": w.Overhead,
		"exchange_4000B": transfer, "penalty_4000B": w.Penalty, "Omega_4000B": w.Overhead / peak, "gamma_peak_4000B": peak / transfer,
		"gain_max_4000B": (peak + transfer) / w.Hidden(peak, transfer), "work_peak_4000B": peak / w.Step,
	} {
		fittest.Near(t, name, fittest.Value(t, f, name), want, 2e-5)
	}
	if f.Quality.MaxError > 1e-6 {
		t.Errorf("the gain is off by %g", f.Quality.MaxError)
	}
	fn := f.Functions["t_tr"]
	fittest.Near(t, "t_cs", fn.Coeff["c0"], w.Startup, 1e-5)
	fittest.Near(t, "1/r_com", fn.Coeff["c1"], w.PerByte, 1e-5)
	if !fittest.Notes(f.Findings, "gain-misfit", "0.0% at worst") || fittest.Warns(f.Findings, params.SharedCPUs, "") {
		t.Errorf("findings %v", f.Findings)
	}
	if n := len(f.Named("penalty(m)").Points); n != 4 {
		t.Errorf("%d points of the penalty, want 4", n)
	}
}

// With noise the intervals hold the truth.
func TestModelNoisy(t *testing.T) {
	w := fittest.Overlap()
	w.Between, w.Within, w.Rounds = 0.02, 0.03, 10
	f := fitted(t, w)
	for name, want := range map[string]float64{"f_4000B": w.F, "hiding_overhead_4000B": w.Overhead, "penalty_4000B": w.Penalty, "r_op": 1 / w.Step} {
		if p := f.Parameters[name]; p.CI95 == nil || p.CI95[0] > want || p.CI95[1] < want {
			t.Errorf("%s: %+v %v, want %g", name, p, p.CI95, want)
		}
	}
}

// Agents that share a machine with fewer CPUs than threads: the numbers stand, and their status says so.
func TestModelSharedCPUs(t *testing.T) {
	w := fittest.Overlap()
	w.Shared, w.Within = true, 0.01
	f := fitted(t, w)
	if p := f.Parameters["f_4000B"]; p.Status != params.StatusProvisional || p.Value == nil {
		t.Errorf("%+v", p)
	}
	if !fittest.Warns(f.Findings, params.SharedCPUs, "agents share a machine of 2 CPUs: the second thread has no CPU to itself") {
		t.Errorf("findings %v", f.Findings)
	}
	w.CPUs = 4
	if f = fitted(t, w); f.Parameters["f_4000B"].Status != params.StatusOK {
		t.Errorf("four CPUs: %+v", f.Parameters["f_4000B"])
	}
}

// Where handing over costs more than the transfer there is no gain, and no peak.
func TestModelNoOverlap(t *testing.T) {
	w := fittest.Overlap()
	w.Overhead, w.Penalty = 3*w.Transfer(65536), 1.5
	f := fitted(t, w)
	if p := f.Parameters["gain_max_4000B"]; p.Status != params.StatusUnidentifiable {
		t.Errorf("%+v", p)
	}
	if !fittest.Warns(f.Findings, "no-overlap", "messages of 4000 B") {
		t.Errorf("findings %v", f.Findings)
	}
}

// What is missing is said: the transfer by the second thread alone, times of computing, all of it.
func TestModelMissing(t *testing.T) {
	w := fittest.Overlap()
	w.Sizes = []int64{1, 1000}
	f := fitted(t, w)
	if !fittest.Notes(f.Findings, params.SweepIncomplete, "the transfer of 4000 B by the second thread alone") {
		t.Errorf("findings %v", f.Findings)
	}
	w = fittest.Overlap()
	w.Swept, w.Sizes = nil, []int64{1000}
	f = fitted(t, w)
	if p := f.Parameters["gamma_h"]; p.Status != params.StatusUnidentifiable {
		t.Errorf("%+v", p)
	}
	if _, err := Model.Fit(fit.Prepare(&dataset.Dataset{}, fit.Settings{})); !errors.Is(err, fit.ErrNeeds) {
		t.Errorf("%v, want ErrNeeds", err)
	}
}

// What Read gives predicts what the truth does.
func TestRead(t *testing.T) {
	w := fittest.Overlap()
	d := w.Dataset()
	p, errs := fit.Run([]fit.Model{Model}, d, fit.Settings{Replicates: 50})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	m, err := Read(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, work := range []float64{1e-3, 5e-3, 50e-3} {
		o, err := m.Predict(8, 1, 4000, work)
		if err != nil {
			t.Fatal(err)
		}
		transfer := w.Transfer(4000)
		fittest.Near(t, "gain", o.Gain, (work+transfer)/w.Hidden(work, transfer), 1e-4)
		fittest.Near(t, "speed-up in turn", o.InTurn, 8*work/(work+transfer), 1e-4)
		fittest.Near(t, "speed-up", o.Speedup, 8*work/w.Hidden(work, transfer), 1e-4)
		fittest.Near(t, "best work", o.BestWork, (w.Penalty*transfer-w.Overhead)/w.F, 1e-4)
	}
	if _, size := m.Near(20_000); size != 65536 {
		t.Errorf("near 20,000 B is %g", size)
	}
	m.Transfer = nil
	if _, err := m.Predict(8, 1, 5000, 1); !errors.Is(err, ErrParameters) {
		t.Errorf("another size than the one measured: %v", err)
	}
	if _, err := Read(&params.Params{}); !errors.Is(err, ErrParameters) {
		t.Errorf("%v, want ErrParameters", err)
	}
}
