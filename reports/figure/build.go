package figure

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"calib/internal/dataset"
	"calib/internal/plot"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
	"calib/reports"
)

// Build makes every figure of p: those of its fits in the order of the fits, figures of one section together;
// predictions against measurements, where there are any; then the host × host matrices. Plots of one ID are one figure.
// A residual series of two points or more that no plot of its fit shows gets a plain figure of its own; a single point
// is a number, and stands in the tables. plots are those of a fit; d adds quantiles of raw timings. Nil leaves them
// out.
//
// Build takes whatever a params.json may hold: what cannot be drawn is left out.
func Build(p *params.Params, plots Plots, d dataset.Source) (out []Figure) {
	if p == nil {
		return nil
	}
	order := map[string]int{} // of sections, by their first figures
	for _, q := range panelsOf(p, plots) {
		if f, ok := q.figure(d); ok {
			out = append(out, f)
			if _, ok := order[f.Section]; !ok {
				order[f.Section] = len(order)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Figure) int { return cmp.Compare(order[a.Section], order[b.Section]) })
	out = slices.Concat(out, validation(p.Validation), pairs(p))
	taken := IDs{}
	for i := range out {
		out[i].ID = taken.Take(out[i].ID)
	}
	return out
}

// panelsOf gathers the plots of all fits. Plots of one ID are one panel, unless they have other units.
func panelsOf(p *params.Params, plots Plots) (out []*panel) {
	index := map[string]*panel{}
	for _, f := range p.Fits {
		if f == nil {
			continue
		}
		all, own := seriesOf(f), []plot.Plot(nil)
		if plots != nil {
			own = plots(f)
		}
		for _, q := range slices.Concat(own, plainPlots(f, own, all)) {
			key := fmt.Sprintf("%s\x00%s\x00%s", q.ID, q.X.Unit, q.Y.Unit)
			if index[key] == nil {
				index[key] = &panel{fig: Figure{ID: Slug(q.ID), Section: q.Section, Title: q.Title, X: q.X, Y: q.Y}}
				out = append(out, index[key])
			}
			index[key].add(f, q, all)
		}
	}
	return out
}

// seriesOf lists the series of f with the points that can be drawn, ascending in x.
func seriesOf(f *params.Fit) []params.Series {
	out := slices.Clone(f.Series)
	for i := range out {
		points := slices.Clone(out[i].Points)
		out[i].Points = slices.DeleteFunc(points, func(r point) bool { return !finite(r.X) || !finite(r.Measured) })
		slices.SortStableFunc(out[i].Points, func(a, b point) int { return cmp.Compare(a.X, b.X) })
	}
	return out
}

// plainPlots are plots of the series of f that none of its own shows.
func plainPlots(f *params.Fit, own []plot.Plot, all []params.Series) (out []plot.Plot) {
	for _, s := range all {
		n := len(s.Points)
		shown := slices.ContainsFunc(own, func(q plot.Plot) bool { return slices.Contains(q.Series, s.Name) })
		if shown || n < 2 || s.Points[0].X == s.Points[n-1].X {
			continue
		}
		x := Axis{Name: cmp.Or(s.XName, "x"), Log: s.Points[0].X > 0 && s.Points[n-1].X > 30*s.Points[0].X}
		if x.Name == "bytes" {
			x.Unit = "B"
		}
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, q := range s.Points {
			lo, hi = math.Min(lo, q.Measured), math.Max(hi, q.Measured)
		}
		says := fmt.Sprintf("%s as measured, and as fitted by model %s", s.Name, f.Model)
		if mean, _, n := params.Misfit(s); n > 0 {
			says += fmt.Sprintf(": %.2g%% apart on average", 100*mean)
		}
		out = append(out, plot.Plot{
			ID: Slug(f.Model + " " + s.Name), Section: cmp.Or(f.Model, "Other"), Title: s.Name, Says: says + ".",
			X: x, Y: Axis{Name: s.Name, Unit: strings.TrimPrefix(cmp.Or(s.Unit, "s"), "1"), Log: lo > 0 && hi > 30*lo},
			Series: []string{s.Name}, Below: true,
		})
	}
	return out
}

type IDs map[string]bool

// Take returns id, with a number behind it where id is in use.
func (taken IDs) Take(id string) string {
	free := id
	for n := 2; taken[free]; n++ {
		free = fmt.Sprintf("%s-%d", id, n)
	}
	taken[free] = true
	return free
}

// Slug makes an ID of any text: lower-case letters and digits, joined by "-".
func Slug(s string) string {
	w := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return cmp.Or(strings.Join(w, "-"), "figure")
}

// finite reports whether v is a number that can be drawn: sums of numbers beyond 1e100 may not be.
func finite(v float64) bool { return math.Abs(v) <= 1e100 }

// panel is a figure in the making: what the plots of one ID bring.
type panel struct {
	fig      Figure
	says     []string
	below    bool
	measured []*measured
	lines    []*line
	raws     []plot.Raw
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
	p.fig.Marks = addNew(p.fig.Marks, q.Marks, func(m Mark) Mark { return m })
	if q.Raw != nil {
		p.raws = addNew(p.raws, []plot.Raw{*q.Raw}, func(r plot.Raw) string {
			return fmt.Sprintf("%q %q %q %s", r.Experiment, r.Phase, r.Factor, dataset.Point(r.Fixed).Key())
		})
	}
}

// addNew appends those of more whose key none has.
func addNew[T any, K comparable](all, more []T, key func(T) K) []T {
	for _, v := range more {
		if !slices.ContainsFunc(all, func(o T) bool { return key(o) == key(v) }) {
			all = append(all, v)
		}
	}
	return all
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

// noModel reports whether what is fitted is what was measured.
func noModel(own []point) bool {
	return !slices.ContainsFunc(own, func(r point) bool { return r.Fitted != r.Measured })
}

// measuredOf returns the points of a series, to which it adds those of own that are new.
func (p *panel) measuredOf(experiment, series string, own []point) *measured {
	i := slices.IndexFunc(p.measured, func(m *measured) bool { return m.experiment == experiment && m.series == series })
	if i < 0 {
		i = len(p.measured)
		p.measured = append(p.measured, &measured{experiment: experiment, series: series, points: slices.Clone(own)})
	}
	m := p.measured[i]
	for _, r := range own {
		if at, have := slices.BinarySearchFunc(m.points, r.X, byX); !have {
			m.points = slices.Insert(m.points, at, r)
		}
	}
	return m
}

func (p *panel) figure(d dataset.Source) (Figure, bool) {
	fig := p.fig
	p.group()
	fig.Says = cmp.Or(strings.Join(p.says, " "), fig.Title+".")
	for _, r := range p.raws {
		fig.Traces = append(fig.Traces, quantileBands(d, r)...)
	}
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
	for _, m := range p.measured {
		fig.Traces = append(fig.Traces, m.trace(len(p.measured) == 1))
	}
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
			words = units.Grouped(int64(r.N)) + " timings"
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
// It is nil where no line is a model of its points.
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
		if len(t.Points) > 0 {
			out.Traces = append(out.Traces, t)
		}
	}
	if len(out.Traces) == 0 {
		return nil
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
	for _, s := range d.Select(r.Experiment, r.Phase) {
		x, ok := s.Point[r.Factor]
		switch {
		case !ok || !fixed(s.Point, r.Fixed):
		case s.Has(dataset.FlagRetrans):
			again += len(s.NS)
		case slices.ContainsFunc(brokenFlags, s.Has):
			broken += len(s.NS)
		default:
			count += len(s.NS)
			for _, ns := range s.NS {
				at[x] = append(at[x], float64(ns))
			}
		}
	}
	var left []string
	if again > 0 {
		left = append(left, units.Grouped(int64(again))+" with retransmissions")
	}
	if broken > 0 {
		left = append(left, units.Grouped(int64(broken))+" broken off")
	}
	words = units.Grouped(int64(count)) + " timings"
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
func quantileBands(d dataset.Source, r plot.Raw) (out []Trace) {
	if d == nil {
		return nil
	}
	timings, words := timingsOf(d, r)
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
		if len(t.Points) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// validation draws what was predicted against what was then measured, one colour a model; none without entries.
func validation(in []params.Validation) []Figure {
	rows := slices.DeleteFunc(slices.Clone(in), func(v params.Validation) bool {
		return v.SlowHost || !(v.Measured > 0 && v.Predicted > 0) ||
			!finite(v.Measured) || !finite(v.Predicted)
	})
	if len(rows) == 0 {
		return nil
	}
	f := Figure{ID: "validation", Section: "Validation", Title: "Predicted against measured",
		X: Axis{Name: "measured", Unit: "s", Log: true}, Y: Axis{Name: "predicted", Unit: "s", Log: true}}
	var says []string
	models := params.ModelsOf(rows)
	for _, m := range models {
		g, _ := params.GradeOf(rows, m, "")
		says = append(says, cmp.Or(m, "predictions")+" "+reports.Percent(g.Mean)+" on average, "+
			reports.Percent(g.Worst)+" at most")
	}
	f.Says = "Patterns that no fit has seen. Distance from the line: " + strings.Join(says, "; ") + "."
	slices.SortStableFunc(rows, func(a, b params.Validation) int { return cmp.Compare(a.Measured, b.Measured) })
	lo, hi := rows[0].Measured, rows[len(rows)-1].Measured
	for _, v := range rows {
		lo, hi = math.Min(lo, v.Predicted), math.Max(hi, v.Predicted)
	}
	f.Traces = append(f.Traces, Trace{Name: "as predicted", Kind: Line,
		Points: []Point{{X: lo * 0.9, Y: lo * 0.9}, {X: hi * 1.1, Y: hi * 1.1}}})
	for i, name := range models {
		f.Traces = append(f.Traces, modelTrace(name, i+1, rows))
	}
	Settle(&f)
	return []Figure{f}
}

// modelTrace is the points of one model with the intervals of their predictions. rows ascend in what was measured.
func modelTrace(name string, group int, rows []params.Validation) Trace {
	t := Trace{Name: cmp.Or(name, "predicted"), Kind: Points, Group: group}
	for _, v := range rows {
		if v.Model != name {
			continue
		}
		q := Point{X: v.Measured, Y: v.Predicted, Text: fmt.Sprintf("%s, %d hosts, %s: predicted %s, measured %s",
			cmp.Or(v.Pattern, "pattern"), v.Hosts, units.Bytes(v.Bytes), units.Format(v.Predicted, "s"),
			units.Format(v.Measured, "s"))}
		if ci := v.CI95; ci != nil && ci[0] <= v.Predicted && v.Predicted <= ci[1] {
			q.Lo, q.Hi = ci[0], ci[1]
		}
		t.Points = append(t.Points, q)
	}
	return t
}
