package export

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"

	"calib/internal/units"
)

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

func checkCSV(file []byte, in *input) error {
	got, err := readCSV(file)
	if err != nil {
		return err
	}
	want := rowsOf(in)
	if err := in.err; err != nil {
		return err
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d rows, want %d: %w", len(got), len(want), errMismatch)
	}
	for i, g := range got {
		w := want[i]
		if g.kind != w.kind || g.name != units.Printable(w.name) || g.from != units.Printable(w.from) || g.to != units.Printable(w.to) || g.unit != w.unit || g.status != w.status {
			return fmt.Errorf("row %d is %s %s, want %s %s: %w", i, g.kind, g.name, w.kind, w.name, errMismatch)
		}
		for _, v := range [][2]float64{{g.value, w.value}, {g.lo, w.lo}, {g.hi, w.hi}} {
			if cell(v[0]) != cell(v[1]) {
				return mismatch(w.kind+" "+w.name, v[0], v[1], w.unit)
			}
		}
	}
	return nil
}
