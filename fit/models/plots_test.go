package models

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/glossary"
	"calib/internal/plot"
	"calib/params"
)

var plotID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// numbersOnly are residual series that no plot shows, and why.
var numbersOnly = map[string]string{
	"timer":        "one number: what a reading of the clock costs",
	"B_L by probe": "one number of senders is one number: it is a mark among the arrival ratios",
}

// Every residual series of every fit is in exactly one plot of its fit or is one of numbersOnly; every plot says what
// it shows, with units, and can be drawn; and every model that brings plots is met.
func TestPlotsConform(t *testing.T) {
	met := map[string]bool{}
	for name, d := range datasets() {
		run, errs := fit.Run(All, d, fit.Settings{Replicates: 40})
		if len(errs) > 0 {
			t.Fatalf("%s: %v", name, errs)
		}
		for _, f := range run.Fits {
			met[f.Model] = met[f.Model] || len(Plots(f)) > 0
			ids := map[string]bool{}
			shown := map[string]int{}
			for _, p := range Plots(f) {
				if ids[p.ID] {
					t.Errorf("%s/%s: two plots %s", name, f.Model, p.ID)
				}
				ids[p.ID] = true
				checkPlot(t, name+"/"+f.Model, p)
				checkRaw(t, name+"/"+f.Model, d, p)
				for _, s := range p.Series {
					shown[s]++
				}
			}
			have := fit.SeriesNames(f.Series)
			for _, s := range have {
				if _, stated := numbersOnly[s]; shown[s] != 1 && !(shown[s] == 0 && stated) {
					t.Errorf("%s/%s: series %q is in %d plots", name, f.Model, s, shown[s])
				}
			}
			for s := range shown {
				if !slices.Contains(have, s) {
					t.Errorf("%s/%s: a plot of %q, which has no points", name, f.Model, s)
				}
			}
		}
		checkPlotsTravel(t, name, run)
	}
	for _, m := range All {
		if ok := m.Draw != nil; ok != (m.Name != "timer" && m.Name != "wakeup") || ok && !met[m.Name] {
			t.Errorf("%s: brings plots %t, met with one %t", m.Name, ok, met[m.Name])
		}
	}
}

func checkPlot(t *testing.T, where string, p plot.Plot) {
	t.Helper()
	if !plotID.MatchString(p.ID) || p.Section == "" || p.Title == "" || p.X.Name == "" || p.Y.Name == "" {
		t.Errorf("%s: plot %+v", where, p)
	}
	if !strings.HasSuffix(p.Says, ".") || strings.Contains(p.Says, "unknown") || strings.Contains(p.Says, "..") {
		t.Errorf("%s: plot %s says %q", where, p.ID, p.Says)
	}
	counts := map[string]bool{"a-prime": true, "b-prime": true, "arrival-ratio": true, "b-l-probe": true}
	if p.X.Unit == "" && !counts[p.ID] && p.Section != fit.SectionLoGPC || p.Y.Unit == "" && p.ID != "arrival-ratio" {
		t.Errorf("%s: plot %s has axes %+v, %+v", where, p.ID, p.X, p.Y)
	}
	for _, c := range p.Curves {
		if len(c.X) < 2 || len(c.Y) != len(c.X) || !slices.IsSorted(c.X) || c.Name == "" {
			t.Errorf("%s: plot %s: curve %+v", where, p.ID, c)
		}
		checkFinite(t, where+": plot "+p.ID, slices.Concat(c.X, c.Y, c.Lo, c.Hi)...)
		if len(c.Lo) != len(c.Hi) || len(c.Lo) != 0 && len(c.Lo) != len(c.X) {
			t.Errorf("%s: plot %s: a band of %d and %d points at %d", where, p.ID, len(c.Lo), len(c.Hi), len(c.X))
			continue
		}
		for i := range c.Lo {
			if c.Lo[i] > c.Y[i] || c.Y[i] > c.Hi[i] {
				t.Errorf("%s: plot %s: %s at %g is %g, outside its band %g to %g", where, p.ID, c.Name, c.X[i], c.Y[i], c.Lo[i],
					c.Hi[i])
			}
		}
	}
	for _, m := range p.Marks {
		if checkFinite(t, where, m.X, m.Lo, m.Hi); m.Label == "" || m.Lo < m.Hi && (m.X < m.Lo || m.X > m.Hi) {
			t.Errorf("%s: plot %s: mark %+v", where, p.ID, m)
		}
	}
}

