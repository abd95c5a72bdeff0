package history

import (
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
	"calib/reports"
)

func addCommand() *cli.Command {
	return &cli.Command{
		Name: "add", Usage: "keep runs", ArgsUsage: "RUN...",
		Description: "RUN is a run directory, its params.json, or a directory of runs (as calib run --aa writes). " +
			"A run is stored whole:\n" +
			"its directory is needed again only for its raw timings. A run that is there already is left as it is.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "label", Usage: "`LABEL` of the runs, such as nightly"},
			&cli.StringFlag{Name: "commit", Usage: "`REVISION` of what was tested"},
			&cli.StringFlag{Name: "at",
				Usage: "`TIME` at which the run started, for a params.json without a run.json; default from its ID"},
			StoreFlag(), command.PartialFlag(), command.JSONFlag(), command.QuietFlag(),
		},
		Action: addRuns,
	}
}

func addRuns(c *cli.Context) error {
	if err := command.NoFlagsAfter(c); err != nil {
		return err
	}
	if c.NArg() == 0 {
		return exit.Usagef("history add: give run directories (see %s --help)", c.Command.HelpName)
	}
	a := adder{entry: history.Entry{Label: c.String("label"), Commit: c.String("commit")}, done: []addition{}}
	var err error
	if a.started, err = timeFlag(c, "at"); err != nil {
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
	if !a.started.IsZero() && len(paths) != 1 {
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

// adder adds runs to a history, one after the other.
type adder struct {
	entry   history.Entry // label and commit of all
	started time.Time     // --at, for a run whose files do not have it; zero where it is not given
	done    []addition
}

// add adds the runs of params.json files. It ends with the first that cannot be added; those before it are stored.
func (a *adder) add(c *cli.Context, s *history.Store, paths []string) error {
	for _, path := range paths {
		if dir, err := rundir.Open(filepath.Dir(path)); err == nil {
			if err := command.Whole(c, dir); err != nil {
				return err
			}
		}
		r, err := a.record(path)
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
func notFollowed(p *params.Params) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		if q := p.Parameters[name]; q.Status != params.StatusOK {
			out = append(out, name+" ("+q.Status+")")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Functions)) {
		if f := p.Functions[name]; f.Status != "" && f.Status != params.StatusOK {
			out = append(out, "function "+name+" ("+f.Status+")")
		}
	}
	return out
}

// record reads a params.json, and the run.json beside it.
func (a *adder) record(path string) (history.Record, error) {
	p, err := command.ReadParams(path)
	if err != nil {
		return history.Record{}, exit.With(exit.Usage, err)
	}
	r := history.Record{Entry: a.entry, Params: p}
	r.ID, r.Started, r.Path = p.Run.ID, a.started, path
	dir := filepath.Dir(path)
	if command.Exists(filepath.Join(dir, rundir.RunFile)) {
		d, err := rundir.Open(dir)
		if err != nil {
			return r, exit.With(exit.Usage, err)
		}
		if run := d.Run(); run.ID == p.Run.ID {
			if !a.started.IsZero() {
				return r, exit.Usagef("--at: %s says when run %s started, %s", d.File(rundir.RunFile), run.ID,
					run.Started.Format(time.RFC3339))
			}
			r.Started, r.Status, r.Path, r.Detail = run.Started, run.Status, dir, run.Detail
			if run.Ended != nil {
				r.Took = run.Ended.Sub(run.Started)
			}
		}
	}
	if r.Started.IsZero() {
		r.Started = command.StartOf(r.ID)
	}
	if r.Started.IsZero() {
		return r, exit.Usagef("%s: it is not known when run %q started: there is no %s of it, and its ID is no date; "+
			"give --at TIME", path, r.ID, rundir.RunFile)
	}
	r.Started = r.Started.UTC()
	if r.Path, err = filepath.Abs(r.Path); err != nil {
		return r, fmt.Errorf("run %s: %w", path, err)
	}
	return r, nil
}

func removeCommand() *cli.Command {
	return &cli.Command{
		Name: "remove", Usage: "take a run out of the history, for good", ArgsUsage: "RUN",
		Description: "RUN is the ID of a run, or the beginning of only one ID. A run of a baseline cannot be removed.",
		Flags:       []cli.Flag{StoreFlag(), command.JSONFlag()},
		Action: onNamed("run ID", func(c *cli.Context, s *history.Store, id string) error {
			e, err := s.Find(c.Context, id)
			if err != nil {
				return err
			}
			if err := s.Remove(c.Context, e.ID); err != nil {
				return err
			}
			return answerRemoved(c, s, "history remove", "run", e.ID)
		}),
	}
}

// answerRemoved says what is no longer there: something of a kind, by its name.
func answerRemoved(c *cli.Context, s *history.Store, verb, kind, name string) error {
	return command.Answer(c, verb, removed{s.Path(), name}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "removed %s %s\n", kind, name)
		return err
	})
}
