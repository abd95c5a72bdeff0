package results

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/history"
	"calib/cmd/calib/internal/measuring"
	"calib/internal/files"
	"calib/internal/rundir"
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
		Description: "calib gate --baseline NAME --hosts hosts.txt\n" +
			"Measures a few runs and compares them with the runs of the baseline (calib baseline set). What looks like a\n" +
			"regression is measured again: the gate fails only if the second runs show it too, on their own. Exit 0 no regression,\n" +
			"3 regression confirmed, 5 inconclusive or not comparable. The output directory holds the runs, verdict.json, junit.xml\n" +
			"and summary.md.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "baseline", Usage: "`NAME` of the baseline in the history"},
			&cli.IntFlag{Name: "runs", Usage: "`N` runs each time it measures; 0 is as many as a baseline of this size needs"},
		}, thresholdFlags(), []cli.Flag{history.StoreFlag()}, measuring.WhereFlags(), measuring.PlanFlags(), measuring.OutFlags()),
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
		return command.Usagef("--baseline NAME: which runs to compare with; calib baseline list names them")
	case c.IsSet("resume"):
		return command.Usagef("--resume with gate: a gate measures anew; calib run --resume goes on with a run")
	}
	options, err := compareOptions(c)
	if err != nil {
		return err
	}
	baseline, noise, err := history.BaselineRuns(c, name)
	if err != nil {
		return err
	}
	if options.Noise == nil {
		options.Noise = noise
	}
	root := cmp.Or(c.String("out"), "gate-"+rundir.DefaultName(time.Now()))
	var partial error
	measure := func(_ context.Context, n int, why []string) ([]compare.Run, error) {
		what := "run"
		if why != nil {
			what = "again"
		}
		runs, err := measuring.RepeatRuns(c, root, what, n)
		if command.CodeOf(err) == command.ExitPartial {
			partial, err = err, nil
		}
		return runs, err
	}
	v, err := compare.Gate(c.Context, baseline, measure, c.Int("runs"), options)
	if err != nil {
		return err
	}
	paths, err := writeVerdict(root, v)
	if err != nil {
		return err
	}
	return answerVerdict(c, "gate", v, paths, partial)
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

// verdictCode is the exit code of a verdict.
func verdictCode(v *compare.Verdict) int {
	switch v.Outcome {
	case compare.OK:
		return command.ExitOK
	case compare.Regression:
		return command.ExitRegression
	}
	return command.ExitInconclusive
}

// answerVerdict prints the verdict of the command called name, and returns its exit code as a silent error. partial is the
// error of runs that lack hosts, or nil: a regression outweighs it, and it outweighs all else.
func answerVerdict(c *cli.Context, name string, v *compare.Verdict, paths map[string]string, partial error) error {
	code := verdictCode(v)
	if partial != nil && code != command.ExitRegression {
		code = command.ExitPartial
	}
	var err error
	if code != command.ExitOK {
		err = command.WithCode(code, fmt.Errorf("%s: %s", name, v.Outcome))
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
