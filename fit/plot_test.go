package fit

import (
	"bytes"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var plotID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// numbersOnly are residual series that no plot shows, and why.
var numbersOnly = map[string]string{
	"timer":     "one number: what a reading of the clock costs",
	seriesProbe: "one number of senders is one number: it is a mark among the arrival ratios",
}

// Every residual series of every fit is in exactly one plot of its fit or is one of numbersOnly; every plot says what it
// shows, with units, and can be drawn; and every model that brings plots is met.
func TestPlotsConform(t *testing.T) {
	met := map[string]bool{}
	for name, d := range datasets() {
		fits, errs := All(d, Settings{Replicates: 40})
		if len(errs) > 0 {
			t.Fatalf("%s: %v", name, errs)
		}
		for _, f := range fits {
			met[f.Model] = met[f.Model] || len(f.Plots) > 0
			ids := map[string]bool{}
			shown := map[string]int{}
			for _, p := range f.Plots {
				if ids[p.ID] {
					t.Errorf("%s/%s: two plots %s", name, f.Model, p.ID)
				}
				ids[p.ID] = true
				checkPlot(t, name+"/"+f.Model, p)
				for _, s := range p.Series {
					shown[s]++
				}
			}
			have := f.seriesNamed("")
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
		checkPlotsTravel(t, name, Collect(d, fits))
	}
	for _, m := range Models {
		if _, ok := m.(Plotter); ok != (m.Name() != "timer") || ok && !met[m.Name()] {
			t.Errorf("%s: brings plots %t, met with one %t", m.Name(), ok, met[m.Name()])
		}
	}
}

func checkPlot(t *testing.T, where string, p Plot) {
	t.Helper()
	if !plotID.MatchString(p.ID) || p.Section == "" || p.Title == "" || p.X.Name == "" || p.Y.Name == "" {
		t.Errorf("%s: plot %+v", where, p)
	}
	if !strings.HasSuffix(p.Says, ".") || strings.Contains(p.Says, "unknown") || strings.Contains(p.Says, "..") {
		t.Errorf("%s: plot %s says %q", where, p.ID, p.Says)
	}
	counts := map[string]bool{"a-prime": true, "b-prime": true, "arrival-ratio": true, "b-l-probe": true}
	if p.X.Unit == "" && !counts[p.ID] || p.Y.Unit == "" && p.ID != "arrival-ratio" {
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
				t.Errorf("%s: plot %s: %s at %g is %g, outside its band %g to %g", where, p.ID, c.Name, c.X[i], c.Y[i], c.Lo[i], c.Hi[i])
			}
		}
	}
	for _, m := range p.Marks {
		if checkFinite(t, where, m.X, m.Lo, m.Hi); m.Label == "" || m.Lo < m.Hi && (m.X < m.Lo || m.X > m.Hi) {
			t.Errorf("%s: plot %s: mark %+v", where, p.ID, m)
		}
	}
}

// checkPlotsTravel: plots are the same after they were written and read.
func checkPlotsTravel(t *testing.T, where string, p *Params) {
	t.Helper()
	b := encodeParams(t, p)
	if err := validateParams(t, b); err != nil {
		t.Errorf("%s: schema: %v", where, err)
	}
	got, err := Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range p.Fits {
		if diff := cmp.Diff(f.Plots, got.Fits[i].Plots); diff != "" {
			t.Errorf("%s/%s: %s", where, f.Model, diff)
		}
	}
}

