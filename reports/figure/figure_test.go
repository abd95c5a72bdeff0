package figure_test

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"calib/fit/models"
	"calib/internal/plot"
	"calib/params"
	"calib/reports/figure"
)

var id = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// tester is a test, or one draw of a property.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
}

// check is what every figure keeps.
func check(t tester, figures []figure.Figure) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range figures {
		if !id.MatchString(f.ID) || seen[f.ID] {
			t.Errorf("figure %q: not an ID, or there twice", f.ID)
		}
		seen[f.ID] = true
		if f.Section == "" || f.Title == "" || strings.TrimSpace(f.Says) == "" {
			t.Errorf("figure %s: section %q, title %q, says %q", f.ID, f.Section, f.Title, f.Says)
		}
		for _, p := range []*figure.Figure{&f, f.Below} {
			if p == nil {
				continue
			}
			if (p.Heat == nil) == (len(p.Traces) == 0) {
				t.Errorf("figure %s has %d traces and heat %v", p.ID, len(p.Traces), p.Heat != nil)
			}
			for _, tr := range p.Traces {
				checkTrace(t, p, tr)
			}
			for _, m := range p.Marks {
				if math.IsNaN(m.X) || math.IsInf(m.X, 0) || p.X.Log && (m.X <= 0 || m.Lo < m.Hi && m.Lo <= 0) {
					t.Errorf("figure %s: mark %+v", p.ID, m)
				}
			}
			if p.Heat != nil {
				checkHeat(t, p)
			}
		}
		if f.Below != nil && f.Below.X != f.X {
			t.Errorf("figure %s: the panel below has another X axis", f.ID)
		}
	}
}

func checkTrace(t tester, f *figure.Figure, tr figure.Trace) {
	t.Helper()
	if len(tr.Points) == 0 {
		t.Errorf("figure %s, %s: no points", f.ID, tr.Name)
	}
	if tr.Name == "" || tr.Group < 0 || !slices.Contains([]string{figure.Points, figure.Line, figure.Band}, tr.Kind) {
		t.Errorf("figure %s: trace %q of kind %q, group %d", f.ID, tr.Name, tr.Kind, tr.Group)
	}
	if !slices.IsSortedFunc(tr.Points, func(a, b figure.Point) int { return cmp.Compare(a.X, b.X) }) {
		t.Errorf("figure %s, %s: x does not ascend: %v", f.ID, tr.Name, tr.Points)
	}
	for _, q := range tr.Points {
		if math.IsNaN(q.X) || math.IsInf(q.X, 0) || math.IsInf(q.Y, 0) || f.X.Log && q.X <= 0 || f.Y.Log && q.Y <= 0 {
			t.Errorf("figure %s, %s: %+v on axes %+v, %+v", f.ID, tr.Name, q, f.X, f.Y)
		}
		if tr.Kind != figure.Band && !(q.Lo < q.Hi) {
			continue
		}
		if lo, hi := q.Lo, q.Hi; !(lo <= hi) || math.IsInf(lo, 0) || math.IsInf(hi, 0) || f.Y.Log && lo <= 0 {
			t.Errorf("figure %s, %s: interval %v to %v", f.ID, tr.Name, lo, hi)
		}
	}
}

func checkHeat(t tester, f *figure.Figure) {
	t.Helper()
	h := f.Heat
	if len(h.Z) != len(h.Names) || h.Unit == "" || h.Better == "" {
		t.Errorf("figure %s: %d rows, %d named, unit %q, better %q", f.ID, len(h.Z), len(h.Names), h.Unit, h.Better)
	}
	for _, row := range h.Z {
		if len(row) != len(h.Names) {
			t.Errorf("figure %s: a row of %d of %d", f.ID, len(row), len(h.Names))
		}
	}
	for _, c := range h.Flagged {
		if c.Row >= len(h.Names) || c.Col >= len(h.Names) {
			t.Errorf("figure %s: flag %+v", f.ID, c)
		}
	}
}

// A full run: every section is there, in order, and every residual series that a plot claims is drawn.
func TestBuild(t *testing.T) {
	p, d := simulation(t)
	figures := figure.Build(p, models.Plots, d)
	check(t, figures)
	var sections []string
	for _, f := range figures {
		t.Logf("%s / %s: %s", f.Section, f.ID, f.Says)
		if len(sections) == 0 || sections[len(sections)-1] != f.Section {
			sections = append(sections, f.Section)
		}
		if f.Heat == nil && (f.X.Name == "" || f.Y.Name == "") {
			t.Errorf("figure %s: axes %+v, %+v", f.ID, f.X, f.Y)
		}
	}
	want := []string{"Contention", "Ping-pong", "Cluster model", "Copies", "LogGP", "LoGPC", "Tuning", "Latency hiding",
		"Pairs"}
	if !slices.Equal(sections, want) {
		t.Errorf("sections %q, want %q", sections, want)
	}
	for _, f := range p.Fits {
		shown := map[string]int{}
		for _, q := range models.Plots(f) {
			if !slices.ContainsFunc(figures, func(g figure.Figure) bool { return g.ID == q.ID }) {
				t.Errorf("%s: no figure %s", f.Model, q.ID)
			}
			for _, s := range q.Series {
				shown[s]++
			}
		}
		for _, s := range f.Series {
			if shown[s.Name] != 1 && s.Quantity != params.TimerCost && s.Quantity != params.ProbedBuffer {
				t.Errorf("%s: series %q is in %d plots", f.Model, s.Name, shown[s.Name])
			}
		}
	}
}

