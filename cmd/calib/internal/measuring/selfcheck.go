package measuring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/bench"
	"calib/bench/experiments"
	"calib/cmd/calib/internal/command"
	"calib/internal/dataset/names"
	"calib/internal/exit"
	"calib/internal/files"
	"calib/internal/lab"
	"calib/internal/machine"
	"calib/internal/netspec"
	"calib/internal/rundir"
	"calib/internal/selfcheck"
	"calib/internal/units"
	"calib/params"
	"calib/reports"
	"calib/reports/export"
	"calib/run"
	"calib/run/plan"
)

func SelfcheckCommand() *cli.Command {
	return &cli.Command{Name: "selfcheck", ArgsUsage: "RUN|PARAMS",
		Usage: "calibrate an emulated copy of a run's network, and see whether its numbers come back",
		Description: "calib lab selfcheck RUN               by the run's own plan\n" +
			"calib lab selfcheck RUN --budget 10m  of a fast network: its copy is slowed\n" +
			"Patterns, copies, fragments, buffers and Nagle are left out. The lab file (calib\n" +
			"export --to lab) and the copy's runs go to --out; RUN stays as it is. What is outside\n" +
			"its 95% interval is measured a second time; in a late lab, up to three times.\n" +
			"Exit codes: 0 all numbers came back, 1 some were outside their intervals twice,\n" +
			"4 hosts or slots of the copy failed, 5 not determined, or the lab was late three times.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "plan", Usage: "quick, standard, full, or a plan `FILE`; default the run's"},
			&cli.StringFlag{Name: "only", Usage: "`EXPERIMENTS`, such as pingpong,paired; default the run's"},
			&cli.StringFlag{Name: "sizes", Usage: "message `SIZES`, such as 1,64,1KiB..4MiB; default the plan's"},
			&cli.DurationFlag{Name: "budget", Usage: "longest `TIME` of one measurement; default the plan's"},
			&cli.Uint64Flag{Name: "seed", Usage: "random seed `N`; default the run's plus one"},
			&cli.IntFlag{Name: "nodes", Usage: "`N` hosts in the copy, the run's first; default all"},
			&cli.Float64Flag{Name: "slowdown", Usage: "slow the copy down `N` times; default as little as the lab needs"},
			&cli.BoolFlag{Name: "once", Usage: "measure nothing a second time"},
			&cli.StringFlag{Name: "name", Value: "calib-copy", Usage: "`NAME` of the lab; its hosts are NAME-h0, NAME-h1, …"},
			&cli.StringFlag{Name: "out", Usage: "`DIR`ectory to write to; default calib-selfcheck-DATE-TIME"},
			YesFlag(), command.JSONFlag(), command.QuietFlag(),
		},
		Action: selfcheckAction,
	}
}

func selfcheckAction(c *cli.Context) error {
	arg, p, err := command.ParamsArg(c)
	if err != nil {
		return err
	}
	out := cmp.Or(c.String("out"), "calib-selfcheck-"+time.Now().Format("20060102-150405"))
	k := &copier{c: c, out: out, run: p, data: checked{Source: arg, LabFile: filepath.Join(out, labFile)}}
	if v := c.Float64("slowdown"); c.IsSet("slowdown") && !(v >= 1 && v <= export.MaxSlowdown) {
		return exit.Usagef("--slowdown %g: want 1 to %g", v, export.MaxSlowdown)
	}
	if c.IsSet("nodes") && c.Int("nodes") < 2 {
		return exit.Usagef("--nodes %d: want at least 2 hosts", c.Int("nodes"))
	}
	if k.config, err = copiedConfig(c, arg, p); err != nil {
		return err
	}
	for _, file := range []string{labFile, selfcheckFile, rundir.RunFile} {
		if command.Exists(filepath.Join(out, file)) {
			return exit.Usagef("--out %s holds a selfcheck or a run already: choose another", out)
		}
	}
	if err := k.writeLab(); err != nil {
		return err
	}
	if err = k.check(); len(k.data.Measurements) == 0 {
		return err
	}
	return k.answer(err)
}

