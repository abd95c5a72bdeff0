package measuring

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"calib/bench"
	"calib/bench/experiments"
	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/runfiles"
	"calib/internal/dataset/names"
	"calib/internal/params"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/reports/export"
	"calib/run/plan"
)

// SelfcheckCommand is calib selfcheck.
func SelfcheckCommand() *cli.Command {
	return &cli.Command{
		Name: "selfcheck", Usage: "calibrate an emulated copy of a run's network, and see whether its parameters come back", ArgsUsage: "RUN|PARAMS",
		Description: "calib selfcheck RUN               the copy is measured by the run's own plan, without patterns and what measures hosts alone\n" +
			"calib selfcheck RUN --budget 10m  a network that is faster than the lab is slowed, and takes longer to measure\n" +
			"It writes the lab file (calib export --to lab) and the copy's runs to --out, and leaves RUN as it is. Works where calib lab works.\n" +
			"What is outside its 95% interval is measured a second time; a lab that was late is measured again, up to three times.\n" +
			"Exit codes: 0 all back, 1 some outside their intervals twice, 4 hosts or slots of the copy failed, 5 not determined, or the lab\n" +
			"was late three times.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "plan", Usage: "`NAME|FILE`: quick, standard, full, or a plan file; default the run's own"},
			&cli.StringFlag{Name: "only", Usage: "experiments, comma separated: `pingpong,paired`; default the run's own"},
			&cli.StringFlag{Name: "sizes", Usage: "message sizes: `1,64,1KiB..4MiB`; default the plan's"},
			&cli.DurationFlag{Name: "budget", Usage: "longest time of one measurement, such as `5m`; default the plan's"},
			&cli.Uint64Flag{Name: "seed", Usage: "`N` of the schedule and the bootstrap; default one more than the run's"},
			&cli.IntFlag{Name: "hosts", Usage: "`N` hosts in the copy, the run's first; default as many as the run has"},
			&cli.Float64Flag{Name: "slowdown", Usage: "make the copy `N` times slower than the run's network; default as little as the lab needs"},
			&cli.BoolFlag{Name: "once", Usage: "measure nothing a second time: every value outside its interval counts"},
			&cli.StringFlag{Name: "name", Value: "calib-copy", Usage: "`NAME` of the lab; its hosts are NAME-h0, NAME-h1 and so on"},
			&cli.StringFlag{Name: "out", Usage: "`DIR`ectory to write to; default calib-selfcheck-DATE-TIME"},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask, also when the plan is long"},
			command.JSONFlag(), command.QuietFlag(),
		},
		Action: selfcheckAction,
	}
}

func selfcheckAction(c *cli.Context) error {
	arg, p, err := runfiles.ParamsArg(c)
	if err != nil {
		return err
	}
	out := cmp.Or(c.String("out"), "calib-selfcheck-"+time.Now().Format("20060102-150405"))
	k := &copier{c: c, out: out, run: p, data: checked{Source: arg}}
	if v := c.Float64("slowdown"); c.IsSet("slowdown") && !(v >= 1 && v <= export.MostSlowdown) {
		return command.Usagef("--slowdown %g: want 1 to %g", v, export.MostSlowdown)
	}
	if c.IsSet("hosts") && c.Int("hosts") < 2 {
		return command.Usagef("--hosts %d: want at least 2 hosts", c.Int("hosts"))
	}
	if k.detail, err = copiedDetail(c, arg, p); err != nil {
		return err
	}
	if command.Exists(filepath.Join(out, labFile)) || command.Exists(filepath.Join(out, selfcheckFile)) || command.Exists(filepath.Join(out, rundir.RunFile)) {
		return command.Usagef("--out %s holds a selfcheck or a run already: choose another", out)
	}
	if err := k.writeLab(arg); err != nil {
		return err
	}
	if err = k.check(); len(k.data.Measurements) == 0 {
		return err
	}
	return k.answer(err)
}

// copiedDetail is how the copy is measured: as the run was, but for what the flags change. Patterns, and what measures nothing but hosts, are
// left out.
func copiedDetail(c *cli.Context, arg string, p *params.Params) (detail, error) {
	var d detail
	dir, err := rundir.Open(arg)
	own := false
	if err == nil && dir.Run().ID == p.Run.ID {
		d, err = detailIn(dir.Run())
		own = err == nil
	}
	d.Fit = runfiles.Fitting{} // the copy has no protocol that changes
	switch name := c.String("plan"); {
	case name != "":
		limits := d.Plan.Limits
		if d.Plan, err = plan.Load(name); err != nil {
			return d, command.WithCode(command.ExitUsage, err)
		}
		d.Plan.Limits.Segment = limits.Segment
	case own:
	case slices.Contains(plan.BuiltinNames(), p.Run.Plan):
		if d.Plan, err = plan.Builtin(p.Run.Plan); err != nil {
			return d, err
		}
		d.Plan.Experiments = experimentsOf(p)
	default:
		return d, command.Usagef("%s does not say by which plan it was measured (no %s beside it): choose one with --plan", arg, rundir.RunFile)
	}
	if c.String("only") != "" {
		d.Plan.Experiments = command.List(c, "only")
	}
	if err := d.Plan.Validate(experiments.All); err != nil { // before names are looked up
		return d, command.WithCode(command.ExitUsage, err)
	}
	d.Plan.Experiments = slices.DeleteFunc(d.Plan.Names(experiments.All), func(name string) bool { return slices.Contains(notOfNetwork(), name) })
	if sizes := c.String("sizes"); sizes != "" {
		if d.Plan.Limits.Sizes, err = units.ParseSizes(sizes); err != nil {
			return d, command.Usagef("--sizes: %w", err)
		}
		d.Plan.Limits.MaxBytes = 0
	}
	if c.IsSet("budget") {
		d.Plan.Budget = units.Nanos(c.Duration("budget"))
	}
	if d.Plan.Seed = p.Run.Seed + 1; c.IsSet("seed") {
		d.Plan.Seed = c.Uint64("seed")
	}
	d.Plan.Limits.Path, d.Probe = bench.Path{}, nil // the copy may be slower: its own measurement looks at it
	if err := d.Plan.Validate(experiments.All); err != nil {
		return d, command.WithCode(command.ExitUsage, err)
	}
	return d, nil
}

// notOfNetwork lists the experiments that no parameter of a network is fitted to.
func notOfNetwork() []string {
	return []string{names.Pattern, names.Bcast, names.Copy, names.Fragment, names.Buffer, names.NoDelay}
}

// experimentsOf lists the experiments that the fits of p read.
func experimentsOf(p *params.Params) []string {
	var out []string
	for _, e := range experiments.All {
		if slices.ContainsFunc(p.Fits, func(f *params.Fit) bool { return f.Experiment == e.Name() }) {
			out = append(out, e.Name())
		}
	}
	return out
}
