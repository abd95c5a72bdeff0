package reports

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"calib/internal/params"
	"calib/internal/units"
)

// QualityOf returns how well each fit describes its data, and sentences: what the columns are, then which data each fit
// saw.
func QualityOf(p *params.Params) (Grid, []string) {
	g := newGrid(Column{"model", KindText}, Column{"experiment", KindText}, Column{"R²", KindNumber}, Column{"mean err", KindNumber},
		Column{"worst", KindNumber}, Column{"left-out", KindNumber}, Column{"cond", KindNumber}, Column{"timings", KindNumber}, Column{"unused", KindNumber})
	sentences := []string{"err: relative errors of the fit; left-out: mean error at sizes the fit has not seen; cond: condition number."}
	for _, f := range p.Fits {
		q := f.Quality
		if q == nil {
			q = &params.Quality{MeanError: math.NaN(), MaxError: math.NaN()}
		}
		leftOut := "–"
		if q.LeaveOneOut != nil {
			leftOut = Percent(*q.LeaveOneOut)
		}
		g.add(Clean(f.Model), Clean(f.Experiment), significant(q.R2, 5), Percent(q.MeanError), Percent(q.MaxError), leftOut,
			significant(q.Condition, 3), count(float64(f.Used)), count(float64(f.LeftOut)))
		sentences = append(sentences, dataOf(f)...)
	}
	return g, sentences
}

// significant prints a number with so many significant digits.
func significant(v *float64, digits int) string {
	if v == nil {
		return "–"
	}
	return strconv.FormatFloat(*v, 'g', digits, 64)
}

// dataOf says which data a fit saw, and what it left out.
func dataOf(f *params.Fit) []string {
	var out []string
	if len(f.Domain) > 0 {
		out = append(out, fmt.Sprintf("%s saw %s, on %s.", Clean(f.Model), domain(f.Domain), units.GroupedPlural(len(f.Hosts), "host")))
	}
	if len(f.LeftOutWhy) == 0 {
		return out
	}
	var why []string
	for _, flag := range slices.Sorted(maps.Keys(f.LeftOutWhy)) {
		why = append(why, fmt.Sprintf("%s %s", count(float64(f.LeftOutWhy[flag])), Clean(flag)))
	}
	return append(out, fmt.Sprintf("%s leaves out %s of %s: %s.", Clean(f.Model), count(float64(f.LeftOut)),
		units.GroupedPlural(f.Used+f.LeftOut, "timing"), strings.Join(why, ", ")))
}

func (p *page) quality(ps *params.Params) {
	if len(ps.Fits) == 0 {
		return
	}
	p.heading("Quality of each fit")
	g, sentences := QualityOf(ps)
	p.write(g)
	p.lines(sentences)
}

// residuals writes one table per model and series: measured against fitted at each point.
func (p *page) residuals(ps *params.Params) {
	headed := false
	for _, f := range ps.Fits {
		for _, s := range f.Series {
			if len(s.Points) == 0 {
				continue
			}
			if headed {
				p.WriteByte('\n')
			} else {
				p.heading("Residuals")
				headed = true
			}
			p.series(f.Model, s)
		}
	}
}

func (p *page) series(model string, s params.Series) {
	points := slices.Clone(s.Points)
	slices.SortStableFunc(points, func(a, b params.Residual) int { return cmp.Compare(a.X, b.X) })
	full := 0.01 // a bar is never scaled up from less than 1%
	for _, r := range points {
		if rel := math.Abs(r.Relative()); rel > full && !math.IsInf(rel, 0) {
			full = rel
		}
	}
	p.line(2, "%s, %s; a full bar is %s.", p.paint(bold, Clean(model)), Clean(s.Name), Percent(full))
	g := newGrid(Column{Clean(s.XName), KindNumber}, Column{"timings", KindNumber}, Column{"measured", KindNumber}, Column{"95% interval", KindInterval},
		Column{"fitted", KindNumber}, Column{"unit", KindText}, Column{"error", KindNumber}, Column{"fit high │ low", KindText})
	for _, r := range points {
		m := Format(r.Measured, &[2]float64{r.Lo, r.Hi}, cmp.Or(s.Unit, "s"))
		g.add(count(r.X), count(float64(r.N)), m.Value, m.CI, m.Like(r.Fitted), Clean(m.Unit), signedPercent(r.Relative()),
			bar(r.Relative(), full))
	}
	p.write(g)
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
