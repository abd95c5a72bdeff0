package figure

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"calib/internal/dataset"
	"calib/internal/lists"
	"calib/internal/plot"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

// panel is a figure in the making: what the plots of one ID bring.
type panel struct {
	fig      Figure
	says     []string
	below    bool
	measured []*measured
	lines    []*line
	raw      *plot.Raw
}

// measured is the points of one series of an experiment, once however many fits are made of them.
type measured struct {
	experiment, series string
	points             []point // ascending in X
	lines              int     // that go with it
	group              int
}

// line is a line through a series, or beside all of them.
type line struct {
	name  string
	curve curve
	of    *measured // nil for a curve of no series
	own   []point   // the series as the fit of this line has it
	group int
}

// add joins a plot of f, whose series are all.
func (p *panel) add(f *params.Fit, q plot.Plot, all []params.Series) {
	p.fig.Section = cmp.Or(p.fig.Section, q.Section, f.Model, "Other")
	p.fig.Title = cmp.Or(p.fig.Title, q.Title, q.ID, "Figure")
	p.below = p.below || q.Below
	if s := strings.TrimSpace(q.Says); s != "" && !strings.Contains(strings.Join(p.says, " "), s) {
		p.says = append(p.says, s)
	}
	used := map[int]bool{}
	for _, name := range q.Series {
		i := slices.IndexFunc(all, func(s params.Series) bool { return s.Name == name })
		if i < 0 || len(all[i].Points) == 0 {
			continue
		}
		own, alone := all[i].Points, len(q.Series) == 1
		l := &line{name: name + ", fitted", of: p.measuredOf(f.Experiment, name, own), own: own}
		if alone {
			l.name = cmp.Or(q.Line, f.Model, "fitted")
		}
		c := slices.IndexFunc(q.Curves, func(c curve) bool { return c.Name == name || alone && c.Name == l.name })
		switch {
		case c >= 0: // the curve is the fitted line at more places
			l.curve, used[c] = q.Curves[c], true
		case !p.repeats(own):
			for _, r := range own {
				l.curve.X, l.curve.Y = append(l.curve.X, r.X), append(l.curve.Y, r.Fitted)
			}
			if noModel(own) && len(q.Series) > 1 {
				l.name = name + ", joined"
			}
		}
		l.of.lines++
		p.lines = append(p.lines, l)
	}
	for i, c := range q.Curves {
		if !used[i] {
			p.lines = append(p.lines, &line{name: cmp.Or(c.Name, "line"), curve: c})
		}
	}
	for _, m := range q.Marks {
		if !slices.Contains(p.fig.Marks, m) {
			p.fig.Marks = append(p.fig.Marks, m)
		}
	}
	p.raw = cmp.Or(p.raw, q.Raw) // one panel has one
}

// repeats reports whether the fitted values of own are part of a line that is there: measurements made in several ways
// may be compared with one function, which is drawn once.
func (p *panel) repeats(own []point) bool {
	return slices.ContainsFunc(p.lines, func(l *line) bool {
		return len(l.curve.X) > 0 && !slices.ContainsFunc(own, func(r point) bool {
			at, have := slices.BinarySearchFunc(l.own, r.X, byX)
			return !have || l.own[at].Fitted != r.Fitted
		})
	})
}

func byX(a point, x float64) int { return cmp.Compare(a.X, x) }

func noModel(own []point) bool {
	return !slices.ContainsFunc(own, func(r point) bool { return r.Fitted != r.Measured })
}

// measuredOf returns the series of an experiment, whose points own are the same in every fit of it.
func (p *panel) measuredOf(experiment, series string, own []point) *measured {
	i := slices.IndexFunc(p.measured, func(m *measured) bool { return m.experiment == experiment && m.series == series })
	if i < 0 {
		i = len(p.measured)
		p.measured = append(p.measured, &measured{experiment: experiment, series: series, points: own})
	}
	return p.measured[i]
}

func (p *panel) figure(d dataset.Source) (Figure, bool) {
	fig := p.fig
	p.group()
	fig.Says = cmp.Or(strings.Join(p.says, " "), fig.Title+".")
	fig.Traces = quantileBands(d, p.raw)
	var lines []Trace
	for _, l := range p.lines {
		t, banded := l.trace()
		if len(t.Points) < 2 {
			continue
		}
		if banded {
			band := t
			band.Name, band.Kind = l.name+", 95%", Band
			fig.Traces = append(fig.Traces, band)
		}
		lines = append(lines, t)
	}
	fig.Traces = append(fig.Traces, lines...)
	points := func(m *measured) Trace { return m.trace(len(p.measured) == 1) }
	fig.Traces = append(fig.Traces, lists.Map(p.measured, points)...)
	if p.below {
		fig.Below = p.residuals()
	}
	Settle(&fig)
	return fig, len(fig.Traces) > 0
}

