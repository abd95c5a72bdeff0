package history

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/files"
	"calib/internal/history"
	"calib/internal/machine"
	"calib/reports/export"
)

const (
	toCSV        = "csv"
	toPrometheus = "prometheus"
)

const csvFile = "history.csv"

func exportHistory(c *cli.Context) error {
	to := c.String("to")
	switch {
	case to != toCSV && to != toPrometheus:
		return exit.Usagef("--to %q: want %s or %s", to, toCSV, toPrometheus)
	case to == toCSV && c.Bool("json") && c.String("out") == "":
		return exit.Usagef("--to csv with --json: give --out FILE; standard output is for the document")
	case to == toPrometheus && c.IsSet("last"):
		return exit.Usagef("--last with --to prometheus: only the newest run is written; " +
			"--label and --plan choose among which runs")
	}
	filter, err := filterOf(c)
	if err != nil {
		return err
	}
	return withStore(c, history.OpenExisting, func(s *history.Store) error {
		if to == toCSV {
			return exportSeries(c, s, filter)
		}
		return exportNewest(c, s, filter)
	})
}

// exportSeries writes a CSV, holding a series at a time.
func exportSeries(c *cli.Context, s *history.Store, f history.Filter) error {
	out := exported{To: toCSV, File: command.OutFile(c, csvFile), Warnings: []string{}}
	write := func(w io.Writer) (err error) {
		out.Runs, out.Values, err = writeSeries(c, w, s, f)
		return err
	}
	if out.File == "" {
		return write(c.App.Writer)
	}
	if err := files.Write(out.File, write); err != nil {
		return err
	}
	return command.AnswerLines(c, "history export", out)
}

// writeSeries writes the series of all metrics in the runs of a filter, one after the other, each in the order of time.
func writeSeries(c *cli.Context, w io.Writer, s *history.Store, f history.Filter) (runs, values int, err error) {
	entries, err := s.List(c.Context, f)
	if err != nil {
		return 0, 0, err
	}
	all, err := s.Followed(c.Context)
	if err != nil {
		return 0, 0, err
	}
	entry := map[string]history.Entry{}
	for _, e := range entries {
		entry[e.ID] = e
	}
	if len(entries) > 0 {
		f.Since = entries[0].Started // --last counts runs, not values
	}
	t := files.NewSheet(w)
	t.UseCRLF = true
	err = t.Write([]string{"time", "run", "label", "commit", "metric", "from", "to", "unit", "value", "lo", "hi"})
	for i := 0; i < len(all) && err == nil; i++ {
		var readings []history.Reading
		m := all[i]
		readings, err = s.Series(c.Context, f, m)
		for _, r := range readings {
			if e, ok := entry[r.Run]; ok && err == nil { // else added meanwhile, or of the same moment as the oldest
				err = t.Write(command.Cells(r.At.UTC().Format(time.RFC3339Nano), r.Run, e.Label, e.Commit, m.Name, m.From,
					m.To, m.Unit, r.Value, r.CI95))
				values++
			}
		}
	}
	t.Flush()
	return len(entries), values, cmp.Or(err, t.Error())
}

func exportNewest(c *cli.Context, s *history.Store, f history.Filter) error {
	f.Last = 1
	entries, err := s.List(c.Context, f)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return noRun(s)
	}
	p, _, err := s.Read(c.Context, entries[0].ID)
	if err != nil {
		return err
	}
	target, err := export.Lookup(toPrometheus)
	if err != nil {
		return err
	}
	text, warnings, err := target.Export(p, export.Options{Version: machine.Version()})
	if err != nil {
		return fmt.Errorf("run %s: %w", entries[0].ID, err)
	}
	out := exported{To: toPrometheus, Runs: 1, Warnings: append([]string{}, warnings...)}
	if out.File, err = command.SaveOut(c, target.File, text); err != nil {
		return err
	}
	if out.File == "" {
		out.Content = string(text)
	}
	if !c.Bool("json") {
		command.Warn(c, warnings)
	}
	return command.AnswerText(c, "history export", out, out.Content)
}

func noRun(s *history.Store) error {
	return exit.Usagef("no such run in %s; calib history list shows what there is", s.Path())
}