// copiedConfig is how the copy is measured: as the run was, but for what the flags change. Patterns, and what measures
// nothing but hosts, are left out.
func copiedConfig(c *cli.Context, arg string, p *params.Params) (config run.Config, err error) {
	dir, err := rundir.Open(arg)
	own := err == nil && dir.Run().ID == p.Run.ID
	if own {
		config, err = run.Stored(dir.Run().Detail)
		own = err == nil
	}
	copied := &config.Plan
	switch name := c.String("plan"); {
	case name != "":
		segment := copied.Limits.Segment
		if *copied, err = plan.Load(name); err != nil {
			return config, exit.With(exit.Usage, err)
		}
		copied.Limits.Segment = segment
	case own:
	case slices.Contains(plan.BuiltinNames(), p.Run.Plan):
		if *copied, err = plan.Builtin(p.Run.Plan); err != nil {
			return config, err
		}
		copied.Experiments = nil // those that the fits of p read
		for _, e := range experiments.All {
			if slices.ContainsFunc(p.Fits, func(f *params.Fit) bool { return f.Experiment == e.Name }) {
				copied.Experiments = append(copied.Experiments, e.Name)
			}
		}
	default:
		return config, exit.Usagef("%s does not say by which plan it was measured (no %s beside it): choose one with --plan",
			arg, rundir.RunFile)
	}
	copied.Seed, copied.Limits.Path = p.Run.Seed+1, bench.Path{} // the copy may be slower: its own measurement looks at it
	if *copied, err = changedPlan(c, *copied); err != nil {
		return config, err
	}
	copied.Experiments = slices.DeleteFunc(copied.Names(experiments.All), func(name string) bool {
		return slices.Contains(notOfNetwork, name)
	})
	if len(copied.Experiments) == 0 {
		return config, exit.Usagef("--only %s: no parameter of a network is fitted to these", c.String("only"))
	}
	config.Fit, config.Targets, config.Probe = run.Fitting{}, "", nil // the copy has no protocol that changes
	config.Unprobed = false                                           // it may be slower
	return config, nil
}

// notOfNetwork lists the experiments that no parameter of a network is fitted to.
var notOfNetwork = []string{names.Pattern, names.Copy, names.Fragment, names.Buffer, names.NoDelay}

const labTries = 3 // how often a measurement is made while the lab is late

// Files of a selfcheck's directory, beside the copy's runs.
const (
	selfcheckFile = "selfcheck.json"
	labFile       = "lab.yaml"
)

type measurement struct {
	Run  string      `json:"run"`
	Seed uint64      `json:"seed"`
	Lab  lab.Verdict `json:"lab"`
	Used bool        `json:"used"` // its parameters were compared
}

type checked struct {
	Source       string          `json:"source"`
	LabFile      string          `json:"lab_file"`
	Slowdown     float64         `json:"slowdown"`
	Sentence     string          `json:"sentence"`
	Back         int             `json:"back"`
	Missed       int             `json:"missed"`
	Undetermined int             `json:"undetermined"`
	Measurements []measurement   `json:"measurements"`
	Rows         []selfcheck.Row `json:"rows"`
	warnings     []string
}

type copier struct {
	c      *cli.Context
	out    string
	run    *params.Params
	config run.Config
	spec   *netspec.Spec
	data   checked
}

func (k *copier) writeLab() error {
	target, _ := export.Lookup("lab") // which there is
	text, warnings, err := target.Export(k.run, export.Options{Hosts: k.c.Int("nodes"), Slowdown: k.c.Float64("slowdown"),
		Version: machine.Version()})
	if err != nil {
		return fmt.Errorf("%s: %w", k.data.Source, err)
	}
	if k.spec, err = netspec.Parse(text); err != nil {
		return fmt.Errorf("%s: lab file: %w", k.data.Source, err)
	}
	segment := &k.config.Plan.Limits.Segment
	*segment = min(*segment, units.Bytes(k.spec.MSS))
	k.data.Slowdown, k.data.warnings = k.spec.Slowdown, warnings
	if err := os.MkdirAll(k.out, 0o755); err != nil {
		return err
	}
	if !k.c.Bool("quiet") {
		command.Warn(k.c, warnings)
	}
	return files.Replace(k.data.LabFile, text)
}

// check measures the copy, and a second time where parameters are outside their intervals.
func (k *copier) check() error {
	first, err := k.measure(k.config.Plan.Seed)
	if first == nil {
		return err
	}
	k.data.Rows = selfcheck.Judge(k.spec, k.run, first)
	if err != nil || k.c.Bool("once") || selfcheck.CountOf(k.data.Rows)[selfcheck.Missed] == 0 {
		return err
	}
	second, err := k.measure(k.config.Plan.Seed + 1)
	if second != nil {
		k.data.Rows = selfcheck.Confirm(k.data.Rows, selfcheck.Judge(k.spec, k.run, second))
	}
	return err
}

// measure calibrates the copy, again where the lab was late. With an error, its parameters are nil or partial.
func (k *copier) measure(seed uint64) (*params.Params, error) {
	for try := 1; ; try++ {
		m := measurement{Run: filepath.Join(k.out, fmt.Sprintf("run-%d", len(k.data.Measurements)+1)), Seed: seed}
		p, err := k.calibrate(&m)
		m.Used = p != nil && !m.Lab.Late
		if command.Exists(m.Run) {
			k.data.Measurements = append(k.data.Measurements, m)
		}
		why := strings.Join(m.Lab.Why, "; ")
		switch {
		case err != nil && exit.CodeOf(err) != exit.Partial:
			return nil, err
		case !m.Lab.Late:
			return p, err
		case try == labTries:
			return nil, exit.With(exit.Inconclusive, fmt.Errorf("the lab was late %d times: %s; "+
				"end what else runs on this machine, or slow the copy by --slowdown %g", labTries, why, 2*k.spec.Slowdown))
		}
		command.Note(k.c, fmt.Sprintf("the lab was late (%s): measuring again", why))
	}
}

