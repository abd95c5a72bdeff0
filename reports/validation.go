package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"calib/internal/params"
)

// sameTraffic reports whether two rows are predictions of the same measurement.
func sameTraffic(a, b params.Validation) bool {
	return a.Pattern == b.Pattern && a.Hosts == b.Hosts && a.Bytes == b.Bytes
}

// ValidationOf returns what was measured of patterns no fit has seen, what the first model predicted, and by how much
// each model is off; a star marks a measured time outside the predicted interval. A row with a slow host says so.
func ValidationOf(p *params.Params) Grid {
	models := params.ModelsOf(p.Validation)
	columns := []Column{{"pattern", KindText}, {"hosts", KindNumber}, {"bytes", KindNumber}, {"measured", KindNumber}, {"predicted", KindNumber}}
	for _, m := range models {
		columns = append(columns, Column{strings.TrimSpace("error " + Clean(m)), KindNumber})
	}
	g := newGrid(columns...)
	for rows := p.Validation; len(rows) > 0; {
		n := 1
		for n < len(rows) && sameTraffic(rows[0], rows[n]) {
			n++
		}
		v := rows[0]
		slow := map[bool]string{true: ", slow host"}[v.SlowHost]
		cells := []string{Clean(v.Pattern) + slow, strconv.Itoa(v.Hosts), count(float64(v.Bytes)), Format(v.Measured, nil, "s").String(),
			Format(v.Predicted, v.CI95, "s").String()}
		for _, m := range models {
			cells = append(cells, errorOf(rows[:n], m))
		}
		g.add(cells...)
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

// operations are the words for what patterns do.
var operations = map[string]string{
	"p2p": "messages between two hosts", "bcast": "broadcasts", "globalop": "global operations", "allreduce": "all-reductions", "barrier": "barriers",
	"neighbour": "neighbour exchanges", "gather": "gathers", "incast": "many senders to one", "scatter": "scatters", "alltoall": "all-to-all exchanges",
	"dd": "domain decomposition", "mg": "time-parallel multigrid",
}

// unseen says what the best of the models predicts, and how well, and what it does not; "" without validation.
func unseen(p *params.Params) string {
	rows := slices.DeleteFunc(slices.Clone(p.Validation), func(v params.Validation) bool { return v.SlowHost })
	best, ok := params.BestOf(rows)
	switch {
	case !ok && len(p.Validation) > 0:
		return "a slow host took part in all of it"
	case !ok && slices.ContainsFunc(p.Findings, func(f params.Finding) bool { return f.Code == params.NotPredicted }):
		return "not predicted, too many parameters are not known"
	case !ok:
		return ""
	}
	var well, badly []string
	for _, g := range params.Grades(rows) {
		if g.Model != best.Model {
			continue
		}
		text := cmp.Or(operations[g.Operation], Clean(g.Operation)) + " to " + Percent(g.Mean)
		if g.Predicted() {
			well = append(well, text)
		} else {
			badly = append(badly, text)
		}
	}
	text := listed(well)
	if len(badly) > 0 {
		text = strings.TrimPrefix(text+"; badly "+listed(badly), "; ")
	}
	return text + " (model " + Clean(best.Model) + ")"
}

// kindsShown is how many kinds of traffic the summary names; the table below it has all.
const kindsShown = 3

// listed joins the first few of many.
func listed(all []string) string {
	if n := len(all) - kindsShown; n > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:kindsShown], ", "), n)
	}
	return strings.Join(all, ", ")
}

// ValidationText writes what was predicted and then measured.
func ValidationText(w io.Writer, p *params.Params, o Options) error {
	pg := newPage(o)
	pg.line(2, "Unseen traffic: %s", cmp.Or(unseen(p), "none was measured"))
	pg.heading("Validation: patterns no fit has seen")
	pg.write(ValidationOf(p))
	return pg.flush(w)
}
