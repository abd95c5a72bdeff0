// Package runfiles works on run directories as commands name them: it finds and reads their parameters, fits their samples,
// writes their reports, and prints their table.
package runfiles

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"calib/cmd/calib/internal/command"
	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/environ"
	"calib/internal/rundir"
	"calib/reports"
	"calib/reports/figure"
	"calib/reports/html"
)

// Create makes the run directory path for r, and adds to r this build, the command line and the start.
func Create(path string, r rundir.Run) (*rundir.Dir, error) {
	build, err := environ.BuildHash()
	if err != nil {
		return nil, err
	}
	r.Version, r.Build, r.Args, r.Started = environ.Version(), build, os.Args[1:], time.Now().UTC()
	dir, err := rundir.Create(path, r)
	if err != nil {
		return nil, command.WithCode(command.ExitUsage, err)
	}
	return dir, nil
}

// Fit runs every model on the samples d of a run, and replaces the run's params.json and reports. A model that fails is a
// warning, beside those given; no model at all is an error.
func Fit(dir *rundir.Dir, d *dataset.Dataset, seed uint64, warnings []string) (*fit.Params, error) {
	fits, errs := fit.All(d, fit.Settings{Seed: seed})
	if len(fits) == 0 {
		return nil, fmt.Errorf("no model could be fitted: %w",
			errors.Join(append(errs, fmt.Errorf("the run has %d samples of the experiments the models need", len(d.Samples)))...))
	}
	p := fit.Collect(d, fits)
	for _, err := range errs {
		p.Warnings = append(p.Warnings, err.Error())
	}
	p.Warnings = append(p.Warnings, warnings...)
	return p, writeResults(dir, d, p)
}

// writeResults replaces params.json and the reports.
func writeResults(dir *rundir.Dir, d *dataset.Dataset, p *fit.Params) error {
	var text, page bytes.Buffer
	if err := reports.Text(&text, p, reports.Options{}); err != nil {
		return err
	}
	if err := html.Report(&page, p, figure.Build(p, d), html.Options{}); err != nil {
		return fmt.Errorf("%s: %w", rundir.HTMLFile, err)
	}
	return errors.Join(dir.WriteParams(p), dir.WriteReport(rundir.ReportFile, text.Bytes()),
		dir.WriteReport(rundir.HTMLFile, page.Bytes()))
}
