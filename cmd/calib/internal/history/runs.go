package history

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/history"
	"calib/internal/lists"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/params"
	"calib/reports"
)

type additions struct {
	Store string     `json:"store"`
	Runs  []addition `json:"runs"`
}

type addition struct {
	ID      string    `json:"id"`
	Started time.Time `json:"started"`
	Path    string    `json:"path"`
	Added   bool      `json:"added"`             // false: it was there already
	Skipped []string  `json:"skipped,omitempty"` // what is not ok, with its status, and is not followed
}

func addRuns(c *cli.Context) error {
	if c.NArg() == 0 {
		return exit.Usagef("history add: give run directories (see %s --help)", c.Command.HelpName)
	}
	var paths []string
	for _, arg := range c.Args().Slice() {
		found, err := command.ParamsFiles(arg)
		if err != nil {
			return err
		}
		paths = append(paths, found...)
	}
	return WithStore(c, true, func(s *history.Store) error {
		done, err := add(c, s, history.Entry{Label: c.String("label"), Commit: c.String("commit")}, paths)
		// Runs before one that failed are stored, and so are printed too.
		out := reports.Result{Command: "history add", Data: additions{s.Path, done}}
		return command.AnswerResult(c, out, err, func(w io.Writer) error {
			t := command.NewTable(w)
			for _, r := range done {
				what := "added"
				if !r.Added {
					what = "already in the history, not changed"
				} else if n := len(r.Skipped); n > 0 {
					what += fmt.Sprintf(". Not followed over time, because not ok: %s", strings.Join(r.Skipped, ", "))
				}
				t.Row(r.ID, r.Started, what)
			}
			return t.Flush()
		})
	})
}

// add adds the runs of params.json files. It ends with the first that cannot be added; those before it are stored. of
// is what they have in common: label and commit.
func add(c *cli.Context, s *history.Store, of history.Entry, paths []string) ([]addition, error) {
	done := []addition{}
	for _, path := range paths {
		r, err := record(c, of, path)
		if err != nil {
			return done, err
		}
		added, err := s.Add(c.Context, r)
		if err != nil {
			return done, fmt.Errorf("%s: %w", path, err)
		}
		done = append(done, addition{ID: r.ID, Started: r.Started, Path: r.Path, Added: added,
			Skipped: notFollowed(r.Params)})
	}
	return done, nil
}

// notFollowed lists the parameters and functions of a run that are not ok, with their status: a history skips them.
func notFollowed(p *params.Params) (out []string) {
	add := func(name, status string) {
		if status != params.StatusOK {
			out = append(out, name+" ("+status+")")
		}
	}
	for name, q := range lists.ByKey(p.Parameters) {
		add(name, q.Status)
	}
	for name, f := range lists.ByKey(p.Functions) {
		add("function "+name, cmp.Or(f.Status, params.StatusOK))
	}
	return out
}

// record reads a params.json, and the run.json beside it.
func record(c *cli.Context, of history.Entry, path string) (r history.Record, err error) {
	dir, unread := rundir.Open(filepath.Dir(path))
	if unread == nil {
		if err = command.Whole(c, dir); err != nil {
			return r, err
		}
	}
	r.Entry = of
	if r.Params, err = command.ReadParams(path); err != nil {
		return r, err
	}
	r.ID, r.Path = r.Params.Run.ID, path
	switch {
	case unread != nil && command.Exists(filepath.Join(filepath.Dir(path), rundir.RunFile)):
		return r, exit.With(exit.Usage, unread)
	case unread == nil && dir.Run().ID == r.ID:
		run := dir.Run()
		r.Started, r.Status, r.Path, r.Detail = run.Started, run.Status, dir.Path(), run.Detail
		r.Took = run.Took()
	}
	if r.Started = cmp.Or(r.Started, command.StartOf(r.ID)).UTC(); r.Started.IsZero() {
		return r, exit.Usagef("%s: it is not known when run %q started: give its directory, with %s, not "+
			"params.json alone", path, r.ID, rundir.RunFile)
	}
	if r.Path, err = filepath.Abs(r.Path); err != nil {
		err = fmt.Errorf("run %s: %w", path, err)
	}
	return r, err
}

type removed struct {
	Store   string `json:"store"`
	Removed string `json:"removed"` // the run, the number of the acknowledgement, the baseline
}

// answerRemoved says what is no longer there, something of a kind by its name, unless removing it was an error.
func answerRemoved(c *cli.Context, s *history.Store, verb, kind, name string, err error) error {
	if err != nil {
		return err
	}
	return command.AnswerLines(c, verb, removed{s.Path, name}, fmt.Sprintf("removed %s %s", kind, name))
}

type runList struct {
	Store string      `json:"store"`
	Runs  []storedRun `json:"runs"`
	More  bool        `json:"more"` // --last left out older ones
}

// storedRun is a stored run. It is the data of history show, beside the parameters of the run.
type storedRun struct {
	history.Entry
	Baselines []string `json:"baselines"` // that it is in, by name
}

