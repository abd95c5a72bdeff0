package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/history"
	"calib/internal/units"
	"calib/reports"
	"calib/reports/compare"
)

func BaselineCommand() *cli.Command {
	named := []cli.Flag{StoreFlag(), command.JSONFlag()}
	return &cli.Command{
		Name: "baseline", Usage: "name runs of the history to compare others with",
		Description: "calib run --aa 10 --hosts hosts.txt --out good\n" +
			"calib baseline set main good              keep these runs, and name them\n" +
			"calib compare baseline:main NEW           hold others against them\n" +
			"calib gate --baseline main --hosts hosts.txt",
		Subcommands: []*cli.Command{
			{Name: "set", Usage: "make a baseline, in place of one of the same name", ArgsUsage: "NAME RUN...",
				Description: "RUN is the ID of a stored run, or the beginning of only one ID; or a run directory, a params.json or a directory\n" +
					"of runs, which are added to the history. The noise.json in a directory of runs is kept with the baseline.",
				Flags: command.Join([]cli.Flag{
					&cli.StringFlag{Name: "note", Usage: "`TEXT` that says what it is"},
					&cli.StringFlag{Name: "noise", Usage: "noise floor `FILE` of calib run --aa"},
				}, named), Action: baselineSetAction},
			{Name: "list", Usage: "list the baselines", Flags: named, Action: baselineListAction},
			{Name: "show", Usage: "print the runs of a baseline", ArgsUsage: "NAME", Flags: named, Action: baselineShowAction},
			{Name: "remove", Usage: "remove a baseline; its runs stay in the history", ArgsUsage: "NAME", Flags: named,
				Action: baselineRemoveAction},
		},
		Action: command.GroupAction,
	}
}

func baselineListAction(c *cli.Context) error {
	if err := command.NoArgs(c); err != nil {
		return err
	}
	return withStore(c, history.OpenExisting, func(s *history.Store) error {
		all, err := s.Baselines(c.Context)
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return reports.Result{Command: "baseline list", Data: baselineList{s.Path(), append([]history.Baseline{}, all...)}}.Encode(c.App.Writer)
		}
		t := command.NewTable(c.App.Writer)
		fmt.Fprintln(t, "BASELINE\tRUNS\tMADE (UTC)\tNOISE FLOOR\tNOTE")
		for _, b := range all {
			fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\n", b.Name, len(b.Runs), command.Minute(b.Made), map[bool]string{true: "yes", false: "no"}[b.Noise], command.OrDash(b.Note))
		}
		return t.Flush()
	})
}

func baselineShowAction(c *cli.Context) error {
	name, err := command.OneArg(c, "name of a baseline")
	if err != nil {
		return err
	}
	return withStore(c, history.OpenExisting, func(s *history.Store) error {
		out, err := readBaseline(c.Context, s, name)
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return reports.Result{Command: "baseline show", Data: out}.Encode(c.App.Writer)
		}
		return tellBaseline(c, out)
	})
}

func tellBaseline(c *cli.Context, out baselineShown) error {
	t := command.NewTable(c.App.Writer)
	fmt.Fprintf(t, "baseline\t%s\nmade\t%s UTC\n", out.Baseline.Name, command.Minute(out.Baseline.Made))
	if out.Baseline.Note != "" {
		fmt.Fprintf(t, "note\t%s\n", out.Baseline.Note)
	}
	if out.Noise != nil {
		fmt.Fprintf(t, "noise floor\tof %s, %s\n", units.Plural(len(out.Noise.Runs), "run"), units.Plural(len(out.Noise.Of), "metric"))
	}
	if out.Cut != nil {
		fmt.Fprintf(t, "known change\tfrom run %s on: %s; runs before it are not compared with\n", out.Cut.Run, out.Cut.Reason)
	}
	fmt.Fprintln(t)
	fmt.Fprintln(t, "RUN\tSTARTED (UTC)\tPLAN\tHOSTS\tSTATUS\tLABEL\tUSED")
	for _, r := range out.Runs {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", r.ID, command.Minute(r.Started), command.OrDash(r.Plan), r.Hosts, command.OrDash(r.Status),
			command.OrDash(r.Label), command.YesNo(r.Used))
	}
	return t.Flush()
}

