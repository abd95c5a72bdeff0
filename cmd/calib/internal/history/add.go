package history

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/runfiles"
	"calib/internal/history"
	"calib/internal/rundir"
	"calib/reports"
)

func historyAddCommand() *cli.Command {
	return &cli.Command{
		Name: "add", Usage: "keep runs", ArgsUsage: "RUN...",
		Description: "RUN is a run directory, its params.json, or a directory of runs (as calib run --aa writes). A run is stored whole:\n" +
			"its directory is not needed again, unless for its raw timings. A run that is there already is left as it is.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "label", Usage: "`LABEL` of the runs, such as nightly"},
			&cli.StringFlag{Name: "commit", Usage: "`REVISION` of what was tested"},
			&cli.StringFlag{Name: "at", Usage: "`TIME` at which the run started, for a params.json without a run.json; else its ID says"},
			StoreFlag(), command.JSONFlag(), command.QuietFlag(),
		},
		Action: historyAdd,
	}
}

func historyAdd(c *cli.Context) error {
	if err := command.NoFlagsAfter(c); err != nil {
		return err
	}
	if c.NArg() == 0 {
		return command.Usagef("history add: give run directories (see %s --help)", c.Command.HelpName)
	}
	a := additions{c: c, entry: history.Entry{Label: c.String("label"), Commit: c.String("commit")}}
	var err error
	if a.at, err = momentFlag(c, "at"); err != nil {
		return err
	}
	var paths []string
	for _, arg := range c.Args().Slice() {
		found, err := runfiles.ParamsFiles(arg)
		if err != nil {
			return err
		}
		paths = append(paths, found...)
	}
	if !a.at.IsZero() && len(paths) != 1 {
		return command.Usagef("--at is the start of one run, and these are %d", len(paths))
	}
	return withStore(c, history.Open, func(s *history.Store) error {
		err := storeError(a.add(s, paths))
		return tellAdded(c, s.Path(), a.done, err)
	})
}

// additions adds runs to a history, one after the other.
type additions struct {
	c     *cli.Context
	entry history.Entry // what is said of all
	at    time.Time     // start of a run that does not say; zero where it is not given
	done  []historyAdded
}

// add adds the runs of params.json files. It ends with the first that cannot be added; those before it are stored.
func (a *additions) add(s *history.Store, paths []string) error {
	for _, path := range paths {
		r, err := a.record(path)
		if err != nil {
			return err
		}
		added, err := s.Add(a.c.Context, r)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		a.done = append(a.done, historyAdded{ID: r.ID, Started: r.Started, Path: r.Path, Added: added})
	}
	return nil
}

// record reads a params.json, and what the run.json beside it says.
func (a *additions) record(path string) (history.Record, error) {
	p, err := runfiles.ReadParams(path)
	if err != nil {
		return history.Record{}, command.WithCode(command.ExitUsage, err)
	}
	r := history.Record{Entry: a.entry, Params: p}
	r.ID, r.Started, r.Path = p.Run.ID, a.at, path
	dir := filepath.Dir(path)
	if command.HasFile(filepath.Join(dir, rundir.RunFile)) {
		d, err := rundir.Open(dir)
		if err != nil {
			return r, command.WithCode(command.ExitUsage, err)
		}
		if run := d.Run(); run.ID == p.Run.ID {
			if !a.at.IsZero() {
				return r, command.Usagef("--at: %s says when run %s started, %s", d.File(rundir.RunFile), run.ID, run.Started.Format(time.RFC3339))
			}
			r.Started, r.Status, r.Path = run.Started, run.Status, dir
		}
	}
	if r.Started.IsZero() {
		r.Started = runfiles.StartOf(r.ID)
	}
	if r.Started.IsZero() {
		return r, command.Usagef("%s: it is not known when run %q started: there is no %s of it, and its ID is no date; give --at TIME",
			path, r.ID, rundir.RunFile)
	}
	r.Started = r.Started.UTC()
	if r.Path, err = filepath.Abs(r.Path); err != nil {
		return r, fmt.Errorf("run %s: %w", path, err)
	}
	return r, nil
}

// tellAdded says which runs are stored, also where a later one failed with err.
func tellAdded(c *cli.Context, store string, runs []historyAdded, err error) error {
	if c.Bool("json") {
		r := reports.Result{Command: "history add", Exit: command.CodeOf(err), Data: historyAdditions{store, append([]historyAdded{}, runs...)}}
		if err != nil {
			r.Error = err.Error()
		}
		return command.Silent(err, r.Encode(c.App.Writer))
	}
	t := command.NewTable(c.App.Writer)
	for _, r := range runs {
		what := "added"
		if !r.Added {
			what = "already there, and left as it is"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", r.ID, command.Minute(r.Started), what)
	}
	return command.JoinFirst(err, t.Flush())
}

func historyRemoveCommand() *cli.Command {
	return &cli.Command{
		Name: "remove", Usage: "take a run out of the history, for good", ArgsUsage: "RUN",
		Description: "RUN is the ID of a run, or the beginning of only one ID. A run of a baseline stays.",
		Flags:       []cli.Flag{StoreFlag(), command.JSONFlag()},
		Action: func(c *cli.Context) error {
			id, err := command.OneArg(c, "run ID")
			if err != nil {
				return err
			}
			return withStore(c, history.OpenExisting, func(s *history.Store) error {
				e, err := s.Find(c.Context, id)
				if err != nil {
					return err
				}
				if err := s.Remove(c.Context, e.ID); err != nil {
					return err
				}
				return tellRemoved(c, "history remove", historyRemoved{s.Path(), e.ID}, "run "+e.ID)
			})
		},
	}
}

// tellRemoved says what is no longer there.
func tellRemoved(c *cli.Context, verb string, r historyRemoved, what string) error {
	if c.Bool("json") {
		return reports.Result{Command: verb, Data: r}.Encode(c.App.Writer)
	}
	_, err := fmt.Fprintf(c.App.Writer, "removed %s\n", what)
	return err
}
