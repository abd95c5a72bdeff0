// Package measuring holds the commands that measure, calib run, doctor, predict validate, lab selfcheck and agent, and
// calib hosts: flags become a run.Config, and what became of the run is printed.
package measuring

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/history"
	"calib/internal/dataset/names"
	"calib/internal/exit"
	"calib/internal/files"
	"calib/internal/hosts"
	"calib/internal/lists"
	"calib/internal/netspec"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/reports"
	"calib/reports/compare"
	"calib/run"
	"calib/run/plan"
)

func RunCommand() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "measure, fit and report: the main job",
		Description: "calib run --hosts hosts.txt       copies its agent to the hosts over ssh\n" +
			"calib run --local 2 --plan quick  two agents on this machine, half a minute",
		Flags: slices.Concat(WhereFlags(), PlanFlags(), command.Grouped("How", []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Usage: "probe the network, print the plan, and end"},
			&cli.BoolFlag{Name: "no-fit", Usage: "only measure; calib fit goes on from there"},
			&cli.IntFlag{Name: "aa", Usage: "make `N` runs; their differences are the noise floor"},
			&cli.StringFlag{Name: "truth", Usage: "print the true numbers of the lab `PRESET|FILE`, too"},
			&cli.StringFlag{Name: "out", Usage: "run `DIR`ectory; default calib-run-DATE-TIME"},
			&cli.StringFlag{Name: "resume", Usage: "continue the interrupted run in `DIR`"},
			YesFlag(), command.AllFlag(), command.JSONFlag(), command.QuietFlag(),
		})), Action: runAction,
	}
}

func runAction(c *cli.Context) error {
	switch {
	case c.Bool("dry-run"):
		return printPlan(c)
	case c.IsSet("aa") && c.Bool("no-fit"):
		return exit.Usagef("--aa with --no-fit: runs are compared by what is fitted; leave one of them out")
	case c.IsSet("aa"):
		return runAA(c)
	}
	config, err := configOf(c)
	truth, other := truthOf(c)
	if err = cmp.Or(err, other); err != nil {
		return err
	}
	if c.IsSet("truth") {
		config.Show.Note("the truth is that of the emulated network: its hosts add up to 30 µs to a message")
	}
	config.MeasureOnly = c.Bool("no-fit")
	r, err := run.Run(c.Context, config)
	switch {
	case r.Dir == nil:
		return err
	case config.MeasureOnly:
		return printMeasured(c, r.Dir, err)
	}
	return command.PrintRun(c, "run", r.Dir, truth, err)
}

// printMeasured says where the samples are of a run that is not fitted, and that has ended with err.
func printMeasured(c *cli.Context, dir *rundir.Dir, err error) error {
	path := dir.Path()
	r := reports.Result{Command: "run", Run: path, Files: command.FilesOf(path), Warnings: dir.Run().Warnings}
	return command.AnswerResult(c, r, err, func(w io.Writer) error {
		if err != nil {
			return nil
		}
		_, err := fmt.Fprintf(w, "The samples are in %s; calib fit %s makes parameters of them.\n",
			dir.File(rundir.SamplesFile), reports.ShellWord(path))
		return err
	})
}

// truthOf returns the parameters of a network that was made: that of --truth, or the simulated one.
func truthOf(c *cli.Context) (map[string]float64, error) {
	for _, flag := range []string{"truth", "sim"} {
		if network := c.String(flag); network != "" {
			s, err := netspec.Resolve(network)
			if err != nil {
				return nil, exit.Usagef("--%s: %w", flag, err)
			}
			return s.TrueParameters(), nil
		}
	}
	return nil, nil
}

const minAA = 2 // the least number of runs that can be compared with each other

// runAA makes runs of the same plan, one after the other, and writes how much they differ: the noise floor.
func runAA(c *cli.Context) error {
	n := c.Int("aa")
	switch {
	case n < minAA:
		return exit.Usagef("--aa %d: want %d runs or more; 10 give a noise floor worth having", n, minAA)
	case c.IsSet("resume"):
		return exit.Usagef("--aa with --resume: a series of runs starts anew")
	}
	config, err := configOf(c)
	if err != nil {
		return err
	}
	root := cmp.Or(c.String("out"), "aa-"+rundir.DefaultName(time.Now()))
	runs, err := Series(c, &config, root, "run", n)
	if len(runs) < minAA {
		return cmp.Or(err, fmt.Errorf("%d of %d runs have parameters, and a comparison needs %d", len(runs), n, minAA))
	}
	floor := compare.Noise(runs)
	path := filepath.Join(root, command.NoiseFile)
	if err := files.ReplaceBy(path, func(w io.Writer) error { return reports.WriteJSON(w, floor) }); err != nil {
		return err
	}
	r := reports.Result{Command: "run", Run: root, Files: map[string]string{command.NoiseFile: path}, Data: floor}
	return command.AnswerResult(c, r, err, func(w io.Writer) error {
		if err := compare.FloorText(w, floor); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "\nThe noise floor is in %s: calib compare --noise %s OLD NEW uses it.\n", path, path)
		return err
	})
}

