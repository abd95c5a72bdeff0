package reports

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"calib/internal/params"
	"calib/internal/units"
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

// predictions says in one sentence what the best of the models predicts, and how well, and what it does not; "" without
// validation.
func predictions(p *params.Params) string {
	rows := slices.DeleteFunc(slices.Clone(p.Validation), func(v params.Validation) bool { return v.SlowHost })
	best, ok := params.BestOf(rows)
	if !ok {
		if len(p.Validation) > 0 {
			return "A slow host took part in all traffic that no fit has seen, so that it says nothing of the parameters."
		}
		if slices.ContainsFunc(p.Findings, func(f params.Finding) bool { return f.Code == params.NotPredicted }) {
			return "Of traffic that no fit has seen, nothing is predicted: too many of the parameters that models need are not known."
		}
		return ""
	}
	lo, hi := rows[0].Bytes, rows[0].Bytes
	var good, bad []string
	for _, g := range params.Grades(rows) {
		if g.Model != best.Model {
			continue
		}
		name := operations[g.Operation]
		if name == "" {
			name = Clean(g.Operation)
		}
		if g.Predicted() {
			good = append(good, fmt.Sprintf("%s to %s", name, Percent(g.Mean)))
		} else {
			bad = append(bad, fmt.Sprintf("%s (%s off on average, %s at most)", name, Percent(g.Mean), Percent(g.Worst)))
		}
	}
	for _, v := range rows {
		lo, hi = min(lo, v.Bytes), max(hi, v.Bytes)
	}
	sizes := units.Bytes(lo).String()
	if hi > lo {
		sizes += " to " + units.Bytes(hi).String()
	}
	text := "Of traffic that no fit has seen, " + sizes
	if len(rows) < len(p.Validation) {
		text += ", without a slow host"
	}
	switch {
	case len(bad) == 0:
		return text + ", model " + Clean(best.Model) + " predicts " + strings.Join(good, ", ") + "."
	case len(good) == 0:
		return text + ", model " + Clean(best.Model) + " predicts nothing well enough: " + strings.Join(bad, ", ") + "."
	}
	return text + ", model " + Clean(best.Model) + " predicts " + strings.Join(good, ", ") + "; not " + strings.Join(bad, ", ") + "."
}

// ValidationText writes what was predicted and then measured.
func ValidationText(w io.Writer, p *params.Params, o Options) error {
	pg := newPage(o)
	pg.line(2, "%s", predictions(p))
	pg.heading("Validation: patterns no fit has seen")
	pg.write(ValidationOf(p))
	return pg.flush(w)
}
