// Package results holds the commands that work on finished runs: fit, report, export, import, compare and gate.
package results

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/history"
	"calib/cmd/calib/internal/measuring"
	"calib/internal/exit"
	"calib/internal/files"
	store "calib/internal/history"
	"calib/internal/lists"
	"calib/internal/rundir"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/reports"
	"calib/reports/compare"
)

func CompareCommand() *cli.Command {
	return &cli.Command{
		Name: "compare", Usage: "say whether runs have become slower than other runs", ArgsUsage: "OLD NEW",
		Description: "calib compare OLD NEW\n" +
			"calib compare baseline:main NEW\n" +
			"OLD and NEW are run directories, directories of runs (as calib run --aa writes),\n" +
			"params.json files, or baselines of the history. Give about five\n" +
			"runs on each side; with fewer, it says how many more it needs. A regression is\n" +
			"significant, and larger than --relative, --absolute and the noise. Runs of other\n" +
			"hosts, links, plans, parameters or environments are not comparable without --allow.\n" +
			"Exit codes: 0 no regression, 3 regression, 5 inconclusive or not comparable.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringSliceFlag{Name: "old", Usage: "more old runs, as `OLD`; repeatable"},
			&cli.StringSliceFlag{Name: "new", Usage: "more new runs, as `NEW`; repeatable"},
		}, thresholdFlags(compare.DefaultRelative), []cli.Flag{
			&cli.StringFlag{Name: "markdown", Usage: "write the summary of a CI job to `FILE`"},
			&cli.StringFlag{Name: "junit", Usage: "write test results to `FILE`"},
			history.StoreFlag(), command.JSONFlag(),
		}), Action: compareRuns,
	}
}

func thresholdFlags(relative float64) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "relative", Value: strconv.FormatFloat(100*relative, 'g', -1, 64) + "%",
			Usage: "least change that counts, a `SHARE` of the old value"},
		&cli.StringSliceFlag{Name: "absolute",
			Usage: "least change that counts by `UNIT=VALUE`, such as s=2us or B/s=1MB; repeatable"},
		&cli.Float64Flag{Name: "alpha", Value: compare.DefaultAlpha,
			Usage: "probability `P` of any false alarm, over all tests"},
		&cli.StringFlag{Name: "noise", Usage: "noise floor `FILE` of calib run --aa"},
		&cli.StringSliceFlag{Name: "allow", Usage: "compare what both have if `WHAT` differs: " +
			strings.Join(compare.Allowable(), ", ")},
	}
}

// compareOptions reads thresholdFlags.
func compareOptions(c *cli.Context) (o compare.Options, err error) {
	o = compare.Options{Alpha: c.Float64("alpha"), Allow: c.StringSlice("allow"), Absolute: map[string]float64{}}
	for _, what := range o.Allow {
		if !slices.Contains(compare.Allowable(), what) {
			return o, exit.Usagef("--allow %q: want %s", what, strings.Join(compare.Allowable(), ", "))
		}
	}
	if !(o.Alpha > 0 && o.Alpha < 1) {
		return o, exit.Usagef("--alpha %v: want a probability between 0 and 1, such as 0.05", o.Alpha)
	}
	share := c.String("relative")
	o.Relative, err = units.ParseShare(share)
	if err != nil || !(o.Relative >= 0 && o.Relative < 10) || o.Relative >= 1 && !strings.Contains(share, "%") {
		return o, exit.Usagef("--relative %q: want a share such as 5%% or 0.05", share)
	}
	if o.Relative == 0 {
		o.Relative = -1 // none, where 0 is the default
	}
	for _, text := range c.StringSlice("absolute") {
		unit, value, err := parseAbsolute(text)
		if err != nil {
			return o, exit.Usagef("--absolute %q: %w", text, err)
		}
		o.Absolute[unit] = value
	}
	if path := c.String("noise"); path != "" {
		b, err := files.Read(path, 64<<20)
		if err != nil {
			return o, exit.Usagef("--noise: %w; calib run --hosts hosts.txt --aa 10 makes one", err)
		}
		if o.Noise, err = compare.ReadFloor(b); err != nil {
			return o, exit.Usagef("--noise %s: %w", path, err)
		}
	}
	return o, nil
}