func listRuns(c *cli.Context, s *history.Store) error {
	filter, err := filterOf(c)
	if err != nil {
		return err
	}
	last := filter.Last
	if last > 0 {
		filter.Last++ // to see whether there are more
	}
	entries, err := s.List(c.Context, filter)
	if err != nil {
		return err
	}
	out := runList{Store: s.Path, More: last > 0 && len(entries) > last}
	if out.More {
		entries = entries[len(entries)-last:]
	}
	if out.Runs, err = withBaselines(c.Context, s, entries...); err != nil {
		return err
	}
	headings := []string{"RUN", "STARTED (UTC)", "PLAN", "HOSTS", "STATUS", "LABEL", "BASELINES"}
	if len(out.Runs) == 0 {
		headings = nil
	}
	return command.AnswerTable(c, "history list", out, headings, func(t command.Table) {
		switch {
		case len(out.Runs) == 0:
			command.Note(c, "no such run in "+out.Store)
		case out.More:
			command.Note(c, "the newest "+units.Plural(len(out.Runs), "run")+"; --last 0 lists all")
		}
		for _, r := range out.Runs {
			t.Row(r.ID, r.Started, r.Plan, r.Hosts, r.Status, r.Label, strings.Join(r.Baselines, ", "))
		}
	})
}

func withBaselines(ctx context.Context, s *history.Store, entries ...history.Entry) ([]storedRun, error) {
	all, err := s.Baselines(ctx)
	out := []storedRun{}
	for _, e := range entries {
		in := lists.Where(all, func(b history.Baseline) bool { return slices.Contains(b.Runs, e.ID) })
		names := lists.Map(in, func(b history.Baseline) string { return b.Name })
		out = append(out, storedRun{e, append([]string{}, names...)})
	}
	return out, err
}

func showRun(c *cli.Context, s *history.Store, id string) error {
	e, err := s.Find(c.Context, id)
	if err != nil {
		return err
	}
	p, _, err := s.Read(c.Context, e.ID)
	runs, other := withBaselines(c.Context, s, e)
	if err = cmp.Or(err, other); err != nil {
		return err
	}
	out := reports.Result{Command: "history show", Params: p, Data: runs[0]}
	return command.AnswerResult(c, out, nil, func(w io.Writer) error {
		t := command.NewTable(w)
		for _, f := range [][2]string{
			{"run", e.ID}, {"started", command.Minute(e.Started) + " UTC"}, {"added", command.Minute(e.Added) + " UTC"},
			{"plan", e.Plan}, {"status", e.Status}, {"label", e.Label}, {"commit", e.Commit}, {"from", e.Path},
			{"baselines", strings.Join(runs[0].Baselines, ", ")},
		} {
			if f[1] != "" {
				t.Row(f[0], f[1])
			}
		}
		t.Row()
		return cmp.Or(t.Flush(), reports.Screen(w, p, command.PageOptions(c, "")))
	})
}

type historyLog struct {
	Store string    `json:"store"`
	Lines []logLine `json:"lines"`
}

// logLine is something that was done to the history or, with Change, a change of level that was found now.
type logLine struct {
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`    // an event's, or "change"
	Subject string    `json:"subject"` // the run, the baseline, the metric
	Detail  string    `json:"detail,omitempty"`
	Change  *change   `json:"change,omitempty"`
}

func printLog(c *cli.Context, s *history.Store) error {
	last := c.Int("last")
	events, err := s.Events(c.Context, last)
	all, other := s.Followed(c.Context)
	if err = cmp.Or(err, other); err != nil {
		return err
	}
	v, err := surveyRuns(c.Context, s, history.Filter{Last: plottedRuns}, all)
	if err != nil {
		return err
	}
	out := historyLog{Store: s.Path, Lines: logLines(events, v.changes(), last)}
	return command.AnswerTable(c, "history log", out, nil, func(t command.Table) {
		for _, l := range out.Lines {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", command.Minute(l.At), l.Kind, l.Subject, l.Detail)
		}
	})
}

// logLines merges events and changes by time, and returns the newest so many; last 0 is all.
func logLines(events []history.Event, changes []change, last int) []logLine {
	out := []logLine{}
	for i := range changes {
		c := &changes[i]
		detail := fmt.Sprintf("%s, %s, with run %s", c.percent(), c.levels(), c.Run)
		if c.Ack != nil {
			detail += "; acknowledged: " + c.Ack.Reason
		}
		out = append(out, logLine{c.At, "change", c.subject(), detail, c})
	}
	for _, e := range events {
		out = append(out, logLine{e.At, e.Kind, e.Subject, e.Detail, nil})
	}
	slices.SortStableFunc(out, func(a, b logLine) int { return a.At.Compare(b.At) })
	if last > 0 {
		out = out[max(len(out)-last, 0):]
	}
	return out
}

func noRun(s *history.Store) error {
	return exit.Usagef("no such run in %s; calib history list shows what there is", s.Path)
}
