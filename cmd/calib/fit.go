package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/progress"
	"calib/internal/rundir"
	"calib/reports"
)

func fitCommand() *cli.Command {
	return &cli.Command{
		Name: "fit", Usage: "fit the models to a run's samples again: write params.json and report.txt", ArgsUsage: "RUN",
		Flags: []cli.Flag{
			&cli.Uint64Flag{Name: "seed", Usage: "`N` of the bootstrap; 0 is the run's own"},
			jsonFlag(), quietFlag(),
		},
		Action: func(c *cli.Context) error {
			dir, err := openRun(c)
			if err != nil {
				return err
			}
			d, err := dir.Dataset()
			if err != nil {
				return err
			}
			p, err := fitDataset(d, c.Uint64("seed"))
			if err != nil {
				return err
			}
			p.Warnings = append(p.Warnings, dir.Run().Warnings...)
			if err := writeResults(dir, d, p); err != nil {
				return err
			}
			return tell(c, "fit", dir.Path(), nil)
		},
	}
}

// openRun opens the run directory that is the one argument.
func openRun(c *cli.Context) (*rundir.Dir, error) {
	arg, err := oneArg(c, "run directory")
	if err != nil {
		return nil, err
	}
	dir, err := rundir.Open(arg)
	if err != nil {
		return nil, withCode(exitUsage, err)
	}
	return dir, nil
}

// fitDataset runs every model. A model that fails is a warning; no model at all is an error.
func fitDataset(d *dataset.Dataset, seed uint64) (*fit.Params, error) {
	fits, errs := fit.All(d, fit.Settings{Seed: seed})
	if len(fits) == 0 {
		return nil, fmt.Errorf("no model could be fitted: %w", errors.Join(append(errs, errNoSamples(d))...))
	}
	p := fit.Collect(d, fits)
	for _, err := range errs {
		p.Warnings = append(p.Warnings, err.Error())
	}
	return p, nil
}

func errNoSamples(d *dataset.Dataset) error {
	return fmt.Errorf("the run has %d samples of the experiments the models need", len(d.Samples))
}

// pageOptions suit the terminal, where there is one.
func pageOptions(c *cli.Context, dir string) reports.Options {
	o := reports.Options{Dir: dir}
	if f, ok := c.App.Writer.(*os.File); ok && progress.IsTerminal(f) {
		o.Width, o.Colour = progress.Width(f), os.Getenv("NO_COLOR") == ""
	}
	return o
}