// parseAbsolute reads a value of a unit: "s=2us", "B/s=1MB", "s/B=1e-10". A number without a prefix is in SI units.
func parseAbsolute(s string) (unit string, value float64, err error) {
	unit, text, ok := strings.Cut(s, "=")
	known := []string{"s", "B", "B/s", "s/B", "1"}
	if !ok || !slices.Contains(known, unit) {
		return "", 0, fmt.Errorf("want UNIT=VALUE with a unit of %s", strings.Join(known, ", "))
	}
	if value, err = strconv.ParseFloat(text, 64); err != nil {
		switch unit {
		case "s":
			var d time.Duration
			d, err = time.ParseDuration(text)
			value = d.Seconds()
		case "B", "B/s":
			var b units.Bytes
			b, err = units.ParseBytes(text)
			value = float64(b)
		}
	}
	if err != nil || !(value >= 0) || math.IsInf(value, 0) {
		return "", 0, errors.New("want a value such as s=2us, B/s=1MB or s/B=1e-10")
	}
	return unit, value, nil
}

func compareRuns(c *cli.Context) error {
	old, new := c.StringSlice("old"), c.StringSlice("new")
	switch args := c.Args().Slice(); {
	case len(args) == 2:
		old, new = append(args[:1:1], old...), append(args[1:2:2], new...)
	case len(args) != 0 || len(old) == 0 || len(new) == 0:
		return exit.Usagef("want OLD and NEW, got %s (see calib compare --help)", units.Plural(len(args), "argument"))
	}
	options, err := compareOptions(c)
	if err != nil {
		return err
	}
	was, noise, err := loadRuns(c, old)
	if err != nil {
		return fmt.Errorf("compare: old: %w", err)
	}
	is, _, err := loadRuns(c, new)
	if err != nil {
		return fmt.Errorf("compare: new: %w", err)
	}
	options.Noise = cmp.Or(options.Noise, noise)
	v := compare.Compare(was, is, options)
	paths := map[string]string{}
	for name, write := range map[string]verdictWriter{"markdown": compare.Markdown, "junit": compare.JUnit} {
		if path := c.String(name); path != "" {
			paths[name] = path
			if err := files.Write(path, func(w io.Writer) error { return write(w, v) }); err != nil {
				return fmt.Errorf("compare: --%s: %w", name, err)
			}
		}
	}
	return answerVerdict(c, "compare", v, paths, nil)
}

type verdictWriter func(io.Writer, *compare.Verdict) error

const baselinePrefix = "baseline:"

// loadRuns returns the runs of arguments, each baseline:NAME or a path for command.LoadRuns. noise is the floor that is
// kept with the only argument, where that is a baseline. A run that is named twice is an error: it would count as two.
func loadRuns(c *cli.Context, args []string) (all []compare.Run, noise *compare.Floor, err error) {
	from := map[string]string{}
	for _, arg := range args {
		var runs []compare.Run
		if name, ok := strings.CutPrefix(arg, baselinePrefix); ok {
			var b history.Baseline
			b, err = history.BaselineOf(c, name)
			runs, noise = b.Runs, b.Noise
		} else {
			runs, err = command.LoadRuns(arg)
		}
		if err != nil {
			return nil, nil, err
		}
		for _, r := range runs {
			if first, twice := from[r.ID]; twice && r.ID != "" {
				return nil, nil, exit.Usagef("run %s is in %s and in %s: give each run once", r.ID, first, arg)
			}
			from[r.ID] = arg
		}
		all = append(all, runs...)
	}
	if len(args) != 1 {
		noise = nil
	}
	return all, noise, nil
}

func GateCommand() *cli.Command {
	return &cli.Command{
		Name: "gate", Usage: "measure, and fail when a network is slower than a baseline",
		Description: "calib gate --baseline NAME\n" +
			"It measures what the runs of the baseline (calib history baseline set) have measured,\n" +
			"on their hosts; --hosts and the like say how these are reached now. It says first how\n" +
			"many runs that takes, and how long. What has become slower is measured again: the gate\n" +
			"fails only if the second runs show it too, on their own. It decides by T(x), latency\n" +
			"and rate of links, a, b, a_c, b_c and loss, where the baseline has them ok, and by pairs\n" +
			"that can no longer be measured. It only shows the rest. The output directory holds the\n" +
			"runs, verdict.json, junit.xml and summary.md. Exit codes: 0 no regression, 3\n" +
			"regression confirmed, 4 hosts or slots failed, 5 inconclusive or not comparable.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "baseline", Usage: "`NAME` of the baseline in the history"},
			&cli.IntFlag{Name: "runs",
				Usage: "`N` runs each time; 0: enough to see 2 x --relative, 10 at most"},
		}, thresholdFlags(compare.GateRelative), []cli.Flag{
			&cli.Uint64Flag{Name: "seed", Usage: "random seed `N` of schedule and bootstrap; default new"},
			&cli.StringFlag{Name: "out", Usage: "`DIR`ectory to write to; default gate-calib-run-DATE-TIME"},
			history.StoreFlag(), measuring.YesFlag(), command.JSONFlag(), command.QuietFlag(),
		}, measuring.WhereFlags()),
		Action: gate,
	}
}

