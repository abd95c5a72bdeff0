// Package sheet writes tables as CSV that people open in a spreadsheet. A text there must stay text: a spreadsheet
// takes a cell that begins with =, +, -, @, a tab or a carriage return for a formula and computes it, and the names of
// hosts, runs and labels come from files of other people. Source: OWASP, CSV Injection.
package sheet

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"calib/internal/printable"
)

// Writer writes rows. It is a csv.Writer but for its texts.
type Writer struct{ *csv.Writer }

// NewWriter returns a writer to w.
func NewWriter(w io.Writer) Writer { return Writer{csv.NewWriter(w)} }

// Write writes a row.
func (w Writer) Write(row []string) error {
	cells := make([]string, len(row))
	for i, s := range row {
		cells[i] = Cell(s)
	}
	return w.Writer.Write(cells)
}

// WriteAll writes rows and flushes them.
func (w Writer) WriteAll(rows [][]string) error {
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// Cell is s as a spreadsheet reads it for text: with ' before it, where it would begin a formula, and without
// characters that control. Numbers stay as they are.
func Cell(s string) string {
	s = printable.Text(s)
	if s == "" || !strings.ContainsRune("=+-@\t", rune(s[0])) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}
