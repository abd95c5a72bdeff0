package reports

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"calib/internal/glossary"
	"calib/internal/lists"
	"calib/internal/units"
	"calib/params"
)

// QualityOf returns how well each fit describes its data, what the columns are, and which data each fit saw.
func QualityOf(p *params.Params) Section {
	g := NewGrid("model", "experiment", "R²/number", "mean err/number", "worst/number", "unseen/number", "cond/number",
		"timings/number", "unused/number")
	data := &More{Summary: "Which data each fit saw"}
	for _, f := range p.Fits {
		q := f.Quality
		if q == nil {
			q = &params.Quality{MeanError: math.NaN(), MaxError: math.NaN()}
		}
		leftOut := "–"
		if q.LeaveOneOut != nil {
			leftOut = Percent(*q.LeaveOneOut)
		}
		g.Add(Clean(f.Model), Clean(f.Experiment), significant(q.R2, 5), Percent(q.MeanError), Percent(q.MaxError), leftOut,
			significant(q.Condition, 3), count(float64(f.Used)), count(float64(f.LeftOut)))
		data.Items = append(data.Items, dataOf(f)...)
	}
	return Section{Title: "Quality of each fit", Tables: []Table{{Grid: g, More: data, Says: []string{
		"err: relative errors of the fit; unseen: mean error at sizes that a fit did not use; cond: condition " +
			"number."}}}}
}

func significant(v *float64, digits int) string {
	if v == nil {
		return "–"
	}
	return strconv.FormatFloat(*v, 'g', digits, 64)
}

func dataOf(f *params.Fit) []string {
	var out []string
	if len(f.Domain) > 0 {
		out = append(out, Clean(f.Model)+" saw "+domain(f.Domain)+", on "+units.Plural(len(f.Hosts), "host")+".")
	}
	var why []string
	for flag, n := range lists.ByKey(f.LeftOutWhy) {
		if n > 0 {
			is := " (" + glossary.Files().Flags[flag] + ")"
			why = append(why, count(float64(n))+" "+Clean(flag)+strings.TrimSuffix(is, " ()"))
		}
	}
	if len(why) > 0 {
		out = append(out, fmt.Sprintf("%s leaves out %s of %s: %s.", Clean(f.Model), count(float64(f.LeftOut)),
			units.Plural(f.Used+f.LeftOut, "timing"), strings.Join(why, ", ")))
	}
	return out
}