func gate(c *cli.Context) error {
	name := c.String("baseline")
	if name == "" {
		return exit.Usagef("--baseline NAME: which runs to compare with; calib history baseline list names them")
	}
	if n := c.Int("runs"); n < 0 {
		return exit.Usagef("--runs %d: want a number of runs, or 0 for as many as it takes", n)
	}
	options, err := compareOptions(c)
	if err != nil {
		return err
	}
	baseline, err := history.BaselineOf(c, name)
	if err != nil {
		return err
	}
	options.Noise = cmp.Or(options.Noise, baseline.Noise)
	config, err := measuring.RepeatOf(c, name, baseline.Measured, compare.HostsOf(baseline.Runs))
	if err != nil {
		return err
	}
	stage, err := compare.PlanGate(baseline.Runs, c.Int("runs"), options)
	if err != nil {
		return exit.Usagef("baseline %s %w", name, err)
	}
	if !c.Bool("quiet") {
		announce(c, stage, config.Plan.Budget.Seconds(), baseline.Measured, max(options.Relative, 0))
	}
	root := cmp.Or(c.String("out"), "gate-"+rundir.DefaultName(time.Now()))
	var partial error
	measure := func(again bool) ([]compare.Run, error) {
		what := map[bool]string{false: "run", true: "again"}[again]
		runs, err := measuring.Series(c, &config, root, what, stage.Runs)
		if exit.CodeOf(err) == exit.Partial && len(runs) > 0 {
			partial, err = err, nil
		}
		return runs, err
	}
	v, err := compare.Gate(baseline.Runs, measure, options)
	if err != nil {
		return err
	}
	paths := map[string]string{}
	for name, write := range map[string]verdictWriter{
		"verdict.json": compare.WriteVerdict, "junit.xml": compare.JUnit, "summary.md": compare.Markdown,
	} {
		paths[name] = filepath.Join(root, name)
		err = errors.Join(err, files.ReplaceBy(paths[name], func(w io.Writer) error { return write(w, v) }))
	}
	if err != nil {
		return err
	}
	return answerVerdict(c, "gate", v, paths, partial)
}

// announce says what a gate is going to measure, how long that takes, and what it finds.
func announce(c *cli.Context, s compare.Stage, budget float64, before []store.Measured, relative float64) {
	took := lists.Map(before, func(m store.Measured) float64 { return cmp.Or(m.Took.Seconds(), budget) })
	after := func(seconds float64) time.Duration {
		return time.Duration(math.Ceil(float64(s.Runs)*seconds)) * time.Second
	}
	command.Notef(c, "measures %s like those of the baseline, about %s; what looks worse is measured again: %s at most "+
		"in all", units.Plural(s.Runs, "run"), after(stats.Median(took)), 2*after(max(slices.Max(took), 1.05*budget)))
	command.Notef(c, "decides by %s, and links; passes changes below %s", strings.Join(s.Decide, ", "),
		reports.Percent(relative))
	if len(s.Blind) > 0 {
		command.Notef(c, "may miss a change of %s in what differs too much from run to run: %s", reports.Percent(2*relative),
			strings.Join(s.Blind, ", "))
	}
}

// answerVerdict prints the verdict of the command called name, and returns its exit code as a silent error. partial is
// the error of runs that lack hosts, or nil: a regression outweighs it, and it outweighs all else.
func answerVerdict(c *cli.Context, name string, v *compare.Verdict, paths map[string]string, partial error) error {
	code, concluded := map[string]int{compare.OK: exit.OK, compare.Regression: exit.Regression}[v.Outcome]
	switch {
	case partial != nil && code != exit.Regression:
		code = exit.Partial
	case !concluded:
		code = exit.Inconclusive
	}
	var err error
	if code != exit.OK {
		err = exit.With(code, fmt.Errorf("%s: %s", name, v.Outcome))
	}
	if c.Bool("json") {
		r := reports.Result{Command: name, Exit: code, Files: paths, Data: v}
		if partial != nil {
			r.Error = partial.Error()
		}
		return command.Silent(err, r.Encode(c.App.Writer))
	}
	if err := compare.Text(c.App.Writer, v); err != nil {
		return err
	}
	if partial != nil {
		fmt.Fprintf(c.App.ErrWriter, "calib: %v\n", partial)
	}
	return command.Silent(err, nil)
}
