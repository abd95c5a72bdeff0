package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/urfave/cli/v2"

	"calib/internal/exit"
	"calib/internal/files"
	"calib/internal/units"
	"calib/params"
	"calib/reports"
)

// Answer prints what the command called name has found: one JSON document where --json asks for it, else text.
func Answer(c *cli.Context, name string, data any, text func(io.Writer) error) error {
	return AnswerResult(c, reports.Result{Command: name, Data: data}, nil, text)
}

func AnswerLines(c *cli.Context, name string, data any, lines ...string) error {
	return Answer(c, name, data, func(w io.Writer) error { return Lines(w, lines) })
}

// AnswerTable is Answer with a table under headings, which may be none.
func AnswerTable(c *cli.Context, name string, data any, headings []string, rows func(Table)) error {
	return Answer(c, name, data, func(w io.Writer) error {
		t := NewTable(w, headings...)
		rows(t)
		return t.Flush()
	})
}

// AnswerResult is Answer for a whole document. err, how the command ended, is in the document; text is printed in any
// case, and err is then still to be reported.
func AnswerResult(c *cli.Context, r reports.Result, err error, text func(io.Writer) error) error {
	if !c.Bool("json") {
		return errors.Join(err, text(c.App.Writer))
	}
	if r.Exit = exit.CodeOf(err); err != nil {
		r.Error = err.Error()
	}
	return Silent(err, r.Encode(c.App.Writer))
}

// Formats of a report or plot beside those of reports/draw.
const (
	FormatText = "text"
	FormatHTML = "html"
)

type Written struct {
	Format string   `json:"format"`
	Files  []string `json:"files"`
}

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

// Noter is Note for what is told by a function.
func Noter(c *cli.Context) func(text string) { return func(text string) { Note(c, text) } }

func Notef(c *cli.Context, format string, args ...any) { Note(c, fmt.Sprintf(format, args...)) }

func Warn(c *cli.Context, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(c.App.ErrWriter, "calib: warning: "+w)
	}
}

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
	for i, cell := range cells {
		switch v := cell.(type) {
		case string:
			cells[i] = OrDash(units.OneLine(v))
		case bool:
			cells[i] = map[bool]string{true: "yes", false: "no"}[v]
		case time.Time:
			cells[i] = Minute(v)
		}
	}
	fmt.Fprintf(t, strings.TrimSuffix(strings.Repeat("%v\t", len(cells)), "\t")+"\n", cells...)
}

func Minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

func OrDash(s string) string { return cmp.Or(s, "–") }

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

// SaveOut writes text to OutFile, and returns its path, which is empty without --out.
func SaveOut(c *cli.Context, name string, text []byte) (path string, err error) {
	if path = OutFile(c, name); path != "" {
		err = files.Write(path, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
	return path, err
}

type Document struct {
	Name   string
	Schema func() (*jsonschema.Schema, error)
}

// DocumentOf is the document of type T. version is the value of its member "schema", or empty.
func DocumentOf[T any](name, version, about string) Document {
	return Document{name, func() (*jsonschema.Schema, error) { return params.SchemaOf[T](name, version, about, nil) }}
}

// DataOfEither is DataOf for a command that prints one of two kinds of data.
func DataOfEither[A, B any](name string) Document {
	d := DataOf[A](name)
	return Document{d.Name, func() (*jsonschema.Schema, error) {
		s, err := d.Schema()
		a, errA := jsonschema.For[A](nil)
		b, errB := jsonschema.For[B](nil)
		if err := errors.Join(err, errA, errB); err != nil {
			return nil, err
		}
		return &jsonschema.Schema{Schema: s.Schema, ID: s.ID, Title: s.Title, Description: s.Description,
			AnyOf: []*jsonschema.Schema{a, b}}, nil
	}}
}

// DataOf is the data in the result of the command called name.
func DataOf[T any](name string) Document {
	return DocumentOf[T]("data-"+strings.ReplaceAll(name, " ", "-"), "",
		"Member data of what calib "+name+" --json prints.")
}
