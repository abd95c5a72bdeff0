package history

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/runfiles"
	"calib/internal/history"
	"calib/internal/units"
	"calib/reports"
)

func historyListCommand() *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "list the runs, oldest first",
		Flags:  command.Join(filterFlags(listedRuns), []cli.Flag{StoreFlag(), command.JSONFlag()}),
		Action: historyList,
	}
}

func historyList(c *cli.Context) error {
	if err := command.NoArgs(c); err != nil {
		return err
	}
	filter, err := filterOf(c)
	if err != nil {
		return err
	}
	return withStore(c, history.OpenExisting, func(s *history.Store) error {
		more := filter
		if filter.Last > 0 {
			more.Last++ // whether there are more
		}
		entries, err := s.List(c.Context, more)
		if err != nil {
			return err
		}
		out := historyRuns{Store: s.Path(), Runs: []historyRun{}, More: filter.Last > 0 && len(entries) > filter.Last}
		if out.More {
			entries = entries[len(entries)-filter.Last:]
		}
		in, err := baselinesOfRuns(c.Context, s)
		if err != nil {
			return err
		}
		for _, e := range entries {
			out.Runs = append(out.Runs, historyRun{e, append([]string{}, in[e.ID]...)})
		}
		return tellRuns(c, out)
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

func tellRuns(c *cli.Context, out historyRuns) error {
	if c.Bool("json") {
		return reports.Result{Command: "history list", Data: out}.Encode(c.App.Writer)
	}
	switch note := command.NoteTo(c); {
	case len(out.Runs) == 0:
		note("no such run in " + out.Store)
		return nil
	case out.More:
		note("the newest " + units.Plural(len(out.Runs), "run") + "; --last 0 lists all")
	}
	t := command.NewTable(c.App.Writer)
	fmt.Fprintln(t, "RUN\tSTARTED (UTC)\tPLAN\tHOSTS\tSTATUS\tLABEL\tBASELINES")
	for _, r := range out.Runs {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", r.ID, command.Minute(r.Started), command.OrDash(r.Plan), r.Hosts, command.OrDash(r.Status),
			command.OrDash(r.Label), command.OrDash(strings.Join(r.Baselines, ", ")))
	}
	return t.Flush()
}

func historyShowCommand() *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "print the parameters of a run", ArgsUsage: "RUN",
		Description: "RUN is the ID of a run, or the beginning of only one ID.",
		Flags:       []cli.Flag{StoreFlag(), command.JSONFlag()},
		Action: func(c *cli.Context) error {
			id, err := command.OneArg(c, "run ID")
			if err != nil {
				return err
			}
			return withStore(c, history.OpenExisting, func(s *history.Store) error { return historyShow(c, s, id) })
		},
	}
}

func historyShow(c *cli.Context, s *history.Store, id string) error {
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
	r := historyRun{e, append([]string{}, in[e.ID]...)}
	if c.Bool("json") {
		return reports.Result{Command: "history show", Params: p, Data: r}.Encode(c.App.Writer)
	}
	t := command.NewTable(c.App.Writer)
	fmt.Fprintf(t, "run\t%s\nstarted\t%s UTC\nadded\t%s UTC\n", e.ID, command.Minute(e.Started), command.Minute(e.Added))
	for _, f := range [][2]string{
		{"plan", e.Plan}, {"status", e.Status}, {"label", e.Label}, {"commit", e.Commit}, {"from", e.Path}, {"baselines", strings.Join(r.Baselines, ", ")},
	} {
		if f[1] != "" {
			fmt.Fprintf(t, "%s\t%s\n", f[0], f[1])
		}
	}
	fmt.Fprintln(t)
	if err := t.Flush(); err != nil {
		return err
	}
	return reports.Table(c.App.Writer, p, runfiles.PageOptions(c, ""))
}

func historyMetricsCommand() *cli.Command {
	return &cli.Command{
		Name: "metrics", Usage: "list what can be followed",
		Flags: []cli.Flag{StoreFlag(), command.JSONFlag()},
		Action: func(c *cli.Context) error {
			if err := command.NoArgs(c); err != nil {
				return err
			}
			return withStore(c, history.OpenExisting, func(s *history.Store) error {
				all, err := s.Followed(c.Context)
				if err != nil {
					return err
				}
				return tellMetrics(c, historyMetrics{s.Path(), append([]history.Followed{}, all...)})
			})
		},
	}
}

func tellMetrics(c *cli.Context, out historyMetrics) error {
	if c.Bool("json") {
		return reports.Result{Command: "history metrics", Data: out}.Encode(c.App.Writer)
	}
	t := command.NewTable(c.App.Writer)
	fmt.Fprintln(t, "METRIC\tLINK\tUNIT\tRUNS\tFIRST (UTC)\tLAST (UTC)\tWHAT IT IS")
	for _, f := range out.Metrics {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", f.Name, command.OrDash(f.Link()), f.Unit, f.Runs, command.Minute(f.First), command.Minute(f.Last), f.Label)
	}
	return t.Flush()
}
