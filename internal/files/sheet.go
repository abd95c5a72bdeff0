package files

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"calib/internal/units"
)

// Sheet writes tables as CSV that people open in a spreadsheet. A text there must stay text: a spreadsheet takes a cell
// that begins with =, +, -, @, a tab or a carriage return for a formula and computes it, and the names of hosts, runs
// and labels come from files of other people. Source: OWASP, CSV Injection.
type Sheet struct{ *csv.Writer }

// NewSheet returns a sheet that is written to w.
func NewSheet(w io.Writer) Sheet { return Sheet{csv.NewWriter(w)} }

// Write writes a row.
func (w Sheet) Write(row []string) error {
	cells := make([]string, len(row))
	for i, s := range row {
		cells[i] = cell(s)
	}
	return w.Writer.Write(cells)
}

// WriteAll writes rows and flushes them.
func (w Sheet) WriteAll(rows [][]string) error {
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// cell is s as a spreadsheet reads it for text: with ' before it, where it would begin a formula, and without
// characters that control. Numbers stay as they are.
func cell(s string) string {
	s = units.Printable(s)
	if s == "" || !strings.ContainsRune("=+-@\t", rune(s[0])) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}