// group gives colours: a series and its line have one, but where several fits share the points each line has its own.
func (p *panel) group() {
	next := len(p.measured)
	for i, m := range p.measured {
		m.group = i
	}
	for _, l := range p.lines {
		if l.of != nil && l.of.lines == 1 {
			l.group = l.of.group
		} else {
			l.group = next
			next++
		}
	}
}

func (m *measured) trace(alone bool) Trace {
	t := Trace{Name: cmp.Or(m.series, "measured"), Kind: Points, Group: m.group}
	if alone {
		t.Name = "measured"
	}
	for _, r := range m.points {
		words := ""
		if r.N > 0 {
			words = units.Grouped(r.N) + " timings"
		}
		t.Points = append(t.Points, Point{r.X, r.Measured, math.Min(r.Lo, r.Measured), math.Max(r.Hi, r.Measured), words})
	}
	return t
}

// trace is the line where it has an x, ascending in it, banded where the curve has the ends of its 95% band.
func (l *line) trace() (t Trace, banded bool) {
	c := l.curve
	banded = len(c.X) > 0 && len(c.Lo) == len(c.X) && len(c.Hi) == len(c.X) && len(c.Y) == len(c.X)
	t = Trace{Name: l.name, Kind: Line, Group: l.group}
	for i := range min(len(c.X), len(c.Y)) {
		q := Point{X: c.X[i], Y: c.Y[i]}
		if banded {
			q.Lo, q.Hi = c.Lo[i], c.Hi[i]
		}
		t.Points = append(t.Points, q)
	}
	t.Points = slices.DeleteFunc(t.Points, func(q Point) bool { return !finite(q.X) })
	slices.SortStableFunc(t.Points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	return t, banded
}

// residuals is the panel of relative residuals: what is measured less what is fitted, as a share of what is measured.
func (p *panel) residuals() *Figure {
	out := &Figure{X: p.fig.X, Y: Axis{Name: "residual", Unit: "%"}}
	for _, l := range p.lines {
		if l.of == nil || noModel(l.own) {
			continue
		}
		t := Trace{Name: l.name, Kind: Points, Group: l.group}
		for _, r := range l.own {
			v := 100 * r.Relative()
			if !finite(v) {
				continue
			}
			lo, hi := 100*(r.Lo-r.Fitted)/r.Measured, 100*(r.Hi-r.Fitted)/r.Measured
			t.Points = append(t.Points, Point{X: r.X, Y: v, Lo: math.Min(lo, hi), Hi: math.Max(lo, hi)})
		}
		out.Traces = append(out.Traces, t) // Settle leaves out what has no points
	}
	return out
}

// brokenFlags mark batches that were not exchanges at all.
var brokenFlags = []string{dataset.FlagDeadlock, dataset.FlagTimeout, dataset.FlagUnsteady}

// timingsOf gathers the timings of r [ns], of every pair of hosts, by the value of the factor, and says how many there
// are and how many were left out.
func timingsOf(d dataset.Source, r plot.Raw) (at map[int64][]float64, words string) {
	at = map[int64][]float64{}
	count, again, broken := 0, 0, 0
	for _, s := range d.Select(r.Experiment, "") {
		x, ok := s.Point[r.Factor]
		switch {
		case !ok || !fixed(s.Point, r.Fixed):
		case s.Has(dataset.FlagRetrans):
			again += len(s.NS)
		case slices.ContainsFunc(brokenFlags, s.Has):
			broken += len(s.NS)
		default:
			count += len(s.NS)
			at[x] = append(at[x], stats.Floats(s.NS)...)
		}
	}
	var left []string
	if again > 0 {
		left = append(left, units.Grouped(again)+" with retransmissions")
	}
	if broken > 0 {
		left = append(left, units.Grouped(broken)+" broken off")
	}
	words = units.Grouped(count) + " timings"
	if len(left) > 0 {
		words += " (left out: " + strings.Join(left, ", ") + ")"
	}
	return at, words
}

func fixed(p dataset.Point, want map[string]int64) bool {
	for k, v := range want {
		if have, ok := p[k]; !ok || have != v {
			return false
		}
	}
	return true
}

// quantileBands are the middle 90% and 50% of the timings [s] at each value of the factor; none without d or timings.
func quantileBands(d dataset.Source, r *plot.Raw) (out []Trace) {
	if d == nil || r == nil {
		return nil
	}
	timings, words := timingsOf(d, *r)
	factors := slices.Sorted(maps.Keys(timings))
	for _, x := range factors {
		slices.Sort(timings[x])
	}
	for _, b := range []struct {
		name string
		p    float64
	}{{"5–95% of ", 0.05}, {"25–75% of ", 0.25}} {
		t := Trace{Name: b.name + words, Kind: Band}
		for _, x := range factors {
			at := func(p float64) float64 { return stats.SortedQuantile(timings[x], p) * 1e-9 }
			t.Points = append(t.Points, Point{X: float64(x), Y: at(0.5), Lo: at(b.p), Hi: at(1 - b.p)})
		}
		out = append(out, t)
	}
	return out
}