// A curve goes through the fitted values of its series: it is the model's own function.
func TestCurvesMeetFits(t *testing.T) {
	met := 0
	for name, d := range datasets() {
		fits, _ := All(d, Settings{Replicates: 20})
		for _, f := range fits {
			for _, p := range f.Plots {
				for _, c := range p.Curves {
					series := c.Name
					if c.Name == p.Line || p.Line == "" && len(p.Series) == 1 {
						series = p.Series[0]
					}
					for _, r := range f.Residuals {
						if r.Series != series || r.X <= c.X[0] || r.X >= c.X[len(c.X)-1] {
							continue
						}
						met++
						most := 0.005
						if p.ID == "arrival-ratio" {
							most = 0.03 // the curve is of bursts of equal parts from each sender
						}
						if v := between(c, r.X, p.X.Log); math.Abs(v-r.Fitted) > most*math.Abs(r.Fitted)+1e-12 {
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
func between(c Curve, x float64, log bool) float64 {
	i, _ := slices.BinarySearch(c.X, x)
	x0, x1, y0, y1 := c.X[i-1], c.X[i], c.Y[i-1], c.Y[i]
	if log && y0 > 0 && y1 > 0 {
		return math.Exp(math.Log(y0) + (math.Log(y1)-math.Log(y0))*math.Log(x/x0)/math.Log(x1/x0))
	}
	return y0 + (y1-y0)*(x-x0)/(x1-x0)
}

// Plots of an empty fit, or of one whose parameters are missing, are none or can be drawn.
func TestPlotsOfPartialFits(t *testing.T) {
	for _, m := range Models {
		p, ok := m.(Plotter)
		if !ok {
			continue
		}
		if plots := p.Plots(&Fit{Model: m.Name()}); len(plots) != 0 {
			t.Errorf("%s: %d plots of nothing", m.Name(), len(plots))
		}
	}
	fits, _ := All(settingsDatasets()["settings"], Settings{Replicates: 5})
	cluster, _ := All(clusterDatasets()[slices.Sorted(maps.Keys(clusterDatasets()))[0]], Settings{Replicates: 5})
	for _, f := range append(fits, cluster...) {
		bare := &Fit{Model: f.Model, Residuals: f.Residuals}
		for _, m := range Models {
			if p, ok := m.(Plotter); ok && m.Name() == f.Model {
				for _, q := range p.Plots(bare) {
					if q.Says == "" || q.ID == "" {
						t.Errorf("%s: plot %+v", f.Model, q)
					}
				}
			}
		}
	}
}

func TestPlotsNotFinite(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	p := sparcParams()
	p.Fits[1].Plots = []Plot{{ID: "t-x",
		Curves: []Curve{
			{Name: "whole", X: []float64{1, 2}, Y: []float64{1, 2}, Lo: []float64{0, 1}, Hi: []float64{2, 3}},
			{Name: "holes", X: []float64{1, nan, 3, 4}, Y: []float64{1, 2, inf, 4}},
			{Name: "band", X: []float64{1, 2}, Y: []float64{1, 2}, Lo: []float64{0, nan}, Hi: []float64{2, 3}},
			{Name: "short", X: []float64{1, 2}, Y: []float64{1, 2}, Lo: []float64{0}, Hi: []float64{2, 3}},
			{Name: "none", X: []float64{nan}, Y: []float64{1}},
		},
		Marks: []Mark{{X: inf, Label: "nowhere"}, {X: 1, Lo: nan, Hi: 2, Label: "there"}},
	}}
	b := encodeParams(t, p)
	if err := validateParams(t, b); err != nil {
		t.Error(err)
	}
	got, err := Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	want := []Plot{{ID: "t-x",
		Curves: []Curve{
			{Name: "whole", X: []float64{1, 2}, Y: []float64{1, 2}, Lo: []float64{0, 1}, Hi: []float64{2, 3}},
			{Name: "holes", X: []float64{1, 4}, Y: []float64{1, 4}},
			{Name: "band", X: []float64{1}, Y: []float64{1}, Lo: []float64{0}, Hi: []float64{2}},
			{Name: "short", X: []float64{1, 2}, Y: []float64{1, 2}},
		},
		Marks: []Mark{{X: 1, Label: "there"}},
	}}
	if diff := cmp.Diff(want, got.Fits[1].Plots); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(strings.Join(got.Warnings, "\n"), "hockney: plot t-x: 6 numbers not finite: left out") {
		t.Errorf("warnings %q", got.Warnings)
	}
}
