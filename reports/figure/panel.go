package figure

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"calib/fit"
	"calib/internal/units"
)

// panel is a figure in the making: what the plots of one ID bring.
type panel struct {
	fig    Figure
	says   []string
	below  bool
	points []*pointSet
	lines  []*lineSet
	marks  []fit.Mark
	raws   []fit.Raw
}

// pointSet is the measured points of one series, once however many fits are made of them.
type pointSet struct {
	experiment, series string
	points             []fit.Residual // ascending in x
	lines              int
	group              int
}

// lineSet is a line through, or beside, a series.
type lineSet struct {
	name  string
	curve fit.Curve
	of    *pointSet      // nil for a curve of no series
	rest  []fit.Residual // the series as this fit has it
	group int
}

// add joins a plot of f.
func (p *panel) add(f *fit.Fit, q fit.Plot) {
	p.fig.Section, p.fig.Title = cmp.Or(p.fig.Section, q.Section, f.Model, "Other"), cmp.Or(p.fig.Title, q.Title, q.ID, "Figure")
	p.below = p.below || q.Below
	if s := strings.TrimSpace(q.Says); s != "" && !strings.Contains(strings.Join(p.says, " "), s) {
		p.says = append(p.says, s)
	}
	used := map[int]bool{}
	for _, s := range q.Series {
		rest := residuals(f, s)
		if len(rest) == 0 {
			continue
		}
		set := p.set(f.Experiment, s, rest)
		l := &lineSet{name: lineName(f, q, s), of: set, rest: rest}
		i := slices.IndexFunc(q.Curves, func(c fit.Curve) bool { return c.Name == s || len(q.Series) == 1 && c.Name == l.name })
		switch {
		case i >= 0: // the curve is the fitted line, and closer
			l.curve, used[i] = q.Curves[i], true
		case !p.repeats(rest):
			for _, r := range rest {
				l.curve.X, l.curve.Y = append(l.curve.X, r.X), append(l.curve.Y, r.Fitted)
			}
			if table(rest) && len(q.Series) > 1 {
				l.name = s + ", joined"
			}
		}
		set.lines++
		p.lines = append(p.lines, l)
	}
	for i, c := range q.Curves {
		if !used[i] {
			p.lines = append(p.lines, &lineSet{name: cmp.Or(c.Name, "line"), curve: c})
		}
	}
	for _, m := range q.Marks {
		if finite(m.X) && !slices.Contains(p.marks, m) {
			p.marks = append(p.marks, m)
		}
	}
	if q.Raw != nil && !slices.ContainsFunc(p.raws, func(r fit.Raw) bool { return rawKey(r) == rawKey(*q.Raw) }) {
		p.raws = append(p.raws, *q.Raw)
	}
}

// lineName names the line of a series in the legend.
func lineName(f *fit.Fit, q fit.Plot, series string) string {
	if len(q.Series) == 1 {
		return cmp.Or(q.Line, f.Model, "fitted")
	}
	return series + ", fitted"
}

// repeats reports whether a line through the fitted values of rest is part of one that is there: measurements made in
// several ways may be held against one function, which is drawn once.
func (p *panel) repeats(rest []fit.Residual) bool {
	return slices.ContainsFunc(p.lines, func(l *lineSet) bool {
		return len(l.curve.X) > 0 && !slices.ContainsFunc(rest, func(r fit.Residual) bool {
			at, have := slices.BinarySearchFunc(l.rest, r.X, func(a fit.Residual, x float64) int { return cmp.Compare(a.X, x) })
			return !have || l.rest[at].Fitted != r.Fitted
		})
	})
}

// table reports whether there is no model: what is fitted is what was measured.
func table(rest []fit.Residual) bool {
	return !slices.ContainsFunc(rest, func(r fit.Residual) bool { return r.Fitted != r.Measured })
}

// set returns the points of a series with those of rest that it does not have yet.
func (p *panel) set(experiment, series string, rest []fit.Residual) *pointSet {
	i := slices.IndexFunc(p.points, func(s *pointSet) bool { return s.experiment == experiment && s.series == series })
	if i < 0 {
		p.points = append(p.points, &pointSet{experiment: experiment, series: series, points: slices.Clone(rest)})
		return p.points[len(p.points)-1]
	}
	set := p.points[i]
	for _, r := range rest {
		at, have := slices.BinarySearchFunc(set.points, r.X, func(a fit.Residual, x float64) int { return cmp.Compare(a.X, x) })
		if !have {
			set.points = slices.Insert(set.points, at, r)
		}
	}
	return set
}

