package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

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

func gateCommand() *cli.Command {
	return &cli.Command{
		Name: "gate", Usage: "measure, and fail when the network has become slower than a baseline",
		Description: "calib gate --baseline NAME --hosts hosts.txt\n" +
			"Measures a few runs and compares them with the runs of the baseline (calib baseline set). What looks like a\n" +
			"regression is measured again: only what the second runs show too, on their own, fails the gate. Exit 0 no regression,\n" +
			"3 regression confirmed, 5 inconclusive or not comparable. The output directory holds the runs, verdict.json, junit.xml\n" +
			"and summary.md.",
		Flags: join([]cli.Flag{
			&cli.StringFlag{Name: "baseline", Usage: "`NAME` of the baseline in the history"},
			&cli.IntFlag{Name: "runs", Usage: "`N` runs each time it measures; 0 is as many as the baseline's size asks for"},
		}, thresholdFlags(), []cli.Flag{storeFlag()}, whereFlags(), planFlags(), outFlags()),
		Action: gate,
	}
}

// gate measures against a baseline.
func gate(c *cli.Context) error {
	if err := noArgs(c); err != nil {
		return err
	}
	name := c.String("baseline")
	switch {
	case name == "":
		return usagef("--baseline NAME: which runs to compare with; calib baseline list names them")
	case c.IsSet("resume"):
		return usagef("--resume with gate: a gate measures anew; calib run --resume goes on with a run")
	}
	options, err := compareOptions(c)
	if err != nil {
		return err
	}
	baseline, err := baselineRuns(c, name)
	if err != nil {
		return err
	}
	if options.Noise == nil {
		if options.Noise, err = baselineFloor(c, name); err != nil {
			return err
		}
	}
	root := c.String("out")
	if root == "" {
		root = "gate-" + rundir.DefaultName(time.Now())
	}
	var partial error
	measure := func(_ context.Context, n int, why []string) ([]compare.Run, error) {
		what := "run"
		if why != nil {
			what = "again"
		}
		runs, err := repeatRuns(c, root, what, n)
		if codeOf(err) == exitPartial {
			partial, err = err, nil
		}
		return runs, err
	}
	v, err := compare.Gate(c.Context, baseline, measure, compare.GateOptions{Options: options, Runs: c.Int("runs")})
	if err != nil {
		return err
	}
	paths, err := writeVerdict(root, v)
	if err != nil {
		return err
	}
	return tellVerdict(c, "gate", v, paths, partial)
}

// writeVerdict writes what other programs and a CI's page read.
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
		return exitOK
	case compare.Regression:
		return exitRegression
	}
	return exitInconclusive
}

// tellVerdict prints a verdict, and returns its exit code as an error that has been told. A regression outweighs runs that
// lack hosts, and those outweigh all else.
func tellVerdict(c *cli.Context, command string, v *compare.Verdict, paths map[string]string, partial error) error {
	code := verdictCode(v)
	if partial != nil && code != exitRegression {
		code = exitPartial
	}
	var err error
	if code != exitOK {
		err = withCode(code, fmt.Errorf("%s: %s", command, v.Outcome))
	}
	if c.Bool("json") {
		r := reports.Result{Command: command, Exit: code, Files: paths, Data: v}
		if partial != nil {
			r.Error = partial.Error()
		}
		return silent(err, r.Encode(c.App.Writer))
	}
	if terr := compare.Text(c.App.Writer, v); terr != nil {
		return terr
	}
	if partial != nil {
		fmt.Fprintf(c.App.ErrWriter, "calib: %v\n", partial)
	}
	return silent(err, nil)
}
