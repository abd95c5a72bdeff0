package export

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"time"

	"calib/internal/units"
)

// readOtava reads the table as the importer does: every row is as long as the header, the time is a date, metrics are
// numbers.
func readOtava(file []byte) (header []string, when time.Time, values []float64, err error) {
	lines, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil {
		return nil, when, nil, syntax("%v", err)
	}
	if len(lines) != 2 || len(lines[0]) < 3 || lines[0][0] != "time" || lines[0][1] != "commit" {
		return nil, when, nil, syntax("want a header of time, commit and metrics, and one row")
	}
	if when, err = time.Parse(otavaTime, lines[1][0]); err != nil {
		return nil, when, nil, syntax("%v", err)
	}
	if _, err := strconv.ParseFloat(lines[1][1], 64); err == nil {
		return nil, when, nil, syntax("commit %q would be read as a number", lines[1][1])
	}
	for i, s := range lines[1][2:] {
		v, err := parseCell(s)
		if err != nil || s == "" {
			return nil, when, nil, syntax("column %s: %q is not a number", lines[0][2+i], s)
		}
		values = append(values, v)
	}
	return lines[0][2:], when, values, nil
}

func checkOtava(file []byte, in *input) error {
	header, when, values, err := readOtava(file)
	if err != nil {
		return err
	}
	metrics := in.metrics()
	if err := in.err; err != nil {
		return err
	}
	if want, err := timeOf(in.Params.Run.ID); err != nil || !when.Equal(want) || len(values) != len(metrics) {
		return fmt.Errorf("%d numbers of %s, want %d of %s: %w", len(values), when, len(metrics), want, errMismatch)
	}
	seen := map[string]bool{}
	for i, m := range metrics {
		column := m.Name
		if m.Link() != "" {
			column += " " + m.Link()
		}
		if header[i] != units.OneLine(column) || values[i] != m.Value || seen[header[i]] {
			return mismatch("column "+header[i], values[i], m.Value, m.Unit)
		}
		seen[header[i]] = true
	}
	return nil
}
