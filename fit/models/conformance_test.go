package models

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/glossary"
	"calib/params"
)

func TestModelNames(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range All {
		if m.Name == "" || seen[m.Name] {
			t.Errorf("name %q is empty or not unique", m.Name)
		}
		seen[m.Name] = true
		if len(m.Needs) == 0 {
			t.Errorf("%s needs nothing", m.Name)
		}
	}
}

func TestModelsWithoutData(t *testing.T) {
	empty := &dataset.Dataset{}
	hollow := &dataset.Dataset{}
	for _, m := range All {
		for _, exp := range m.Needs {
			for phase := range glossary.Files().Phases[exp] {
				hollow.Samples = append(hollow.Samples, dataset.Sample{Exp: exp, Phase: phase, NS: []int64{}})
			}
		}
	}
	for _, m := range All {
		for _, d := range []*dataset.Dataset{empty, hollow} {
			if _, err := m.Fit(fit.Prepare(d, fit.Settings{})); !errors.Is(err, fit.ErrNeeds) {
				t.Errorf("%s without data: %v, want ErrNeeds", m.Name, err)
			}
		}
	}
	if p, errs := fit.Run(All, empty, fit.Settings{}); len(p.Fits) != 0 || len(errs) != 0 {
		t.Errorf("all models of nothing: %d fits, errors %v", len(p.Fits), errs)
	}
}

// Every model is held against every dataset that has the experiments it needs, and each model must meet one at least.
func TestModelsConform(t *testing.T) {
	met := map[string]int{}
	for name, d := range datasets() {
		for _, m := range All {
			if lacks(d, m.Needs) {
				continue
			}
			met[m.Name]++
			t.Run(name+"/"+m.Name, func(t *testing.T) {
				s := fit.Settings{Replicates: 60}
				f, err := m.Fit(fit.Prepare(d, s))
				if err != nil {
					t.Fatal(err)
				}
				checkFit(t, m, f)
				again, err := m.Fit(fit.Prepare(d, s))
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
	for _, m := range All {
		if met[m.Name] == 0 {
			t.Errorf("no dataset has what %s needs (%v): add one to datasets()", m.Name, m.Needs)
		}
	}
}

// lacks reports whether d has no sample of one of the experiments, clock offsets apart.
func lacks(d *dataset.Dataset, needs []string) bool {
	return slices.ContainsFunc(needs, func(exp string) bool {
		return !slices.ContainsFunc(d.Samples, func(s dataset.Sample) bool {
			return s.Exp == exp &&
				s.Phase != names.PhaseOffset
		})
	})
}

// encode writes all of a fit, with what params.json keeps elsewhere.
func encode(t *testing.T, f *params.Fit) string {
	t.Helper()
	b, err := json.Marshal([]any{f, f.Parameters, f.Functions, f.Network, f.Pairs})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A model gives the same fit alone and in a run with all others, which share what is prepared.
func TestModelsShare(t *testing.T) {
	for name, d := range datasets() {
		s := fit.Settings{Replicates: 20}
		p, errs := fit.Run(All, d, s)
		for _, err := range errs {
			t.Errorf("%s: %v", name, err)
		}
		checkFindings(t, p.Findings)
		shared := fit.Prepare(d, s)
		together, failed := make([]*params.Fit, len(All)), make([]error, len(All))
		resample.Each(len(All), func(i int) { together[i], failed[i] = All[i].Fit(shared) })
		for i, m := range All {
			alone, err := m.Fit(fit.Prepare(d, s))
			inRun := slices.ContainsFunc(p.Fits, func(f *params.Fit) bool { return f.Model == m.Name })
			if (err == nil) != (failed[i] == nil) || (err == nil) != inRun || err != nil && !errors.Is(err, fit.ErrNeeds) {
				t.Errorf("%s/%s: in the run %t, alone %v, with others %v", name, m.Name, inRun, err, failed[i])
			}
			if err != nil || failed[i] != nil {
				continue
			}
			if diff := cmp.Diff(encode(t, alone), encode(t, together[i])); diff != "" {
				t.Errorf("%s/%s: alone and with others: %s", name, m.Name, diff)
			}
		}
	}
}

// A dataset with ping-pong of two sizes has what the models of one message need, but not enough of it: each says so.
func TestTooFewSizesSaid(t *testing.T) {
	d := pairOf([]float64{1, 1000}, func(x float64) float64 { return 1e-4 + 1e-8*x })
	p, errs := fit.Run(All, d, fit.Settings{})
	if len(p.Fits) != 0 || len(errs) != 4 {
		t.Errorf("%d fits, errors %v: a dataset with pingpong of two sizes should say so", len(p.Fits), errs)
	}
}

// A million raw timings with 1,000 replicates: the bar is 5 s on 2 cores.
func BenchmarkAllMillion(b *testing.B) {
	w := sparc()
	w.Between, w.Within, w.Rounds, w.Reps = 0.01, 0.05, 8, 240
	d := w.Dataset()
	n := 0
	for i := range d.Samples {
		n += len(d.Samples[i].NS)
	}
	for b.Loop() {
		if _, errs := fit.Run(All, d, fit.Settings{Replicates: 1000}); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
	b.ReportMetric(float64(n), "timings")
}
