package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/internal/dataset"
	"calib/params"
)

// Build makes every figure of p: those of its fits in the order of the fits, figures of one section together;
// predictions against measurements, where there are any; then the host × host matrices. Plots of one ID are one figure.
// plots are those of a fit; d adds quantiles of raw timings. Nil leaves them out.
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

// panelsOf gathers the plots of all fits. Plots of one ID are one panel.
func panelsOf(p *params.Params, plots Plots) (out []*panel) {
	if plots == nil {
		return nil
	}
	index := map[string]*panel{}
	for _, f := range p.Fits {
		all := seriesOf(f)
		for _, q := range plots(f) {
			if index[q.ID] == nil {
				index[q.ID] = &panel{fig: Figure{ID: Slug(q.ID), Section: q.Section, Title: q.Title, X: q.X, Y: q.Y}}
				out = append(out, index[q.ID])
			}
			index[q.ID].add(f, q, all)
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