// residuals writes one table per model and series: measured against fitted at each point.
func (p *page) residuals(ps *params.Params) {
	headed := false
	for _, f := range ps.Fits {
		for _, s := range f.Series {
			switch {
			case len(s.Points) == 0:
				continue
			case headed:
				p.WriteByte('\n')
			default:
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
	_, worst, _ := params.Misfit(s)
	full := max(worst, 0.01) // a bar is never scaled up from less than 1%
	p.line(2, "%s, %s; a full bar is %s.", p.paint(bold, Clean(model)), Clean(s.Name), Percent(full))
	g := NewGrid(Clean(s.XName)+"/number", "timings/number", "measured/number", "95% interval/interval", "fitted/number",
		"unit", "error/number", "fit high │ low")
	for _, r := range points {
		m := Format(r.Measured, interval(r.Lo, r.Hi), cmp.Or(s.Unit, "s"))
		g.Add(count(r.X), count(float64(r.N)), m.Value, m.CI, m.Like(r.Fitted), Clean(m.Unit), signedPercent(r.Relative()),
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

// ValidationOf returns what was measured of patterns no fit has seen, what the first model predicted, and by how much
// each model is off; a star marks a measured time outside the predicted interval. A row with a slow host says so.
func ValidationOf(p *params.Params) Grid {
	models := params.ModelsOf(p.Validation)
	g := NewGrid("pattern", "hosts/number", "bytes/number", "measured/number", "predicted/number")
	g.Columns = append(g.Columns, lists.Map(models, func(m string) Column {
		return Column{strings.TrimSpace("error " + Clean(m)), KindNumber}
	})...)
	for rows := p.Validation; len(rows) > 0; {
		n := 1
		for n < len(rows) && rows[n].Pattern == rows[0].Pattern && rows[n].Hosts == rows[0].Hosts &&
			rows[n].Bytes == rows[0].Bytes {
			n++
		}
		v := rows[0]
		slow := map[bool]string{true: ", slow host"}[v.SlowHost]
		cells := []string{Clean(v.Pattern) + slow, strconv.Itoa(v.Hosts), count(float64(v.Bytes)),
			Format(v.Measured, nil, "s").String(), Format(v.Predicted, v.CI95, "s").String()}
		g.Add(append(cells, lists.Map(models, func(m string) string { return errorOf(rows[:n], m) })...)...)
		rows = rows[n:]
	}
	return g
}

// errorOf is the error of a model in rows of one measurement, "" where it has none.
func errorOf(rows []params.Validation, model string) string {
	for _, v := range rows {
		if v.Model != model {
			continue
		}
		text := signedPercent(v.Error)
		if v.CI95 != nil && (v.Measured < v.CI95[0] || v.Measured > v.CI95[1]) {
			text += " *"
		}
		return text
	}
	return ""
}

var operations = map[string]string{
	"p2p": "messages between two hosts", "bcast": "broadcasts", "scatter": "scatters", "gather": "gathers",
	"globalop": "global operations", "allreduce": "all-reductions", "barrier": "barriers", "incast": "many senders to one",
	"neighbour": "neighbour exchanges", "alltoall": "all-to-all exchanges",
	"dd": "domain decomposition", "mg": "time-parallel multigrid",
}

// unseen says what the best of the models predicts, and how well, and what it does not; "" without validation.
func unseen(p *params.Params) string {
	best, ok := params.BestOf(p.Validation)
	switch {
	case !ok && len(p.Validation) > 0:
		return "a slow host took part in all of it"
	case !ok && slices.ContainsFunc(p.Findings, func(f params.Finding) bool { return f.Code == params.NotPredicted }):
		return "not predicted, too many parameters are not known"
	case !ok:
		return ""
	}
	var well, badly []string
	worst, seen := 0.0, map[string]bool{} // of those that are predicted well
	for _, v := range p.Validation {
		if v.Model != best.Model || v.SlowHost || seen[v.Operation()] {
			continue
		}
		seen[v.Operation()] = true
		g, _ := params.GradeOf(p.Validation, best.Model, v.Operation())
		text := cmp.Or(operations[g.Operation], Clean(g.Operation)) + " off by " + Percent(g.Mean)
		if g.Predicted() {
			well, worst = append(well, text), max(worst, g.Mean)
		} else {
			badly = append(badly, text)
		}
	}
	model := " (model " + Clean(best.Model) + ")"
	for _, n := range []int{len(p.Validation), 0} { // named, where one line has room; the table below it has all
		text, few := Some(well, n, n), max(1, n)
		if n == 0 && len(well) > 0 {
			text = fmt.Sprintf("%s off by at most %s", units.Plural(len(well), "kind"), Percent(worst))
		}
		if len(badly) > 0 {
			text = strings.TrimPrefix(text+"; badly "+Some(badly, few, few), "; ")
		}
		if len("  Unseen traffic: "+text+model) <= minWidth {
			return text + model
		}
	}
	return fmt.Sprintf("%d kinds well, %d badly%s", len(well), len(badly), model)
}

func ValidationText(w io.Writer, p *params.Params, o Options) error {
	pg := newPage(o)
	pg.line(2, "Unseen traffic: %s", cmp.Or(unseen(p), "none was measured"))
	pg.heading("Validation: patterns no fit has seen")
	pg.write(ValidationOf(p))
	return pg.flush(w)
}
