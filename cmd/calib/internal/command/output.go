package command

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"calib/reports"
)

// JoinFirst keeps the exit code of err, where there is one.
func JoinFirst(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Minute prints a time for people.
func Minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// OrDash stands in for a text that is not there.
func OrDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// Day prints a date for people.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// NoteTo prints what was ignored to standard error.
func NoteTo(c *cli.Context) func(string) {
	return func(s string) { fmt.Fprintln(c.App.ErrWriter, "calib: note: "+s) }
}

func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func NewTable(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

const (
	FormatText = "text"
	FormatHTML = "html"
)

// Written is what a report in another format tells: the files.
type Written struct {
	Format string   `json:"format"`
	Files  []string `json:"files"`
}

// PrintFiles names the files that were written.
func PrintFiles(c *cli.Context, command, run string, w Written) error {
	if c.Bool("json") {
		return reports.Result{Command: command, Run: run, Data: w}.Encode(c.App.Writer)
	}
	for _, f := range w.Files {
		if _, err := fmt.Fprintln(c.App.Writer, f); err != nil {
			return err
		}
	}
	return nil
}

func OnlyIf(cond bool, err error) error {
	if cond {
		return err
	}
	return nil
}

func HasFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
