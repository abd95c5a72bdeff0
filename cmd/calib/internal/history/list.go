package history

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/history"
	"calib/internal/units"
	"calib/reports"
)

func listCommand() *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "list the runs, oldest first",
		Flags:  append(filterFlags(listedRuns), StoreFlag(), command.JSONFlag()),
		Action: onStore(listRuns),
	}
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
	out := runList{Store: s.Path(), Runs: []storedRun{}, More: last > 0 && len(entries) > last}
	if out.More {
		entries = entries[len(entries)-last:]
	}
	in, err := baselinesOfRuns(c.Context, s)
	if err != nil {
		return err
	}
	for _, e := range entries {
		out.Runs = append(out.Runs, storedRun{e, append([]string{}, in[e.ID]...)})
	}
	return command.Answer(c, "history list", out, func(w io.Writer) error {
		switch {
		case len(out.Runs) == 0:
			command.Note(c, "no such run in "+out.Store)
			return nil
		case out.More:
			command.Note(c, "the newest "+units.Plural(len(out.Runs), "run")+"; --last 0 lists all")
		}
		t := command.NewTable(w, "RUN", "STARTED (UTC)", "PLAN", "HOSTS", "STATUS", "LABEL", "BASELINES")
		for _, r := range out.Runs {
			t.Row(r.ID, r.Started, r.Plan, r.Hosts, r.Status, r.Label, strings.Join(r.Baselines, ", "))
		}
		return t.Flush()
	})
}

// baselinesOfRuns returns the baselines that each run is in, by the run's ID.
func baselinesOfRuns(ctx context.Context, s *history.Store) (map[string][]string, error) {
	all, err := s.Baselines(ctx)
	if err != nil {
		return nil, err
	}
	in := map[string][]string{}
	for _, b := range all {
		for _, id := range b.Runs {
			in[id] = append(in[id], b.Name)
		}
	}
	return in, nil
}

func showCommand() *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "print the parameters of a run", ArgsUsage: "RUN",
		Description: "RUN is the ID of a run, or the beginning of only one ID.",
		Flags:       []cli.Flag{StoreFlag(), command.JSONFlag(), command.AllFlag()},
		Action:      onNamed("run ID", showRun),
	}
}

func showRun(c *cli.Context, s *history.Store, id string) error {
	e, err := s.Find(c.Context, id)
	if err != nil {
		return err
	}
	p, err := s.Params(c.Context, e.ID)
	if err != nil {
		return err
	}
	in, err := baselinesOfRuns(c.Context, s)
	if err != nil {
		return err
	}
	r := storedRun{e, append([]string{}, in[e.ID]...)}
	out := reports.Result{Command: "history show", Params: p, Data: r}
	return command.AnswerResult(c, out, nil, func(w io.Writer) error {
		t := command.NewTable(w)
		t.Row("run", e.ID)
		t.Row("started", command.Minute(e.Started)+" UTC")
		t.Row("added", command.Minute(e.Added)+" UTC")
		for _, f := range [][2]string{
			{"plan", e.Plan}, {"status", e.Status}, {"label", e.Label}, {"commit", e.Commit}, {"from", e.Path},
			{"baselines", strings.Join(r.Baselines, ", ")},
		} {
			if f[1] != "" {
				t.Row(f[0], f[1])
			}
		}
		t.Row()
		if err := t.Flush(); err != nil {
			return err
		}
		return reports.Screen(w, p, command.PageOptions(c, ""))
	})
}

func metricsCommand() *cli.Command {
	return &cli.Command{
		Name: "metrics", Usage: "list what can be followed",
		Flags: []cli.Flag{StoreFlag(), command.JSONFlag()},
		Action: onStore(func(c *cli.Context, s *history.Store) error {
			all, err := s.Followed(c.Context)
			if err != nil {
				return err
			}
			return command.Answer(c, "history metrics", metricList{s.Path(), all}, func(w io.Writer) error {
				t := command.NewTable(w, "METRIC", "LINK", "UNIT", "RUNS", "FIRST (UTC)", "LAST (UTC)", "WHAT IT IS")
				for _, f := range all {
					t.Row(f.Name, f.Link(), f.Unit, f.Runs, f.First, f.Last, f.Label)
				}
				return t.Flush()
			})
		}),
	}
}

func logCommand() *cli.Command {
	return &cli.Command{
		Name: "log", Usage: "list what was done to the history, and the changes found, in the order of time",
		Description: fmt.Sprintf("Changes are searched anew each time, in the newest %d runs. "+
			"A change stands at the start of its run.", plottedRuns),
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "last", Value: loggedLines, Usage: "the newest `N` lines; 0 is all"},
			StoreFlag(), command.JSONFlag(),
		},
		Action: onStore(printLog),
	}
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
	return command.Answer(c, "history log", out, func(w io.Writer) error {
		t := command.NewTable(w)
		for _, l := range out.Lines {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", command.Minute(l.At), l.Kind, l.Subject, l.Detail)
		}
		return t.Flush()
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
		out = append(out, logLine{At: c.At, Kind: kindChange, Subject: c.subject(), Detail: detail, Change: c})
	}
	for _, e := range events {
		out = append(out, logLine{At: e.At, Kind: e.Kind, Subject: e.Subject, Detail: e.Detail})
	}
	slices.SortStableFunc(out, func(a, b logLine) int { return a.At.Compare(b.At) })
	if last > 0 && len(out) > last {
		out = out[len(out)-last:]
	}
	return out
}
