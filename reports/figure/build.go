package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/internal/dataset"
	"calib/internal/lists"
	"calib/internal/plot"
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
	Unique(out)
	return out
}

// Unique gives each figure an ID of its own.
func Unique(all []Figure) {
	taken := IDs{}
	for i := range all {
		all[i].ID = taken.Take(all[i].ID)
	}
}

// panelsOf gathers the plots of all fits. Plots of one ID are one panel, unless they have other units.
func panelsOf(p *params.Params, plots Plots) (out []*panel) {
	index := map[string]*panel{}
	for _, f := range p.Fits {
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
		measured := lists.Map(s.Points, func(r point) float64 { return r.Measured })
		lo, hi := slices.Min(measured), slices.Max(measured)
		says := fmt.Sprintf("%s as measured, and as fitted by model %s", s.Name, f.Model)
		if mean, _, n := params.Misfit(s); n > 0 {
			says += fmt.Sprintf(": %s apart on average", reports.Percent(mean))
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
