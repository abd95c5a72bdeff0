package export

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"calib/fit"
)

// csvTarget is a table of every number of a run, one a row (RFC 4180: a header, fields quoted where they must be, lines that end
// in CR LF). Columns:
//
//	kind   run, parameter (one number of the network), coefficient (of a cost function, or of one of segments its value at a size), link (of one pair), point (T of a size)
//	name   of it; of a point the message size in bytes
//	from, to   the hosts of a link
//	unit   SI; value; lo, hi   the 95% interval, or of a parameter without a value what the data allow
//	status ok, unidentifiable, bound; label   what it is, in words
//
// The format has no comments: version and run are rows of kind run.
func csvTarget() Target {
	return Target{
		Name: "csv", File: "params.csv", NoHosts: true,
		About: "CSV: a row for every parameter, coefficient, link and size, with intervals",
		Write: writeCSV, Check: checkCSV,
	}
}

var csvColumns = [...]string{"kind", "name", "from", "to", "unit", "value", "lo", "hi", "status", "label"}

// Kinds of rows.
const (
	kindRun       = "run"
	kindParameter = "parameter"
	kindCoeff     = "coefficient"
	kindLink      = "link"
	kindPoint     = "point"
)

// row is a line of the table. Numbers that are not there are NaN, and empty in the file.
type row struct {
	kind, name, from, to, unit string
	value, lo, hi              float64
	status, label              string
}

func rowsOf(p *fit.Params) ([]row, error) {
	metrics, err := metricsOf(p)
	if err != nil {
		return nil, err
	}
	nan := math.NaN()
	var out []row
	for _, m := range metrics {
		r := row{kind: kindCoeff, name: m.Name, from: m.From, to: m.To, unit: m.Unit, value: m.Value, lo: nan, hi: nan, status: fit.StatusOK, label: m.Label}
		switch q, ok := p.Parameters[m.Name]; {
		case m.Link() != "":
			r.kind = kindLink
		case ok:
			r.kind, r.status = kindParameter, q.Status
		}
		if m.CI95 != nil {
			r.lo, r.hi = m.CI95[0], m.CI95[1]
		}
		out = append(out, r)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		q := p.Parameters[name]
		if _, ok := found(p, name); ok || q.Value != nil {
			continue
		}
		r := row{kind: kindParameter, name: name, unit: q.Unit, value: nan, lo: nan, hi: nan, status: q.Status, label: q.Label}
		if q.Bound != nil {
			r.lo, r.hi = q.Bound[0], q.Bound[1]
		}
		out = append(out, r)
	}
	for _, q := range pointsOf(p) {
		out = append(out, row{kind: kindPoint, name: number(q.bytes), unit: "s", value: q.seconds, lo: q.lo, hi: q.hi, status: fit.StatusOK,
			label: "time of a message of that many bytes, idle network"})
	}
	return out, nil
}

func writeCSV(w io.Writer, p *fit.Params, o Options) ([]string, error) {
	rows, err := rowsOf(p)
	if err != nil {
		return nil, err
	}
	nan := math.NaN()
	about := func(name, label string) row {
		return row{kind: kindRun, name: name, value: nan, lo: nan, hi: nan, label: oneLine(label)}
	}
	rows = append([]row{about("calib", o.Version), about("id", p.Run.ID), about("plan", p.Run.Plan)}, rows...)
	c := csv.NewWriter(w)
	c.UseCRLF = true
	if err := c.Write(csvColumns[:]); err != nil {
		return nil, err
	}
	for _, r := range rows {
		if err := c.Write([]string{r.kind, r.name, r.from, r.to, r.unit, cell(r.value), cell(r.lo), cell(r.hi), r.status, oneLine(r.label)}); err != nil {
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
	return number(v)
}

// parseCell reads what cell writes.
func parseCell(s string) (float64, error) {
	if s == "" {
		return math.NaN(), nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = syntax("%q is not finite", s)
	}
	return v, err
}

// readCSV reads the table.
func readCSV(file []byte) ([]row, error) {
	r := csv.NewReader(bytes.NewReader(file))
	r.FieldsPerRecord = len(csvColumns)
	lines, err := r.ReadAll()
	if err != nil {
		return nil, syntax("%v", err)
	}
	if len(lines) == 0 || !slices.Equal(lines[0], csvColumns[:]) {
		return nil, syntax("the first line is not %v", csvColumns)
	}
	var out []row
	for i, f := range lines[1:] {
		q := row{kind: f[0], name: f[1], from: f[2], to: f[3], unit: f[4], status: f[8], label: f[9]}
		for k, v := range []*float64{&q.value, &q.lo, &q.hi} {
			if *v, err = parseCell(f[5+k]); err != nil {
				return nil, syntax("record %d, %s: %v", i+2, csvColumns[5+k], err)
			}
		}
		out = append(out, q)
	}
	return out, nil
}

func checkCSV(file []byte, p *fit.Params, _ Options) error {
	got, err := readCSV(file)
	if err != nil {
		return err
	}
	want, err := rowsOf(p)
	if err != nil {
		return err
	}
	got = slices.DeleteFunc(got, func(r row) bool { return r.kind == kindRun })
	if len(got) != len(want) {
		return fmt.Errorf("%d rows, want %d: %w", len(got), len(want), ErrMismatch)
	}
	for i, g := range got {
		w := want[i]
		if g.kind != w.kind || g.name != w.name || g.from != w.from || g.to != w.to || g.unit != w.unit || g.status != w.status {
			return fmt.Errorf("row %d is %s %s, want %s %s: %w", i, g.kind, g.name, w.kind, w.name, ErrMismatch)
		}
		for _, v := range [][2]float64{{g.value, w.value}, {g.lo, w.lo}, {g.hi, w.hi}} {
			if cell(v[0]) != cell(v[1]) {
				return mismatch(w.kind+" "+w.name, v[0], v[1], w.unit)
			}
		}
	}
	return nil
}
