package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"calib/internal/units"
	"calib/reports"
)

// Answer prints what the command called name has found: one JSON document where --json asks for it, else text.
func Answer(c *cli.Context, name string, data any, text func(io.Writer) error) error {
	return AnswerResult(c, reports.Result{Command: name, Data: data}, nil, text)
}

// AnswerResult is Answer for a whole document. err, how the command ended, is in the document; text is printed in any
// case, and err is then still to be reported.
func AnswerResult(c *cli.Context, r reports.Result, err error, text func(io.Writer) error) error {
	if !c.Bool("json") {
		return errors.Join(err, text(c.App.Writer))
	}
	if r.Exit = CodeOf(err); err != nil {
		r.Error = err.Error()
	}
	return Silent(err, r.Encode(c.App.Writer))
}

// WriteJSON prints a document that is not a reports.Result.
func WriteJSON(w io.Writer, v any) error { return reports.WriteJSON(w, v) }

// Formats of a report or plot beside those of reports/draw.
const (
	FormatText = "text"
	FormatHTML = "html"
)

// Written is the data of a command that writes files.
type Written struct {
	Format string   `json:"format"`
	Files  []string `json:"files"`
}

// AnswerFiles names the files that the command called name has written for a run; run may be empty.
func AnswerFiles(c *cli.Context, name, run string, w Written) error {
	return AnswerResult(c, reports.Result{Command: name, Run: run, Data: w}, nil, func(out io.Writer) error { return Lines(out, w.Files) })
}

// Lines prints texts, each on a line.
func Lines(w io.Writer, texts []string) error {
	for _, t := range texts {
		if _, err := fmt.Fprintln(w, t); err != nil {
			return err
		}
	}
	return nil
}

// Note prints what the user should know, and no error, to standard error.
func Note(c *cli.Context, text string) { fmt.Fprintln(c.App.ErrWriter, "calib: note: "+text) }

// Warn prints warnings to standard error.
func Warn(c *cli.Context, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(c.App.ErrWriter, "calib: warning: "+w)
	}
}

// Table is a table of aligned columns, printed by Flush.
type Table struct{ *tabwriter.Writer }

// NewTable returns a table with these headings; none is a table without headings.
func NewTable(w io.Writer, headings ...string) Table {
	t := Table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	if len(headings) > 0 {
		fmt.Fprintln(t, strings.Join(headings, "\t"))
	}
	return t
}

// Row adds a row. A time is printed to the minute, a bool as yes or no, and an empty text as a dash.
func (t Table) Row(cells ...any) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		switch v := cell.(type) {
		case string:
			texts[i] = OrDash(units.OneLine(v))
		case bool:
			texts[i] = map[bool]string{true: "yes", false: "no"}[v]
		case time.Time:
			texts[i] = Minute(v)
		default:
			texts[i] = fmt.Sprint(v)
		}
	}
	fmt.Fprintln(t, strings.Join(texts, "\t"))
}

// Minute prints a time to the minute, in UTC.
func Minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// OrDash is s, or a dash where s is empty.
func OrDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// Exists reports whether there is something at path.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// OutFile is the path that --out names; in a directory, the file called name. It is empty without --out.
func OutFile(c *cli.Context, name string) string {
	out := c.String("out")
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		return filepath.Join(out, name)
	}
	return out
}
