package models

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"testing"

	"calib/fit"
	"calib/internal/glossary"
	"calib/params"
)

// checkFit fails unless f is what every model promises: it says what it used, every number is finite and inside its
// interval, everything has a unit and a source, and every series and finding is labelled for programs.
func checkFit(t *testing.T, m fit.Model, f *params.Fit) {
	t.Helper()
	if f.Model != m.Name || f.Experiment == "" || f.Source == "" || f.Used == 0 || len(f.Hosts) == 0 || f.Quality == nil {
		t.Errorf("model %q, experiment %q, source %q, used %d, hosts %v", f.Model, f.Experiment, f.Source, f.Used, f.Hosts)
	}
	if len(f.Parameters)+len(f.Functions) == 0 {
		t.Error("neither parameters nor functions")
	}
	for name := range f.Parameters {
		explained(t, name)
	}
	for name := range f.Functions {
		explained(t, name)
	}
	for name, p := range f.Parameters {
		checkText(t, name, p.Why)
		checkParameter(t, name, p)
	}
	for name, fn := range f.Functions {
		checkText(t, name, fn.Why)
		checkFunction(t, name, fn)
	}
	checkFindings(t, f.Findings)
	checkSeries(t, f)
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

// explained fails unless the glossary has a number.
func explained(t *testing.T, name string) {
	t.Helper()
	if _, ok := glossary.All().Lookup(name); !ok {
		t.Errorf("internal/glossary does not explain %s", name)
	}
}

// checkFindings fails unless every finding has a code that is documented, one of its levels, and a message.
func checkFindings(t *testing.T, findings []params.Finding) {
	t.Helper()
	for _, f := range findings {
		checkText(t, "finding "+string(f.Code), f.Message)
		known := glossary.Files().Findings[string(f.Code)]
		if f.Message == "" || !slices.Contains(known.Levels, string(f.Level)) {
			t.Errorf("finding %+v: no message, or its code and level are not in formats.yaml", f)
			continue
		}
		for name, v := range f.Values {
			if !slices.Contains(known.Values, name) {
				t.Errorf("finding %+v: value %s is not in formats.yaml", f, name)
			}
			checkFinite(t, string(f.Code)+": "+name, v)
		}
	}
}

// unfinished is a text after which something was to follow, or with a number whose unit is a prefix of nothing: "4.308
// m".
var unfinished = regexp.MustCompile(`[: ]$|[0-9] [GMkmµnpf]([^A-Za-zµ/]|$)`)

// checkText fails where a text for people is not whole.
func checkText(t *testing.T, what, text string) {
	t.Helper()
	if unfinished.MatchString(text) {
		t.Errorf("%s: a text that ends early, or a number without a unit: %q", what, text)
	}
}

func checkSeries(t *testing.T, f *params.Fit) {
	t.Helper()
	seen := map[string]bool{}
	for _, s := range f.Series {
		if s.Name == "" || seen[s.Name] || s.XName == "" || len(s.Points) == 0 {
			t.Errorf("series %q: its name is not its own, or it has no x or no points: %+v", s.Name, s)
		}
		known, ok := glossary.Files().Quantities[string(s.Quantity)]
		if !ok {
			t.Errorf("series %q: quantity %q is not in formats.yaml", s.Name, s.Quantity)
			continue
		}
		want := slices.Sorted(slices.Values(known.Factors))
		if got := slices.Sorted(maps.Keys(s.Factors)); !slices.Equal(got, want) {
			t.Errorf("series %q: factors %v, want those of quantity %s, %v", s.Name, got, s.Quantity, want)
		}
		if _, ok := f.Functions[s.Symbol]; s.Symbol != "" && !ok {
			t.Errorf("series %q: the fit has no function %s", s.Name, s.Symbol)
		}
		seen[s.Name] = true
		for name, v := range s.Factors {
			checkFinite(t, s.Name+": "+name, v)
		}
		for _, r := range s.Points {
			checkFinite(t, s.Name, r.X, r.Measured, r.Lo, r.Hi, r.Fitted)
			if r.Lo > r.Measured || r.Measured > r.Hi || r.N == 0 {
				t.Errorf("series %s: point %+v", s.Name, r)
			}
		}
	}
}

func checkFunction(t *testing.T, name string, fn params.Function) {
	t.Helper()
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

func checkParameter(t *testing.T, name string, p params.Parameter) {
	t.Helper()
	if p.Unit == "" || p.Label == "" || p.Source == "" || p.Model == "" || p.Experiment == "" {
		t.Errorf("%s lacks unit, label, source, model or experiment: %+v", name, p)
	}
	switch p.Status {
	case params.StatusOK, params.StatusProvisional:
		if p.Value == nil || (p.CI95 == nil || p.Status == params.StatusProvisional) && p.Why == "" {
			t.Fatalf("%s is %s without value, interval or reason: %+v", name, p.Status, p)
		}
		checkFinite(t, name, *p.Value)
		if p.CI95 == nil {
			return
		}
		checkFinite(t, name, p.CI95[0], p.CI95[1])
		if p.CI95[0] > *p.Value || *p.Value > p.CI95[1] {
			t.Errorf("%s = %g outside its interval %v", name, *p.Value, *p.CI95)
		}
	case params.StatusInconsistent:
		if p.Value != nil || p.Estimate == nil || p.Why == "" {
			t.Fatalf("%s: %+v", name, p)
		}
	case params.StatusUnidentifiable, params.StatusBound:
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
