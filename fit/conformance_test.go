package fit

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"testing"

	"calib/internal/dataset"
)

// datasets are what the conformance suite fits every model to.
func datasets() map[string]*dataset.Dataset {
	noisy := sparc()
	noisy.between, noisy.within = 0.01, 0.05
	noisy.reps = 9
	pair := noisy
	pair.hosts = 2
	once := noisy
	once.rounds = 1
	switched := noisy
	switched.switched = true
	exact := sparc()
	out := map[string]*dataset.Dataset{
		"sparc1994": noisy.dataset(), "two hosts": pair.dataset(), "one round": once.dataset(),
		"switch": switched.dataset(), "exact": exact.dataset(),
	}
	maps.Copy(out, clusterDatasets())
	maps.Copy(out, settingsDatasets())
	return out
}

func TestModelNames(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Models {
		if m.Name() == "" || seen[m.Name()] {
			t.Errorf("name %q is empty or not unique", m.Name())
		}
		seen[m.Name()] = true
		if len(m.Needs()) == 0 {
			t.Errorf("%s needs nothing", m.Name())
		}
	}
}

// hollowPhases are the phases of all experiments.
var hollowPhases = []string{"", "cost", phaseBurst, phaseStream, phaseSend, phaseRecv, phaseIdle, phaseCompute, "gap", phaseArrivals,
	phaseGather, "load", phaseFlood, phaseProbe, phaseProbeIdle, phaseProbeDrain, phasePRTT, phaseSpaced, phaseDelayed, phaseReceive,
	phaseOneway, phaseBoth, phaseInterleaved}

func TestModelsWithoutData(t *testing.T) {
	empty := &dataset.Dataset{}
	hollow := &dataset.Dataset{}
	for _, m := range Models {
		for _, exp := range m.Needs() {
			for _, phase := range hollowPhases {
				hollow.Samples = append(hollow.Samples, dataset.Sample{Exp: exp, Phase: phase, NS: []int64{}})
			}
		}
	}
	for _, m := range Models {
		for _, d := range []*dataset.Dataset{empty, hollow} {
			if _, err := m.Fit(d, Settings{}); !errors.Is(err, ErrNeeds) {
				t.Errorf("%s without data: %v, want ErrNeeds", m.Name(), err)
			}
		}
	}
	if fits, errs := All(empty, Settings{}); len(fits) != 0 || len(errs) != 0 {
		t.Errorf("All of nothing: %d fits, errors %v", len(fits), errs)
	}
}

// Every model is held against every dataset that has the experiments it needs, and each model must meet one at least.
func TestModelsConform(t *testing.T) {
	met := map[string]int{}
	for name, d := range datasets() {
		for _, m := range Models {
			if lacks(d, m.Needs()) {
				continue
			}
			met[m.Name()]++
			t.Run(name+"/"+m.Name(), func(t *testing.T) {
				s := Settings{Replicates: 60}
				f, err := m.Fit(d, s)
				if err != nil {
					t.Fatal(err)
				}
				checkFit(t, m, f)
				again, err := m.Fit(d, s)
				if err != nil {
					t.Fatal(err)
				}
				a, b := encode(t, f), encode(t, again)
				for i := range min(len(a), len(b)) {
					if a[i] != b[i] {
						t.Fatalf("two fits of the same data differ: %s, %s", a[max(0, i-40):i+1], b[max(0, i-40):i+1])
					}
				}
			})
		}
	}
	for _, m := range Models {
		if met[m.Name()] == 0 {
			t.Errorf("no dataset has what %s needs (%v): add one to datasets()", m.Name(), m.Needs())
		}
	}
}

func encode(t *testing.T, f *Fit) string {
	t.Helper()
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func checkFit(t *testing.T, m Model, f *Fit) {
	t.Helper()
	if f.Model != m.Name() || f.Experiment == "" || f.Source == "" || f.Used == 0 || len(f.Hosts) == 0 || f.Quality == nil {
		t.Errorf("model %q, experiment %q, source %q, used %d, hosts %v", f.Model, f.Experiment, f.Source, f.Used, f.Hosts)
	}
	if len(f.Parameters)+len(f.Functions) == 0 {
		t.Error("neither parameters nor functions")
	}
	for name, p := range f.Parameters {
		checkParameter(t, name, p)
	}
	for name, fn := range f.Functions {
		if fn.Form == "" || fn.Unit == "" || fn.Label == "" || fn.Source == "" || fn.Model == "" || len(fn.Domain) == 0 {
			t.Errorf("function %s: %+v", name, fn)
		}
		for k, v := range fn.Coeff {
			checkFinite(t, name+"."+k, v)
		}
		for k, v := range fn.CI95 {
			checkFinite(t, name+"."+k, v[0], v[1])
			if c := fn.Coeff[k]; v[0] > c || c > v[1] {
				t.Errorf("%s.%s = %g outside its interval %v", name, k, c, v)
			}
		}
	}
	for _, r := range f.Residuals {
		checkFinite(t, r.Series, r.X, r.Measured, r.Lo, r.Hi, r.Fitted)
		if r.Lo > r.Measured || r.Measured > r.Hi || r.N == 0 || r.XName == "" {
			t.Errorf("residual %+v", r)
		}
	}
	for k, v := range f.Domain {
		checkFinite(t, "domain "+k, v[0], v[1])
	}
	checkFinite(t, "quality", f.Quality.MeanError, f.Quality.MaxError)
	for _, v := range []*float64{f.Quality.R2, f.Quality.LeaveOneOut, f.Quality.Condition} {
		if v != nil {
			checkFinite(t, "quality", *v)
		}
	}
}

func checkParameter(t *testing.T, name string, p Parameter) {
	t.Helper()
	if p.Unit == "" || p.Label == "" || p.Source == "" || p.Model == "" || p.Experiment == "" {
		t.Errorf("%s lacks unit, label, source, model or experiment: %+v", name, p)
	}
	switch p.Status {
	case StatusOK:
		if p.Value == nil || p.CI95 == nil && p.Why == "" {
			t.Fatalf("%s is ok without value or interval: %+v", name, p)
		}
		checkFinite(t, name, *p.Value)
		if p.CI95 == nil {
			return
		}
		checkFinite(t, name, p.CI95[0], p.CI95[1])
		if p.CI95[0] > *p.Value || *p.Value > p.CI95[1] {
			t.Errorf("%s = %g outside its interval %v", name, *p.Value, *p.CI95)
		}
	case StatusUnidentifiable, StatusBound:
		if p.Value != nil || p.Why == "" || p.Bound == nil {
			t.Fatalf("%s: %+v", name, p)
		}
		checkFinite(t, name, p.Bound[0]) // the upper side may be open: +Inf, null in JSON
		if !(p.Bound[0] <= p.Bound[1]) {
			t.Errorf("%s: bound %v", name, *p.Bound)
		}
	default:
		t.Errorf("%s: status %q", name, p.Status)
	}
}

func checkFinite(t *testing.T, what string, values ...float64) {
	t.Helper()
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%s is %v", what, v)
		}
	}
}

// A million raw timings with 1,000 replicates: the bar is 5 s on 2 cores.
func BenchmarkAllMillion(b *testing.B) {
	w := sparc()
	w.between, w.within, w.rounds, w.reps = 0.01, 0.05, 8, 240
	d := w.dataset()
	n := 0
	for i := range d.Samples {
		n += len(d.Samples[i].NS)
	}
	for b.Loop() {
		if _, errs := All(d, Settings{Replicates: 1000}); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
	b.ReportMetric(float64(n), "timings")
}
