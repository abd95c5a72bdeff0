package history

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/history"
	"calib/internal/params"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/reports"
)

func addRuns(c *cli.Context) error {
	if c.NArg() == 0 {
		return exit.Usagef("history add: give run directories (see %s --help)", c.Command.HelpName)
	}
	a := adder{entry: history.Entry{Label: c.String("label"), Commit: c.String("commit")}, done: []addition{}}
	var err error
	if a.entry.Started, err = timeFlag(c, "at"); err != nil {
		return err
	}
	var paths []string
	for _, arg := range c.Args().Slice() {
		found, err := command.ParamsFiles(arg)
		if err != nil {
			return err
		}
		paths = append(paths, found...)
	}
	if !a.entry.Started.IsZero() && len(paths) != 1 {
		return exit.Usagef("--at is the start of one run, and these are %d", len(paths))
	}
	return withStore(c, history.Open, func(s *history.Store) error {
		err := storeError(a.add(c, s, paths))
		// Runs before one that failed are stored, and so are printed too.
		out := reports.Result{Command: "history add", Data: additions{s.Path(), a.done}}
		return command.AnswerResult(c, out, err, func(w io.Writer) error {
			t := command.NewTable(w)
			for _, r := range a.done {
				what := "added"
				if !r.Added {
					what = "already there, and left as it is"
				} else if n := len(r.Skipped); n > 0 {
					what += fmt.Sprintf("; not followed, since not ok: %s", strings.Join(r.Skipped, ", "))
				}
				t.Row(r.ID, r.Started, what)
			}
			return t.Flush()
		})
	})
}

type adder struct {
	entry history.Entry // label and commit of all; --at, the start of a run whose files do not have it, or zero
	done  []addition
}

// add adds the runs of params.json files. It ends with the first that cannot be added; those before it are stored.
func (a *adder) add(c *cli.Context, s *history.Store, paths []string) error {
	for _, path := range paths {
		r, err := a.record(c, path)
		if err != nil {
			return err
		}
		added, err := s.Add(c.Context, r)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		a.done = append(a.done, addition{ID: r.ID, Started: r.Started, Path: r.Path, Added: added,
			Skipped: notFollowed(r.Params)})
	}
	return nil
}

// notFollowed lists the parameters and functions of a run that are not ok, with their status: a history skips them.
func notFollowed(p *params.Params) (out []string) {
	add := func(name, status string) {
		if status != params.StatusOK {
			out = append(out, name+" ("+status+")")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		add(name, p.Parameters[name].Status)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Functions)) {
		add("function "+name, cmp.Or(p.Functions[name].Status, params.StatusOK))
	}
	return out
}

// record reads a params.json, and the run.json beside it.
func (a *adder) record(c *cli.Context, path string) (r history.Record, err error) {
	dir, unread := rundir.Open(filepath.Dir(path))
	if unread == nil {
		if err = command.Whole(c, dir); err != nil {
			return r, err
		}
	}
	r.Entry = a.entry
	if r.Params, err = command.ReadParams(path); err != nil {
		return r, exit.With(exit.Usage, err)
	}
	r.ID, r.Path = r.Params.Run.ID, path
	switch {
	case unread != nil && command.Exists(filepath.Join(filepath.Dir(path), rundir.RunFile)):
		return r, exit.With(exit.Usage, unread)
	case unread == nil && dir.Run().ID == r.ID:
		run := dir.Run()
		if !r.Started.IsZero() {
			return r, exit.Usagef("--at: %s says when run %s started, %s", dir.File(rundir.RunFile), run.ID,
				run.Started.Format(time.RFC3339))
		}
		r.Started, r.Status, r.Path, r.Detail = run.Started, run.Status, dir.Path(), run.Detail
		if run.Ended != nil {
			r.Took = run.Ended.Sub(run.Started)
		}
	}
	if r.Started = cmp.Or(r.Started, command.StartOf(r.ID)).UTC(); r.Started.IsZero() {
		return r, exit.Usagef("%s: it is not known when run %q started: there is no %s of it, and its ID is no date; "+
			"give --at TIME", path, r.ID, rundir.RunFile)
	}
	if r.Path, err = filepath.Abs(r.Path); err != nil {
		err = fmt.Errorf("run %s: %w", path, err)
	}
	return r, err
}

// answerRemoved says what is no longer there, something of a kind by its name, unless removing it was an error.
func answerRemoved(c *cli.Context, s *history.Store, verb, kind, name string, err error) error {
	if err != nil {
		return err
	}
	return command.AnswerLines(c, verb, removed{s.Path(), name}, fmt.Sprintf("removed %s %s", kind, name))
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
	out := runList{Store: s.Path(), More: last > 0 && len(entries) > last}
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

// withBaselines returns runs with the baselines that they are in.
func withBaselines(ctx context.Context, s *history.Store, entries ...history.Entry) ([]storedRun, error) {
	all, err := s.Baselines(ctx)
	out := []storedRun{}
	for _, e := range entries {
		in := []string{}
		for _, b := range all {
			if slices.Contains(b.Runs, e.ID) {
				in = append(in, b.Name)
			}
		}
		out = append(out, storedRun{e, in})
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

func printLog(c *cli.Context, s *history.Store) error {
	last := c.Int("last")
	if last < 0 {
		return exit.Usagef("--last %d: want a number of lines, or 0 for all", last)
	}
	events, err := s.Events(c.Context, last)
	if err != nil {
		return err
	}
	all, err := s.Followed(c.Context)
	if err != nil {
		return err
	}
	v, err := surveyRuns(c.Context, s, history.Filter{Last: plottedRuns}, all)
	if err != nil {
		return err
	}
	out := historyLog{Store: s.Path(), Lines: logLines(events, v.changes(), last)}
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
