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

// readCSV reads the rows of the table.
func readCSV(file []byte) ([][]string, error) {
	r := csv.NewReader(bytes.NewReader(file))
	r.FieldsPerRecord = len(csvColumns)
	lines, err := r.ReadAll()
	if err != nil {
		return nil, syntax("%v", err)
	}
	if len(lines) == 0 || !slices.Equal(lines[0], csvColumns[:]) {
		return nil, syntax("the first line is not %v", csvColumns)
	}
	for i, f := range lines[1:] {
		for k := 5; k < 8; k++ {
			if _, err = parseCell(f[k]); err != nil {
				return nil, syntax("record %d, %s: %v", i+2, csvColumns[k], err)
			}
		}
	}
	return lines[1:], nil
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
		for k, w := range want[i][:9] { // but the label
			if g[k] != units.Printable(w) {
				return fmt.Errorf("%s of row %d, %s %s, is %q, want %q: %w", csvColumns[k], i, g[0], g[1], g[k], w, errMismatch)
			}
		}
	}
	return nil
}