// Series makes n runs in root/what-1 and on, each with a seed of its own, and returns those that have parameters. It
// goes on after a partial run, and stops at any other error, which it returns with the runs before it. config is then
// that of the next run.
func Series(c *cli.Context, config *run.Config, root, what string, n int) (runs []compare.Run, partial error) {
	for i := range n {
		config.Out = filepath.Join(root, fmt.Sprintf("%s-%d", what, i+1))
		config.Show.Note(fmt.Sprintf("%s %d of %d", what, i+1, n))
		r, err := run.Run(c.Context, *config)
		seen := r.Plan.Limits // of the first: all have the same plan
		config.Plan.Limits.Path, config.Plan.Limits.Segment, config.Probe = seen.Path, seen.Segment, r.Probe.Known()
		config.Plan.Seed++
		config.Confirm = nil // the answer is for all
		if err != nil {
			code := exit.CodeOf(err)
			if err = fmt.Errorf("run %d of %d: %w", i+1, n, err); code != exit.Partial {
				if i > 0 {
					err = fmt.Errorf("%w; the runs before it are in %s", err, root)
				}
				return runs, exit.With(code, err)
			}
			partial = exit.With(exit.Partial, err)
		}
		p, err := r.Dir.ReadParams()
		if err != nil {
			return runs, cmp.Or(partial, err)
		}
		runs = append(runs, compare.FromParams(p, r.Dir.Run().Started))
	}
	return runs, partial
}

// printPlan prints the plan of the flags, made of what agents see of the network. Without a look it is for networks of
// named speeds.
func printPlan(c *cli.Context) error {
	config, err := flagged(c)
	if err != nil {
		return err
	}
	var p reports.Plan
	if !config.Unprobed {
		p, err = run.Preview(c.Context, equipped(c, config))
	} else if config.Hosts, err = config.Where.Hosts(command.Noter(c)); err == nil {
		p, err = run.Forecast(config)
	}
	if err != nil {
		return err
	}
	return command.AnswerResult(c, reports.Result{Command: "run", Plan: &p}, nil, func(out io.Writer) error {
		return reports.PlanText(out, p, command.PageOptions(c, ""))
	})
}

func DoctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "check hosts and pairs before measuring, and say what to fix",
		Description: "calib doctor --hosts hosts.txt\n" +
			"It starts agents, tries every pair of hosts for some milliseconds, and reads the\n" +
			"hosts' settings. Exit codes: 0 ready, 4 some hosts or pairs cannot be measured,\n1 nothing can.",
		Flags: append(WhereFlags(), command.JSONFlag(), command.QuietFlag()),
		Action: func(c *cli.Context) error {
			w, err := whereOf(c)
			if err != nil {
				return err
			}
			if w.Sim != "" {
				return exit.Usagef("--sim: there is nothing to examine in a simulated network")
			}
			config, err := listed(c, w)
			if err != nil {
				return err
			}
			r, err := run.Examine(c.Context, config)
			switch {
			case err != nil:
				return err
			case r.Usable < 2:
				err = exit.With(exit.Failed, fmt.Errorf("no two hosts can be measured: see above what to mend"))
			case !r.Ready:
				err = exit.With(exit.Partial, fmt.Errorf("some hosts or pairs cannot be measured: see above what "+
					"to mend"))
			}
			return command.AnswerResult(c, reports.Result{Command: "doctor", Data: r}, err, r.Text)
		},
	}
}

func ValidateCommand() *cli.Command {
	return &cli.Command{
		Name: "validate", Usage: "compare a run's predictions with traffic that no fit has read", ArgsUsage: "RUN",
		Description: "calib predict validate RUN\n" +
			"A run that measured patterns is predicted again. On the hosts of any other, patterns\n" +
			"are measured first, into RUN/" + run.ValidationDir + ". params.json and the reports are written anew.",
		Flags: append(slices.DeleteFunc(WhereFlags(), func(f cli.Flag) bool {
			return !slices.Contains(againFlags, f.Names()[0])
		}),
			&cli.DurationFlag{Name: "budget", Value: validationTime, Usage: "longest `TIME` to measure patterns"},
			YesFlag(), command.JSONFlag(), command.QuietFlag(),
		),
		Action: func(c *cli.Context) error {
			dir, err := command.OpenRun(c, rundir.Open)
			if err != nil {
				return err
			}
			d, err := dir.Samples()
			if err != nil {
				return err
			}
			seen, err := run.Patterns(dir, d)
			var partial error
			if err == nil && seen == nil {
				if err = measurePatterns(c, dir); exit.CodeOf(err) == exit.Partial {
					partial, err = err, nil // what was measured counts
				}
				if err == nil {
					if seen, err = run.Patterns(dir, d); seen == nil {
						err = cmp.Or(err, partial)
					}
				}
			}
			if err != nil {
				return err
			}
			p, err := run.Validate(dir, d, seen, history.Paged(c, command.Noter(c)))
			if err != nil {
				return err
			}
			r := reports.Result{Command: "predict validate", Run: dir.Path(), Files: command.FilesOf(dir.Path()), Params: p}
			return command.AnswerResult(c, r, partial, func(w io.Writer) error {
				return reports.ValidationText(w, p, command.PageOptions(c, dir.Path()))
			})
		},
	}
}

