package export

import (
	"bytes"
	"fmt"
	"regexp"
	"time"

	"calib/internal/params"
	"calib/internal/sheet"
	"calib/reports/export/input"
)

// otavaTime is how the time is written, in UTC.
const otavaTime = "2006-01-02 15:04:05 -0700"

// runTime is the start of a run's ID.
var runTime = regexp.MustCompile(`^(?:.*?-)?([0-9]{8}-[0-9]{6})(?:-|$)`)

// timeOf returns when a run began, which its ID says.
func timeOf(id string) (time.Time, error) {
	if m := runTime.FindStringSubmatch(id); m != nil {
		if t, err := time.Parse("20060102-150405", m[1]); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("time of the run: %w: its ID %q does not begin with date and time, as calib run makes it", ErrMissing, id)
}

// writeOtava writes a table for Apache Otava (formerly Hunter): a header and one row, to be appended to the rows of
// earlier runs. Its importer takes a column as metric if every value is a number, as time if it is a date, and as
// attribute otherwise (hunter/importer.py, class CsvImporter). So time is that of the run, commit is the run's ID,
// which a date parser does not take for one, and the rest are the numbers of the run.
func writeOtava(b *bytes.Buffer, in *input.Input) ([]string, error) {
	metrics, err := in.Metrics()
	if err != nil {
		return nil, err
	}
	t, err := timeOf(in.Params.Run.ID)
	if err != nil {
		return nil, err
	}
	head, row := []string{"time", "commit"}, []string{t.Format(otavaTime), input.OneLine(in.Params.Run.ID)}
	seen := map[string]bool{}
	for _, m := range metrics {
		if m.Status != params.StatusOK { // a change of it would be taken for one of the network
			continue
		}
		column := m.Name // "a_c", "latency h0→h1"
		if link := m.Link(); link != "" {
			column += " " + link
		}
		column = input.OneLine(column)
		if seen[column] {
			return nil, fmt.Errorf("column %q: %w: two numbers of the run have this name", column, ErrLimit)
		}
		seen[column] = true
		head, row = append(head, column), append(row, input.Number(m.Value))
	}
	if err := sheet.NewWriter(b).WriteAll([][]string{head, row}); err != nil {
		return nil, err
	}
	return []string{"intervals are not in the file: Otava has none"}, nil
}
