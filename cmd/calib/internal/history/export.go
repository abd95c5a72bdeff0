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
	"calib/internal/units"
	"calib/reports"
)

const (
	toCSV   = "csv"
	toStore = "store"
	csvFile = "history.csv"
)

type exported struct {
	To     string `json:"to"`
	File   string `json:"file,omitempty"`
	Runs   int    `json:"runs"`
	Values int    `json:"values,omitempty"` // rows of a CSV, without its header
}

func exportHistory(c *cli.Context, s *history.Store) error {
	to := c.String("to")
	switch {
	case to != toCSV && to != toStore:
		return exit.Usagef("--to %q: want %s or %s", to, toCSV, toStore)
	case to == toCSV && c.Bool("json") && c.String("out") == "":
		return exit.Usagef("--to csv with --json: give --out FILE; standard output is for the document")
	}
	filter, err := filterOf(c)
	switch {
	case err != nil:
		return err
	case to == toStore:
		return exportStore(c, s, filter)
	}
	return exportSeries(c, s, filter)
}

// exportStore copies all of the history to a new file.
func exportStore(c *cli.Context, s *history.Store, f history.Filter) error {
	path := c.String("out")
	if path == "" || f != (history.Filter{}) {
		return exit.Usagef("--to store: give a new file with --out, and no choice of runs: it is all of the history")
	}
	err := s.Copy(c.Context, path)
	runs, other := s.List(c.Context, f)
	if err = cmp.Or(err, other); err != nil {
		return err
	}
	out := exported{To: toStore, File: path, Runs: len(runs)}
	return command.AnswerLines(c, "history export", out)
}

// merged is of history import.
type merged struct {
	Store string `json:"store"`
	From  string `json:"from"`
	history.Merged
}

// importHistory adds what another store has. What was added before an error stays, and so is printed too.
func importHistory(c *cli.Context) error {
	path, err := command.OneArg(c, "file of a history")
	if err != nil {
		return err
	}
	other, err := history.Open(c.Context, path, false)
	if err != nil {
		return err
	}
	defer other.Close()
	return WithStore(c, true, func(s *history.Store) error {
		m, err := s.Merge(c.Context, other)
		out := reports.Result{Command: "history import", Data: merged{s.Path, path, m}, Warnings: m.Left}
		return command.AnswerResult(c, out, err, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s: %s added, %d there already; %s and %s added; "+
				"%s and %s of calib watch added\n", s.Path,
				units.Plural(len(m.Added), "run"), m.Known, units.Plural(len(m.Baselines), "baseline"),
				units.Plural(m.Acks, "acknowledgement"), units.Plural(m.Looks, "look"),
				units.Plural(m.Changes, "change"))
			for _, left := range m.Left {
				command.Note(c, "left out: "+left)
			}
			return err
		})
	})
}

// exportSeries writes a CSV, holding a series at a time.
func exportSeries(c *cli.Context, s *history.Store, f history.Filter) error {
	out := exported{To: toCSV, File: command.OutFile(c, csvFile)}
	write := func(w io.Writer) error { return out.writeSeries(c, w, s, f) }
	if out.File == "" {
		return write(c.App.Writer)
	}
	if err := files.Write(out.File, write); err != nil {
		return err
	}
	return command.AnswerLines(c, "history export", out)
}

// writeSeries writes the series of all metrics in the runs of a filter, one after the other, each in the order of time.
func (out *exported) writeSeries(c *cli.Context, w io.Writer, s *history.Store, f history.Filter) error {
	entries, err := s.List(c.Context, f)
	all, other := s.Followed(c.Context)
	if err = cmp.Or(err, other); err != nil {
		return err
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
	_ = t.Write([]string{"time", "run", "label", "commit", "metric", "from", "to", "unit", "value", "lo", "hi"})
	for _, m := range all {
		readings, err := s.Series(c.Context, f, m)
		if err != nil {
			return err
		}
		for _, r := range readings {
			if e, ok := entry[r.Run]; ok { // else added meanwhile, or of the same moment as the oldest
				row := []string{r.At.UTC().Format(time.RFC3339Nano), r.Run, e.Label, e.Commit, m.Name, m.From, m.To,
					m.Unit, fmt.Sprint(r.Value), "", ""}
				if ci := r.CI95; ci != nil {
					row[9], row[10] = fmt.Sprint(ci[0]), fmt.Sprint(ci[1])
				}
				_ = t.Write(row) // its error stays
				out.Values++
			}
		}
	}
	t.Flush()
	out.Runs = len(entries)
	return t.Error()
}