func baselineRemoveAction(c *cli.Context) error {
	name, err := command.OneArg(c, "name of a baseline")
	if err != nil {
		return err
	}
	return withStore(c, history.OpenExisting, func(s *history.Store) error {
		if err := s.RemoveBaseline(c.Context, name); err != nil {
			return withNames(c.Context, s, err)
		}
		return tellRemoved(c, "baseline remove", historyRemoved{s.Path(), name}, "baseline "+name)
	})
}

// withNames adds to the error of a baseline that is not there which there are.
func withNames(ctx context.Context, s *history.Store, err error) error {
	if !errors.Is(err, history.ErrNotFound) {
		return err
	}
	all, lerr := s.Baselines(ctx)
	if lerr != nil {
		return errors.Join(err, lerr)
	}
	if len(all) == 0 {
		return fmt.Errorf("%w: there is none yet; calib baseline set NAME RUN makes one", err)
	}
	var names []string
	for _, b := range all {
		names = append(names, b.Name)
	}
	return fmt.Errorf("%w; there are %s", err, strings.Join(names, ", "))
}

// readBaseline returns a baseline and its runs; those before the newest known change of everything are not used.
func readBaseline(ctx context.Context, s *history.Store, name string) (baselineShown, error) {
	b, err := s.Baseline(ctx, name)
	if err != nil {
		return baselineShown{}, withNames(ctx, s, err)
	}
	out := baselineShown{Store: s.Path(), Baseline: b, Runs: []baselineRun{}}
	acks, err := s.Acks(ctx)
	if err != nil {
		return out, err
	}
	acks = slices.DeleteFunc(acks, func(a history.Ack) bool { return a.Metric != "" || a.Link != "" })
	for _, id := range b.Runs {
		e, err := s.Find(ctx, id)
		if err != nil {
			return out, err
		}
		r := baselineRun{Entry: e, Used: true}
		if n := len(acks); n > 0 && e.Started.Before(acks[n-1].At) { // they come by the start of their runs
			r.Used, out.Cut = false, &acks[n-1]
		}
		out.Runs = append(out.Runs, r)
	}
	noise, err := s.Noise(ctx, name)
	if err != nil || noise == nil {
		return out, err
	}
	if out.Noise, err = compare.ReadFloor(bytes.NewReader(noise)); err != nil {
		err = fmt.Errorf("history %s: baseline %s: %w", s.Path(), name, err)
	}
	return out, err
}

// BaselineRuns returns the runs of a baseline to compare with, without those before the newest known change of everything.
func BaselineRuns(c *cli.Context, name string) ([]compare.Run, error) {
	var runs []compare.Run
	err := withStore(c, history.OpenExisting, func(s *history.Store) error {
		b, err := readBaseline(c.Context, s, name)
		if err != nil {
			return err
		}
		for _, r := range b.Runs {
			if !r.Used {
				continue
			}
			p, err := s.Params(c.Context, r.ID)
			if err != nil {
				return err
			}
			runs = append(runs, compare.FromParams(p, r.Started))
		}
		if n := len(b.Runs) - len(runs); n > 0 {
			says := fmt.Sprintf("baseline %s: %d of %s were before the known change of everything with run %s (%s)", name, n,
				units.Plural(len(b.Runs), "run"), b.Cut.Run, b.Cut.Reason)
			if len(runs) == 0 {
				return command.Usagef("%s; set it anew with runs behind it", says)
			}
			command.NoteTo(c)(says + ": not compared with")
		}
		return nil
	})
	return runs, err
}

// BaselineFloor returns the noise floor that is kept with a baseline, nil where there is none.
func BaselineFloor(c *cli.Context, name string) (*compare.Floor, error) {
	var floor *compare.Floor
	err := withStore(c, history.OpenExisting, func(s *history.Store) error {
		b, err := readBaseline(c.Context, s, name)
		floor = b.Noise
		return err
	})
	return floor, err
}