func (k *copier) calibrate(m *measurement) (p *params.Params, err error) {
	o, cut := lab.Options{Name: k.c.String("name")}, false
	m.Lab, err = lab.Within(k.c.Context, k.spec, o, func(ctx context.Context, l *lab.Lab) error {
		c := *k.c
		c.Context = ctx
		config := k.config
		config.Plan.Seed, config.Where, config.Out = m.Seed, run.Where{HostsFile: l.HostsPath, Launch: l.Launch}, m.Run
		r, err := run.Run(ctx, equipped(&c, config))
		cut = ctx.Err() != nil
		if code := exit.CodeOf(err); r.Dir != nil && (code == exit.OK || code == exit.Partial) {
			var unread error
			p, unread = r.Dir.ReadParams()
			return errors.Join(err, unread)
		}
		return err
	})
	switch {
	case errors.Is(err, lab.ErrWire):
		err = exit.With(exit.Failed, err)
	case cut || k.c.Context.Err() != nil: // the copy is gone, so that its run cannot go on
		err = exit.With(exit.Interrupted, fmt.Errorf("%w; what was measured of the copy is in %s",
			exit.ErrInterrupted, m.Run))
	}
	return p, err
}

// answer writes the document, prints the verdict, and returns how the selfcheck ended.
func (k *copier) answer(err error) error {
	d := &k.data
	n := selfcheck.CountOf(d.Rows)
	d.Back, d.Missed, d.Undetermined = n[selfcheck.Back], n[selfcheck.Missed], n[selfcheck.Undetermined]
	d.Sentence = selfcheck.Sentence(d.Rows, d.Slowdown)
	switch {
	case err != nil && len(d.Rows) == 0:
		d.Sentence = "Inconclusive: nothing was compared."
	case err != nil:
	case d.Missed > 0:
		err = exit.With(exit.Failed, fmt.Errorf("%d of %d did not come back: see the rows that say "+
			"missed", d.Missed, d.Missed+d.Back))
	case d.Undetermined > 0 || d.Back == 0:
		err = exit.With(exit.Inconclusive, fmt.Errorf("%d not determined: measure the copy for longer with --budget",
			d.Undetermined))
	}
	path := filepath.Join(k.out, selfcheckFile)
	saved := files.ReplaceBy(path, func(w io.Writer) error { return reports.WriteJSON(w, d) })
	r := reports.Result{Command: "lab selfcheck", Run: k.out, Files: map[string]string{labFile: d.LabFile,
		selfcheckFile: path}, Warnings: d.warnings, Data: d}
	return command.AnswerResult(k.c, r, errors.Join(err, saved), d.print)
}

func (d *checked) print(w io.Writer) error {
	if len(d.Rows) > 0 {
		t := command.NewTable(w, "SYMBOL", "RUN", "GIVEN", "COPY", "95% INTERVAL", "LAB HOSTS", "VERDICT", "")
		unplayed := 0
		for _, r := range d.Rows {
			if r.Verdict == selfcheck.NotPlayed {
				unplayed++
				continue
			}
			lab, interval := "", ""
			if r.Lab != 0 {
				lab = "± " + units.Format(r.Lab, r.Unit)
			}
			if ci := r.CI95; ci != nil {
				interval = fmt.Sprintf("[%s, %s]", units.Format(ci[0], r.Unit), units.Format(ci[1], r.Unit))
			}
			t.Row(r.Name, amount(r.Run, r.Unit, r.RunStatus), amount(r.Truth, r.Unit, ""), amount(r.Copy, r.Unit, r.Status),
				interval, lab, string(r.Verdict), r.Why)
		}
		if err := t.Flush(); err != nil {
			return err
		}
		if unplayed > 0 {
			fmt.Fprintf(w, "%d parameters are of the hosts, or not stated by the lab file, and were not compared.\n", unplayed)
		}
	}
	for i, m := range d.Measurements {
		fmt.Fprintf(w, "Measurement %d (%s): lab %v\n", i+1, m.Run, m.Lab)
	}
	_, err := fmt.Fprintf(w, "\n%s\nThe copy is %s: calib lab up %s\n", d.Sentence, d.LabFile, d.LabFile)
	return err
}

func amount(v *float64, unit, otherwise string) string {
	if v == nil {
		return otherwise
	}
	return units.Format(*v, unit)
}
