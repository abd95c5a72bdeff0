package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/fit"
	"calib/internal/dataset"
)

// Build makes every figure of p: those of its fits in the order of the fits, figures of one section together; predictions
// against measurements, where there are any; then the host × host matrices. Plots of one ID are one figure. A residual
// series of two points or more that no plot of its fit claims gets a plain figure of its own; a single point is a number,
// and stands in the tables. d adds quantiles of raw timings; nil leaves them out.
//
// Build takes whatever a params.json may hold: what cannot be drawn is left out.
func Build(p *fit.Params, d *dataset.Dataset) []Figure {
	if p == nil {
		return nil
	}
	b := &builder{index: map[string]*panel{}}
	for _, f := range p.Fits {
		if f == nil {
			continue
		}
		claimed := map[string]bool{}
		for _, q := range f.Plots {
			b.add(f, q)
			for _, s := range q.Series {
				claimed[s] = true
			}
		}
		for _, q := range plainPlots(f, claimed) {
			b.add(f, q)
		}
	}
	raws := newQuantiler(d)
	var out []Figure
	for _, q := range b.panels {
		if fig, ok := q.figure(raws); ok {
			out = append(out, fig)
		}
	}
	out = append(bySection(out), validation(p.Validation)...)
	out = append(out, pairs(p)...)
	unique(out)
	return out
}

// builder gathers plots by ID.
type builder struct {
	panels []*panel
	index  map[string]*panel
}

// add puts a plot of f into the figure of its ID, or a new one. Plots of other units do not belong into one figure.
func (b *builder) add(f *fit.Fit, q fit.Plot) {
	key := fmt.Sprintf("%s\x00%s\x00%s", q.ID, q.X.Unit, q.Y.Unit)
	p := b.index[key]
	if p == nil {
		p = &panel{fig: Figure{ID: slug(q.ID), Section: q.Section, Title: q.Title, X: q.X, Y: q.Y}}
		b.index[key] = p
		b.panels = append(b.panels, p)
	}
	p.add(f, q)
}

// plainPlots are plots of the series of f that no plot of its own shows.
func plainPlots(f *fit.Fit, claimed map[string]bool) []fit.Plot {
	var out []fit.Plot
	for _, s := range seriesOf(f) {
		if claimed[s] {
			continue
		}
		r := residuals(f, s)
		if len(r) < 2 || r[0].X == r[len(r)-1].X {
			continue
		}
		unit := cmp.Or(r[0].Unit, "s")
		x := fit.Axis{Name: cmp.Or(r[0].XName, "x"), Log: r[0].X > 0 && r[len(r)-1].X > 30*r[0].X}
		if x.Name == "bytes" {
			x.Unit = "B"
		}
		sum, n := 0.0, 0
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, q := range r {
			lo, hi = math.Min(lo, q.Measured), math.Max(hi, q.Measured)
			if e := math.Abs(q.Relative()); finite(e) {
				sum, n = sum+e, n+1
			}
		}
		says := fmt.Sprintf("%s as measured, and as model %s has it.", s, f.Model)
		if n > 0 {
			says = fmt.Sprintf("%s as measured, and as model %s has it: %.2g%% apart on average.", s, f.Model, 100*sum/float64(n))
		}
		out = append(out, fit.Plot{
			ID: slug(f.Model + " " + s), Section: cmp.Or(f.Model, "Other"), Title: s, Says: says,
			X: x, Y: fit.Axis{Name: s, Unit: strings.TrimPrefix(unit, "1"), Log: lo > 0 && hi > 30*lo},
			Series: []string{s}, Below: true,
		})
	}
	return out
}

// seriesOf lists the residual series of f in the order of their first points.
func seriesOf(f *fit.Fit) []string {
	var out []string
	seen := map[string]bool{}
	for _, r := range f.Residuals {
		if !seen[r.Series] {
			seen[r.Series] = true
			out = append(out, r.Series)
		}
	}
	return out
}

// residuals returns the points of a series that can be drawn, ascending in x.
func residuals(f *fit.Fit, series string) []fit.Residual {
	var out []fit.Residual
	for _, r := range f.Residuals {
		if r.Series == series && finite(r.X) && finite(r.Measured) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b fit.Residual) int { return cmp.Compare(a.X, b.X) })
	return out
}

// bySection puts figures of one section together, sections in the order of their first figures.
func bySection(in []Figure) []Figure {
	order := map[string]int{}
	for _, f := range in {
		if _, ok := order[f.Section]; !ok {
			order[f.Section] = len(order)
		}
	}
	slices.SortStableFunc(in, func(a, b Figure) int { return cmp.Compare(order[a.Section], order[b.Section]) })
	return in
}

// unique numbers IDs that are there twice.
func unique(figures []Figure) {
	seen := map[string]bool{}
	take := func(id string) string {
		free := id
		for n := 2; seen[free]; n++ {
			free = fmt.Sprintf("%s-%d", id, n)
		}
		seen[free] = true
		return free
	}
	for i := range figures {
		figures[i].ID = take(figures[i].ID)
		if below := figures[i].Below; below != nil {
			below.ID = take(figures[i].ID + "-residuals")
		}
	}
}

// slug makes an ID of any text: lower-case letters and digits, joined by "-".
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return cmp.Or(strings.Join(words, "-"), "figure")
}

// finite reports whether v is a number that can be drawn: sums of numbers beyond 1e100 may not be.
func finite(v float64) bool { return math.Abs(v) <= 1e100 }