// checkRaw: what a plot wants to see of the raw timings is there, under the names of samples.jsonl.
func checkRaw(t *testing.T, where string, d *dataset.Dataset, p plot.Plot) {
	t.Helper()
	if p.Raw == nil {
		return
	}
	known := func(factor string) bool { return glossary.Files().Factors[factor].Is != "" }
	met := slices.ContainsFunc(d.Samples, func(s dataset.Sample) bool {
		_, varies := s.Point[p.Raw.Factor]
		for factor, v := range p.Raw.Fixed {
			varies = varies && known(factor) && s.Point[factor] == v
		}
		return varies && s.Exp == p.Raw.Experiment && s.Phase == ""
	})
	if !known(p.Raw.Factor) || !met {
		t.Errorf("%s: plot %s: no sample has what it wants to see of the raw timings: %+v", where, p.ID, *p.Raw)
	}
}

// checkPlotsTravel: plots are the same after they were written and read.
func checkPlotsTravel(t *testing.T, where string, p *params.Params) {
	t.Helper()
	if err := validate(t, encodeParams(t, p)); err != nil {
		t.Errorf("%s: schema: %v", where, err)
	}
	got := travelled(t, p)
	for i, f := range p.Fits {
		if diff := cmp.Diff(Plots(f), Plots(got.Fits[i])); diff != "" {
			t.Errorf("%s/%s: %s", where, f.Model, diff)
		}
	}
}

// A curve goes through the fitted values of its series: it is the model's own function.
func TestCurvesMeetFits(t *testing.T) {
	met := 0
	for name, d := range datasets() {
		run, _ := fit.Run(All, d, fit.Settings{Replicates: 20})
		for _, f := range run.Fits {
			for _, p := range Plots(f) {
				for _, c := range p.Curves {
					series := c.Name
					if c.Name == p.Line || p.Line == "" && len(p.Series) == 1 {
						series = p.Series[0]
					}
					for _, r := range f.Named(series).Points {
						if r.X <= c.X[0] || r.X >= c.X[len(c.X)-1] {
							continue
						}
						met++
						if v := between(c, r.X, p.X.Log); math.Abs(v-r.Fitted) > 0.005*math.Abs(r.Fitted)+1e-12 {
							t.Errorf("%s/%s: %s, %s at %g is %g, fitted %g", name, f.Model, p.ID, c.Name, r.X, v, r.Fitted)
						}
					}
				}
			}
		}
	}
	if met < 500 {
		t.Errorf("%d fitted values were compared", met)
	}
}

// between interpolates as a plot does.
func between(c plot.Curve, x float64, log bool) float64 {
	i, _ := slices.BinarySearch(c.X, x)
	x0, x1, y0, y1 := c.X[i-1], c.X[i], c.Y[i-1], c.Y[i]
	if log && y0 > 0 && y1 > 0 {
		return math.Exp(math.Log(y0) + (math.Log(y1)-math.Log(y0))*math.Log(x/x0)/math.Log(x1/x0))
	}
	return y0 + (y1-y0)*(x-x0)/(x1-x0)
}

// Plots of an empty fit, or of one whose parameters are missing, are none or can be drawn.
func TestPlotsOfPartialFits(t *testing.T) {
	for _, m := range All {
		if drawn := Plots(&params.Fit{Model: m.Name}); len(drawn) != 0 {
			t.Errorf("%s: %d plots of nothing", m.Name, len(drawn))
		}
	}
	tuned, _ := fit.Run(All, settingsDatasets()["settings"], fit.Settings{Replicates: 5})
	clustered, _ := fit.Run(All, clusterDatasets()[slices.Sorted(maps.Keys(clusterDatasets()))[0]],
		fit.Settings{Replicates: 5})
	for _, f := range append(tuned.Fits, clustered.Fits...) {
		bare := &params.Fit{Model: f.Model, Series: f.Series}
		for _, m := range All {
			if m.Name == f.Model {
				for _, q := range Plots(bare) {
					if q.Says == "" || q.ID == "" {
						t.Errorf("%s: plot %+v", f.Model, q)
					}
				}
			}
		}
	}
}
