package measuring

import (
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/runfiles"
	"calib/internal/dataset/names"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/reports"
	"calib/run/plan"
)

// ValidateCommand is calib validate.
func ValidateCommand() *cli.Command {
	return &cli.Command{
		Name: "validate", Usage: "hold the predictions of a run against traffic that no fit has seen", ArgsUsage: "RUN",
		Description: "calib validate RUN    a run that measured patterns (plans standard and full): predict them again\n" +
			"                      any other: measure patterns on the same hosts first, into RUN/" + runfiles.ValidationDir + "\n" +
			"It writes params.json (validation) and the reports anew.",
		Flags: append(whatIsExecuted(),
			&cli.DurationFlag{Name: "budget", Value: validationTime, Usage: "longest time to measure patterns"},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask, also when that is long"},
			command.JSONFlag(), command.QuietFlag(),
		),
		Action: func(c *cli.Context) error {
			dir, err := runfiles.Open(c)
			if err != nil {
				return err
			}
			d, err := dir.Samples()
			if err != nil {
				return err
			}
			seen, err := runfiles.Patterns(dir, d)
			if err == nil && seen == nil {
				if err = measurePatterns(c, dir); err == nil {
					seen, err = runfiles.Patterns(dir, d)
				}
			}
			if err != nil {
				return err
			}
			p, err := runfiles.Validate(dir, d, seen)
			if err != nil {
				return err
			}
			r := reports.Result{Command: "validate", Run: dir.Path(), Files: runfiles.FilesOf(dir.Path()), Params: p}
			return command.AnswerResult(c, r, nil, func(w io.Writer) error {
				return reports.ValidationText(w, p, runfiles.PageOptions(c, dir.Path()))
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
	d, err := detailIn(dir.Run())
	if err != nil {
		return command.Usagef("%s does not say on which hosts it was measured, and holds no patterns: %s: %w", dir.Path(), rundir.RunFile, err)
	}
	if err := confirmStored(c, &d.Where, "calib validate "+quote(dir.Path()), person(c)); err != nil {
		return err
	}
	d.Fit = runfiles.Fitting{}
	d.Plan.Name, d.Plan.Experiments = "validation", []string{names.Pattern}
	d.Plan.Rounds = plan.Rounds{Min: validationRounds, Max: validationRounds}
	d.Plan.Budget = units.Nanos(c.Duration("budget"))
	j := emptyJob(c, dir.File(runfiles.ValidationDir))
	j.detail = d
	if err := j.findHosts(); err != nil {
		return err
	}
	if err := j.finish(j.measure(c.Context)); err != nil {
		return fmt.Errorf("measure patterns: %w", err)
	}
	return nil
}