// Patterns are measured in as many rounds as an interval needs.
const (
	validationTime   = time.Minute
	validationRounds = 6
)

// measurePatterns measures patterns on the hosts of a run, into a directory below it.
func measurePatterns(c *cli.Context, dir *rundir.Dir) error {
	config, err := run.Stored(dir.Run().Detail)
	if err != nil {
		return exit.Usagef("%s does not say on which hosts it was measured, and holds no patterns: %s: %w",
			dir.Path(), rundir.RunFile, err)
	}
	if err := confirmStored(c, &config.Where, "calib predict validate "+quote(dir.Path()), person(c)); err != nil {
		return err
	}
	config.Fit, config.Targets, config.Probe = run.Fitting{}, "", config.Probe.Known()
	config.Plan = validationPlan(config.Plan, units.Nanos(c.Duration("budget")))
	config.Out, config.MeasureOnly = dir.File(run.ValidationDir), true
	// A validation that was cut off before it had a pattern is made anew; one that is under way is not.
	if err := rundir.Clear(config.Out); err != nil {
		return err
	}
	if _, err := run.Run(c.Context, equipped(c, config)); err != nil {
		return fmt.Errorf("measure patterns: %w", err)
	}
	return nil
}

// validationPlan has patterns alone, as the plan of a run has them.
func validationPlan(p plan.Plan, budget units.Nanos) plan.Plan {
	p.Name, p.Experiments, p.Chosen, p.Budget = "validation", []string{names.Pattern}, true, budget
	p.Rounds = plan.Rounds{Min: validationRounds, Max: validationRounds}
	p.Limits.Sizes = nil // patterns have their own: a run of long messages alone has none of these
	return p
}

func HostsCommand() *cli.Command {
	return &cli.Command{
		Name: "hosts", Category: command.Tools, Usage: "work with host lists",
		Description: "calib hosts expand hosts.txt  # which may hold these lines:\n" +
			"node[01-16,20] user=bench cpu=2\ngate addr=10.1.0.1 port=7100\ncalib://[fd00::5]:7077\n" +
			"calib+unix:///run/calib/agent.sock addr=10.1.0.2\n" +
			"A hosts file has one host or range a line, # comments, then key=value. addr= and\n" +
			"port= are where peers dial for data, user= is whom ssh logs in as, and cpu= says to\n" +
			"which CPUs the timing thread may be pinned, such as 2 or 0-3,8, or none.",
		Subcommands: []*cli.Command{
			hostsTool("expand", "'node[01-16,20]' hosts.txt",
				"print the hosts of ranges or hosts files, one a line", "RANGE|FILE...",
				"ranges such as node[01-16], or hosts files", expand),
			hostsTool("fold", "node01 node02 node03", "print host names as ranges", "NAME...", "host names",
				func(c *cli.Context) ([]string, error) { return []string{hosts.Fold(c.Args().Slice())}, nil }),
		},
		Action: command.Group,
	}
}

// hostsTool is a command that makes texts of its arguments, which it is to be given, such as those it is tried on.
func hostsTool(name, on, usage, args, want string, of func(*cli.Context) ([]string, error)) *cli.Command {
	return &cli.Command{Name: name, Usage: usage, ArgsUsage: args, Description: "calib hosts " + name + " " + on,
		Flags: []cli.Flag{command.JSONFlag()}, Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return exit.Usagef("hosts %s: give %s", name, want)
			}
			texts, err := of(c)
			if err != nil {
				return err
			}
			return command.AnswerLines(c, "hosts "+name, texts, texts...)
		}}
}

func expand(c *cli.Context) (names []string, err error) {
	for _, arg := range c.Args().Slice() {
		w := run.Where{Ranges: []string{arg}}
		if command.Exists(arg) {
			w = run.Where{HostsFile: arg}
		}
		list, err := w.List(command.Noter(c))
		if err != nil {
			return nil, err
		}
		names = append(names, lists.Map(list, func(h hosts.Host) string { return h.Name })...)
	}
	return names, nil
}