// figure draws the panel; false where there is nothing to draw.
func (p *panel) figure(raws *quantiler) (Figure, bool) {
	fig := p.fig
	p.group()
	fig.Says = strings.Join(p.says, " ")
	if fig.Says == "" {
		fig.Says = fig.Title + "."
	}
	for _, r := range p.raws {
		fig.Traces = append(fig.Traces, raws.bands(r)...)
	}
	for _, l := range p.lines {
		fig.Traces = append(fig.Traces, l.band()...)
	}
	for _, l := range p.lines {
		fig.Traces = append(fig.Traces, l.line()...)
	}
	for _, s := range p.points {
		name := s.series
		if len(p.points) == 1 {
			name = "measured"
		}
		fig.Traces = append(fig.Traces, s.trace(cmp.Or(name, "measured")))
	}
	fig.Marks = slices.Clone(p.marks)
	if p.below {
		fig.Below = p.residuals()
	}
	Settle(&fig)
	return fig, len(fig.Traces) > 0
}

// group gives colours: a series and its line have one, but where several fits share the points each line has its own.
func (p *panel) group() {
	next := 0
	take := func() int { next++; return next - 1 }
	for _, s := range p.points {
		s.group = take()
	}
	for _, l := range p.lines {
		if l.of != nil && l.of.lines == 1 {
			l.group = l.of.group
		} else {
			l.group = take()
		}
	}
}

// trace is the measured points with their intervals.
func (s *pointSet) trace(name string) Trace {
	t := Trace{Name: name, Kind: Points, Group: s.group}
	interval, text := false, false
	for _, r := range s.points {
		lo, hi := math.Min(r.Lo, r.Measured), math.Max(r.Hi, r.Measured)
		interval, text = interval || lo < hi, text || r.N > 0
		words := ""
		if r.N > 0 {
			words = units.Grouped(int64(r.N)) + " timings"
		}
		t.X, t.Y, t.Lo, t.Hi = append(t.X, r.X), append(t.Y, r.Measured), append(t.Lo, lo), append(t.Hi, hi)
		t.Text = append(t.Text, words)
	}
	if !interval {
		t.Lo, t.Hi = nil, nil
	}
	if !text {
		t.Text = nil
	}
	return t
}

// line is the line itself; none without two points.
func (l *lineSet) line() []Trace {
	t := Trace{Name: l.name, Kind: Line, Group: l.group}
	for _, i := range l.drawn() {
		t.X, t.Y = append(t.X, l.curve.X[i]), append(t.Y, l.curve.Y[i])
	}
	if len(t.X) < 2 {
		return nil
	}
	return []Trace{t}
}

// band is the 95% band of the line, where it has one.
func (l *lineSet) band() []Trace {
	n := len(l.curve.X)
	if n == 0 || len(l.curve.Lo) != n || len(l.curve.Hi) != n || len(l.curve.Y) != n {
		return nil
	}
	t := Trace{Name: l.name + ", 95%", Kind: Band, Group: l.group}
	for _, i := range l.drawn() {
		t.X, t.Y = append(t.X, l.curve.X[i]), append(t.Y, l.curve.Y[i])
		t.Lo, t.Hi = append(t.Lo, l.curve.Lo[i]), append(t.Hi, l.curve.Hi[i])
	}
	if len(t.X) < 2 {
		return nil
	}
	return []Trace{t}
}

// drawn lists the points of the curve that have an x, ascending in it.
func (l *lineSet) drawn() []int {
	var at []int
	for i := range min(len(l.curve.X), len(l.curve.Y)) {
		if finite(l.curve.X[i]) {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(l.curve.X[a], l.curve.X[b]) })
	return at
}

// residuals is the panel of relative residuals; nil where no line is a model of its points.
func (p *panel) residuals() *Figure {
	out := &Figure{Section: p.fig.Section, Title: p.fig.Title + ": residuals", X: p.fig.X,
		Says: "What is measured less what is fitted, as a share of what is measured: points should lie around zero without a pattern.",
		Y:    fit.Axis{Name: "residual", Unit: "%"}}
	for _, l := range p.lines {
		if l.of == nil || table(l.rest) {
			continue
		}
		t := Trace{Name: l.name, Kind: Points, Group: l.group}
		for _, r := range l.rest {
			v := 100 * r.Relative()
			if !finite(v) {
				continue
			}
			lo, hi := 100*(r.Lo-r.Fitted)/r.Measured, 100*(r.Hi-r.Fitted)/r.Measured
			t.X, t.Y = append(t.X, r.X), append(t.Y, v)
			t.Lo, t.Hi = append(t.Lo, math.Min(lo, hi)), append(t.Hi, math.Max(lo, hi))
		}
		if len(t.X) > 0 {
			out.Traces = append(out.Traces, t)
		}
	}
	if len(out.Traces) == 0 {
		return nil
	}
	return out
}
