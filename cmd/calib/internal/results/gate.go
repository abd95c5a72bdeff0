package results

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/history"
	"calib/cmd/calib/internal/measuring"
	"calib/internal/exit"
	"calib/internal/files"
	store "calib/internal/history"
	"calib/internal/rundir"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/reports"
	"calib/reports/compare"
)

// Files that a gate writes.
const (
	verdictFile = "verdict.json"
	junitFile   = "junit.xml"
	summaryFile = "summary.md"
)

// GateCommand is calib gate.
func GateCommand() *cli.Command {
	return &cli.Command{
		Name: "gate", Usage: "measure, and fail when the network has become slower than a baseline",
		Description: "calib gate --baseline NAME\n" +
			"Measures what the runs of the baseline (calib baseline set) have measured: their plan, sizes and experiments, on their\n" +
			"hosts. --hosts and the like say how these are reached now; flags that contradict the baseline are refused. It says first\n" +
			"how many runs that takes, and how long. What has become slower is measured again: the gate fails only if the second runs\n" +
			"show it too, on their own. It decides by T(x), latency and rate of links, a, b, a_c, b_c, loss, and pairs that cannot be\n" +
			"measured any more, as far as the baseline has them ok; all else is shown. Exit 0 no regression, 3 regression confirmed,\n" +
			"5 inconclusive or not comparable. The output directory holds the runs, verdict.json, junit.xml and summary.md.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "baseline", Usage: "`NAME` of the baseline in the history"},
			&cli.IntFlag{Name: "runs", Usage: "`N` runs each time it measures; 0 is as many as find a change of twice --relative, 10 at most"},
		}, thresholdFlags(compare.GateRelative), []cli.Flag{history.StoreFlag()}, measuring.WhereFlags(), measuring.PlanFlags(), measuring.OutFlags()),
		Action: gate,
	}
}

// gate measures against a baseline.
func gate(c *cli.Context) error {
	if err := command.NoArgs(c); err != nil {
		return err
	}
	name := c.String("baseline")
	switch {
	case name == "":
		return exit.Usagef("--baseline NAME: which runs to compare with; calib baseline list names them")
	case c.IsSet("resume"):
		return exit.Usagef("--resume with gate: a gate measures anew; calib run --resume goes on with a run")
	}
	options, err := compareOptions(c)
	if err != nil {
		return err
	}
	baseline, err := history.BaselineOf(c, name)
	if err != nil {
		return err
	}
	var details []json.RawMessage
	for _, m := range baseline.Measured {
		details = append(details, m.Detail)
	}
	config, err := measuring.RepeatOf(c, name, details, compare.HostsOf(baseline.Runs))
	if err != nil {
		return err
	}
	stage, err := compare.PlanGate(baseline.Runs, c.Int("runs"), options)
	if err != nil {
		return exit.Usagef("baseline %s %w", name, err)
	}
	if !c.Bool("quiet") {
		announce(c, stage, config.Plan.Budget.Seconds(), baseline.Measured, options.Relative)
	}
	root := cmp.Or(c.String("out"), "gate-"+rundir.DefaultName(time.Now()))
	var partial error
	measure := func(_ context.Context, n int, why []string) ([]compare.Run, error) {
		what := "run"
		if why != nil {
			what = "again"
		}
		runs, err := measuring.Series(c, &config, root, what, n)
		if command.CodeOf(err) == exit.Partial {
			partial, err = err, nil
		}
		return runs, err
	}
	v, err := compare.Gate(c.Context, baseline.Runs, measure, stage.Runs, options)
	if err != nil {
		return err
	}
	paths, err := writeVerdict(root, v)
	if err != nil {
		return err
	}
	return answerVerdict(c, "gate", v, paths, partial)
}

// announce says what a gate is going to measure, how long that takes, and what it finds.
func announce(c *cli.Context, s compare.Stage, budget float64, before []store.Measured, relative float64) {
	var took []float64
	for _, m := range before {
		took = append(took, m.Took.Seconds())
	}
	longest := max(slices.Max(took), 1.05*budget)
	after := func(seconds float64) time.Duration {
		return time.Duration(math.Ceil(float64(s.Runs)*seconds)) * time.Second
	}
	command.Note(c, fmt.Sprintf("measures %s like those of the baseline, about %s; what looks worse is measured again: %s at most in all",
		units.Plural(s.Runs, "run"), after(stats.Median(took)), 2*after(longest)))
	command.Note(c, fmt.Sprintf("decides by %s, and links; passes changes below %s", strings.Join(s.Decide, ", "), reports.Percent(relative)))
	if len(s.Blind) > 0 {
		command.Note(c, fmt.Sprintf("may miss a change of %s in what differs too much from run to run: %s", reports.Percent(2*relative),
			strings.Join(s.Blind, ", ")))
	}
}

// writeVerdict writes the verdict for other programs and for the page of a CI job.
func writeVerdict(dir string, v *compare.Verdict) (map[string]string, error) {
	paths := map[string]string{}
	var errs []error
	for name, write := range map[string]func(io.Writer, *compare.Verdict) error{
		verdictFile: compare.WriteVerdict, junitFile: compare.JUnit, summaryFile: compare.Markdown,
	} {
		paths[name] = filepath.Join(dir, name)
		errs = append(errs, files.ReplaceBy(paths[name], func(w io.Writer) error { return write(w, v) }))
	}
	return paths, errors.Join(errs...)
}

// answerVerdict prints the verdict of the command called name, and returns its exit code as a silent error. partial is
// the error of runs that lack hosts, or nil: a regression outweighs it, and it outweighs all else.
func answerVerdict(c *cli.Context, name string, v *compare.Verdict, paths map[string]string, partial error) error {
	code, concluded := map[string]int{compare.OK: exit.OK, compare.Regression: exit.Regression}[v.Outcome]
	if !concluded {
		code = exit.Inconclusive
	}
	if partial != nil && code != exit.Regression {
		code = exit.Partial
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