// find returns the figure of an ID.
func find(t testing.TB, figures []figure.Figure, id string) figure.Figure {
	t.Helper()
	i := slices.IndexFunc(figures, func(f figure.Figure) bool { return f.ID == id })
	if i < 0 {
		t.Fatalf("no figure %s", id)
	}
	return figures[i]
}

func names(traces []figure.Trace, kind string) []string {
	var out []string
	for _, tr := range traces {
		if tr.Kind == kind {
			out = append(out, tr.Name)
		}
	}
	return out
}

// T(x): points once, a line for each model, quantiles behind, residuals of each model below.
func TestTimeBySize(t *testing.T) {
	p, d := simulation(t)
	f := find(t, figure.Build(p, models.Plots, d), "t-x")
	if got := names(f.Traces, figure.Points); !slices.Equal(got, []string{"measured"}) {
		t.Errorf("points %q", got)
	}
	want := []string{"hyperbola", "Hockney", "segments"}
	if got := names(f.Traces, figure.Line); !slices.Equal(got, want) {
		t.Errorf("lines %q", got)
	}
	bands := names(f.Traces, figure.Band)
	if len(bands) < 5 || !strings.HasPrefix(bands[0], "5–95% of ") || !strings.HasPrefix(bands[1], "25–75% of ") ||
		!slices.Contains(bands, "segments, 95%") {
		t.Errorf("bands %q", bands)
	}
	if got := names(f.Below.Traces, figure.Points); !slices.Equal(got, []string{"hyperbola", "Hockney", "segments"}) {
		t.Errorf("residuals %q", got)
	}
	groups := map[int]bool{}
	for _, tr := range f.Traces {
		if tr.Kind != figure.Band {
			groups[tr.Group] = true
		}
	}
	if len(groups) != 4 {
		t.Errorf("%d colours for the points and three lines", len(groups))
	}
	if without := find(t, figure.Build(p, models.Plots, nil),
		"t-x"); len(names(without.Traces, figure.Band)) != len(bands)-2 {
		t.Error("without samples there are quantiles")
	}
}

// Points are shown with their timings and intervals as far as they have them, and residuals below.
func TestPoints(t *testing.T) {
	p := &params.Params{Fits: []*params.Fit{{Model: "new", Series: []params.Series{
		{Name: "cost(k)", XName: "bytes", Points: []params.Residual{{X: 4, Measured: 2, Lo: 1.9, Hi: 2.1, Fitted: 2.2,
			N: 1200},
			{X: 1, Measured: 1, Lo: math.NaN(), Hi: math.NaN(), Fitted: 0.9, N: 0}}},
	}}}}
	got := figure.Build(p, func(*params.Fit) []plot.Plot {
		return []plot.Plot{{ID: "new cost(k)", Title: "t", Says: "x.", Series: []string{"cost(k)"}, Below: true}}
	}, nil)
	check(t, got)
	if len(got) != 1 || got[0].ID != "new-cost-k" || got[0].Section != "new" {
		t.Fatalf("%+v", got)
	}
	points := got[0].Traces[1]
	if q := points.Points; q[1].Text != "1,200 timings" || q[0].Text != "" || q[0].X != 1 || !math.IsNaN(q[0].Lo) ||
		q[1].Lo != 1.9 {
		t.Errorf("points %+v", points)
	}
	if below := got[0].Below.Traces[0].Points; math.Abs(below[0].Y-10) > 1e-9 || math.Abs(below[1].Y+10) > 1e-9 ||
		math.Abs(below[1].Hi+5) > 1e-9 {
		t.Errorf("residuals %+v", below)
	}
}

// Numbers that a logarithmic axis cannot hold.
func TestLogAxes(t *testing.T) {
	one := plot.Plot{ID: "p", Section: "s", Title: "t", Says: "x.",
		X: plot.Axis{Name: "x", Log: true}, Y: plot.Axis{Name: "y", Unit: "s", Log: true}, Series: []string{"a"},
		Curves: []plot.Curve{{Name: "c", X: []float64{0, 1, 2}, Y: []float64{1, -1, 2}, Lo: []float64{1, -2, -1},
			Hi: []float64{1, 1, 3}}},
		Marks: []plot.Mark{{X: 0, Label: "nowhere"}, {X: 2, Lo: -1, Hi: 3, Label: "here"}}}
	p := &params.Params{Fits: []*params.Fit{{Model: "m", Series: []params.Series{{Name: "a",
		Points: []params.Residual{{X: 1, Measured: 1, Lo: -1, Hi: 2, Fitted: 1},
			{X: 10, Measured: 2, Lo: 1, Hi: 3, Fitted: 2}}}}}}}
	plots := func(*params.Fit) []plot.Plot { return []plot.Plot{one} }
	f := figure.Build(p, plots, nil)
	check(t, f)
	if !f[0].X.Log || !f[0].Y.Log || len(f[0].Marks) != 1 || f[0].Marks[0].Lo != 0.2 {
		t.Errorf("axes %+v %+v, marks %+v", f[0].X, f[0].Y, f[0].Marks)
	}
	p.Fits[0].Series[0].Points[0].Measured = -1
	f = figure.Build(p, plots, nil)
	check(t, f)
	if f[0].Y.Log || !f[0].X.Log {
		t.Error("a negative measurement is not hidden by a logarithmic axis")
	}
	p.Fits[0].Series[0].Points[0].Measured, p.Fits[0].Series[0].Points[0].Fitted = 1.9, 1.9
	one.Curves = nil
	f = figure.Build(p, plots, nil)
	check(t, f)
	if f[0].Y.Log {
		t.Error("a logarithmic axis from 1.9 to 2")
	}
}
