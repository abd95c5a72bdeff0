package export

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"

	"calib/fit"
)

// otavaTarget is a table for Apache Otava (formerly Hunter): a header and one row, to be appended to the rows of earlier
// runs. Its importer takes a column as metric if every value is a number, as time if it is a date, and as attribute
// otherwise (hunter/importer.py, class CsvImporter). So time is that of the run, commit is the run's ID, which a date
// parser does not take for one, and the rest are the numbers of the run.
func otavaTarget() Target {
	return Target{
		Name: "otava", File: "otava.csv", NoHosts: true,
		About: "Apache Otava: CSV of one row, time, commit (the run's ID), and every number of the run",
		Write: writeOtava, Check: checkOtava,
	}
}

// otavaTime is how the time is written, in UTC.
const otavaTime = "2006-01-02 15:04:05 -0700"

// runTime is the start of a run's ID.
var runTime = regexp.MustCompile(`^(?:.*?-)?([0-9]{8}-[0-9]{6})(?:-|$)`)

// timeOf returns when a run began, which its ID holds.
func timeOf(p *fit.Params) (time.Time, error) {
	if m := runTime.FindStringSubmatch(p.Run.ID); m != nil {
		if t, err := time.Parse("20060102-150405", m[1]); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("time of the run: %w: its ID %q does not begin with date and time, as calib run makes it", ErrMissing, p.Run.ID)
}

// columnOf names a metric: "a_c", "latency h0→h1".
func columnOf(m fit.Metric) string {
	if link := m.Link(); link != "" {
		return m.Name + " " + link
	}
	return m.Name
}

// otavaTable returns the header and the row.
func otavaTable(p *fit.Params) ([2][]string, error) {
	metrics, err := metricsOf(p)
	if err != nil {
		return [2][]string{}, err
	}
	t, err := timeOf(p)
	if err != nil {
		return [2][]string{}, err
	}
	out := [2][]string{{"time", "commit"}, {t.Format(otavaTime), oneLine(p.Run.ID)}}
	for _, m := range metrics {
		out[0], out[1] = append(out[0], oneLine(columnOf(m))), append(out[1], number(m.Value))
	}
	return out, nil
}

func writeOtava(w io.Writer, p *fit.Params, _ Options) ([]string, error) {
	t, err := otavaTable(p)
	if err != nil {
		return nil, err
	}
	c := csv.NewWriter(w)
	if err := c.WriteAll(t[:]); err != nil {
		return nil, err
	}
	return []string{"intervals are not in the file: Otava has none"}, nil
}

// readOtava reads the table as the importer does: every row is as long as the header, the time is a date, metrics are numbers.
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

func checkOtava(file []byte, p *fit.Params, _ Options) error {
	header, when, values, err := readOtava(file)
	if err != nil {
		return err
	}
	metrics, err := metricsOf(p)
	if err != nil {
		return err
	}
	if want, err := timeOf(p); err != nil || !when.Equal(want) || len(values) != len(metrics) {
		return fmt.Errorf("%d numbers of %s, want %d of %s: %w", len(values), when, len(metrics), want, ErrMismatch)
	}
	seen := map[string]bool{}
	for i, m := range metrics {
		if header[i] != oneLine(columnOf(m)) || values[i] != m.Value || seen[header[i]] {
			return mismatch("column "+header[i], values[i], m.Value, m.Unit)
		}
		seen[header[i]] = true
	}
	return nil
}
