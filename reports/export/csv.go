package export

import (
	"bytes"
	"maps"
	"math"
	"slices"

	"calib/internal/params"
	"calib/internal/sheet"
	"calib/reports/export/input"
)

var csvColumns = [...]string{"kind", "name", "from", "to", "unit", "value", "lo", "hi", "status", "label"}

// row is a line of the table.
type row struct {
	kind, name, from, to, unit string
	value, lo, hi              float64 // NaN where there is none: an empty field
	status, label              string
}

// rowsOf lists the rows of a run.
func rowsOf(in *input.Input) ([]row, error) {
	metrics, err := in.Metrics()
	if err != nil {
		return nil, err
	}
	nan := math.NaN()
	var out []row
	for _, about := range [][2]string{{"calib", in.Version}, {"id", in.Params.Run.ID}, {"plan", in.Params.Run.Plan}} {
		out = append(out, row{kind: "run", name: about[0], value: nan, lo: nan, hi: nan, label: about[1]})
	}
	for _, m := range metrics {
		r := row{kind: "coefficient", name: m.Name, from: m.From, to: m.To, unit: m.Unit, value: m.Value, lo: nan, hi: nan, status: m.Status, label: m.Label}
		switch _, ok := in.Params.Parameters[m.Name]; {
		case m.Link() != "":
			r.kind = "link"
		case ok:
			r.kind = "parameter"
		}
		if m.CI95 != nil {
			r.lo, r.hi = m.CI95[0], m.CI95[1]
		}
		out = append(out, r)
	}
	for _, name := range slices.Sorted(maps.Keys(in.Params.Parameters)) {
		q := in.Params.Parameters[name]
		if q.Value != nil {
			continue
		}
		r := row{kind: "parameter", name: name, unit: q.Unit, value: nan, lo: nan, hi: nan, status: q.Status, label: q.Label}
		if v, estimated := q.Raw(); estimated {
			r.kind, r.value = "estimate", v
		}
		if q.Bound != nil {
			r.lo, r.hi = q.Bound[0], q.Bound[1]
		}
		out = append(out, r)
	}
	for _, q := range in.Points() {
		out = append(out, row{kind: "point", name: input.Number(q.Bytes), unit: "s", value: q.Seconds, lo: q.Lo, hi: q.Hi, status: params.StatusOK,
			label: "time of a message of that many bytes, idle network"})
	}
	return out, nil
}

// writeCSV writes a table of every number of a run, one a row (RFC 4180: a header, fields quoted where they must be,
// lines that end in CR LF). Columns:
//
//	kind   run, parameter (one number of the network), estimate (of a parameter that is not to be used), coefficient (of a cost function, or of one of segments its value at a size), link (of one pair), point (T of a size)
//	name   of it; of a point the message size in bytes
//	from, to   the hosts of a link
//	unit   SI; value; lo, hi   the 95% interval, or of a parameter without a value what the data allow
//	status that of params.json; label   what it is, in words
//
// A text that a spreadsheet would take for a formula has ' before it.
//
// The format has no comments: version and run are rows of kind run.
func writeCSV(b *bytes.Buffer, in *input.Input) ([]string, error) {
	rows, err := rowsOf(in)
	if err != nil {
		return nil, err
	}
	c := sheet.NewWriter(b)
	c.UseCRLF = true
	if err := c.Write(csvColumns[:]); err != nil {
		return nil, err
	}
	for _, r := range rows {
		fields := []string{r.kind, r.name, r.from, r.to, r.unit, cell(r.value), cell(r.lo), cell(r.hi), r.status, input.OneLine(r.label)}
		if err := c.Write(fields); err != nil {
			return nil, err
		}
	}
	c.Flush()
	return nil, c.Error()
}

// cell writes a number, and nothing for one that is not finite.
func cell(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return input.Number(v)
}
