package reports

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"calib/fit"
)

// quality writes one row per model: how well it describes the data it was fitted to, and which data those were.
func (p *page) quality(ps *fit.Params) {
	if len(ps.Fits) == 0 {
		return
	}
	p.heading("Quality of each fit")
	t, says := QualityOf(ps)
	p.write(grid{Grid: t})
	for _, s := range says {
		p.line(2, "%s", s)
	}
}

func qualityRow(f *fit.Fit) []string {
	q := f.Quality
	if q == nil {
		q = &fit.Quality{MeanError: math.NaN(), MaxError: math.NaN()}
	}
	return []string{Clean(f.Model), Clean(f.Experiment), number(q.R2, 5), Percent(q.MeanError), Percent(q.MaxError),
		percentOf(q.LeaveOneOut), number(q.Condition, 3), count(float64(f.Used)), count(float64(f.LeftOut))}
}

// saw says which data a fit saw, and what it left out.
func saw(f *fit.Fit) []string {
	var out []string
	if len(f.Domain) > 0 {
		out = append(out, fmt.Sprintf("%s saw %s, on %s.", Clean(f.Model), domain(f.Domain), plural(len(f.Hosts), "host")))
	}
	if len(f.LeftOutWhy) == 0 {
		return out
	}
	var why []string
	for _, flag := range slices.Sorted(maps.Keys(f.LeftOutWhy)) {
		why = append(why, fmt.Sprintf("%s %s", count(float64(f.LeftOutWhy[flag])), Clean(flag)))
	}
	return append(out, fmt.Sprintf("%s leaves out %s of %s: %s.", Clean(f.Model), count(float64(f.LeftOut)),
		plural(f.Used+f.LeftOut, "timing"), strings.Join(why, ", ")))
}

func number(v *float64, digits int) string {
	if v == nil {
		return "–"
	}
	return strconv.FormatFloat(*v, 'g', digits, 64)
}

func percentOf(v *float64) string {
	if v == nil {
		return "–"
	}
	return Percent(*v)
}

// residuals writes one table per model and series: measured against fitted at each size.
func (p *page) residuals(ps *fit.Params) {
	headed := false
	for _, f := range ps.Fits {
		for _, series := range seriesOf(f) {
			if !headed {
				p.heading("Residuals")
				headed = true
			} else {
				p.WriteByte('\n')
			}
			p.series(f, series)
		}
	}
}

func seriesOf(f *fit.Fit) []string {
	var out []string
	for _, r := range f.Residuals {
		if !slices.Contains(out, r.Series) {
			out = append(out, r.Series)
		}
	}
	return out
}

func (p *page) series(f *fit.Fit, series string) {
	rows := slices.DeleteFunc(slices.Clone(f.Residuals), func(r fit.Residual) bool { return r.Series != series })
	slices.SortStableFunc(rows, func(a, b fit.Residual) int { return cmpFloat(a.X, b.X) })
	full := 0.01 // a bar is never scaled up from less than 1%
	for _, r := range rows {
		if rel := math.Abs(r.Relative()); rel > full && !math.IsInf(rel, 0) {
			full = rel
		}
	}
	p.line(2, "%s, %s; a full bar is %s.", p.paint(bold, Clean(f.Model)), Clean(series), Percent(full))
	g := grid{Grid: Grid{
		Header: []string{Clean(rows[0].XName), "timings", "measured", "95% interval", "fitted", "unit", "error", "fit high │ low"},
		Kinds:  []Kind{KindNumber, KindNumber, KindNumber, KindInterval, KindNumber, KindText, KindNumber}}}
	for _, r := range rows {
		unit := r.Unit
		if unit == "" {
			unit = "s"
		}
		m := Format(r.Measured, &[2]float64{r.Lo, r.Hi}, unit)
		g.add(count(r.X), count(float64(r.N)), m.Value, m.CI, m.Like(r.Fitted), Clean(m.Unit), signedPercent(r.Relative()),
			bar(r.Relative(), full))
	}
	p.write(g)
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// bar draws a relative error to the left (the fit is above the measurement) or right of zero; full is its full length.
func bar(rel, full float64) string {
	const half = 8
	if math.IsNaN(rel) {
		return ""
	}
	n := int(math.Round(half * min(math.Abs(rel)/full, 1)))
	if rel < 0 {
		return strings.Repeat(" ", half-n) + strings.Repeat("█", n) + "│"
	}
	return strings.Repeat(" ", half) + "│" + strings.Repeat("█", n)
}

// validation writes what was predicted and then measured, of patterns no fit has seen.
func (p *page) validation(ps *fit.Params) {
	if len(ps.Validation) == 0 {
		return
	}
	p.heading("Validation: patterns no fit has seen")
	p.write(grid{Grid: ValidationOf(ps)})
}
