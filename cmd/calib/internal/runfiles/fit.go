// Package runfiles works on run directories as commands name them: it finds and reads their parameters, fits their samples,
// writes their reports, and prints their table.
package runfiles

import (
	"bytes"
	"errors"
	"fmt"

	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/rundir"
	"calib/reports"
	"calib/reports/figure"
	"calib/reports/html"
)

// Fit runs every model. A model that fails is a warning; no model at all is an error.
func Fit(d *dataset.Dataset, seed uint64) (*fit.Params, error) {
	fits, errs := fit.All(d, fit.Settings{Seed: seed})
	if len(fits) == 0 {
		return nil, fmt.Errorf("no model could be fitted: %w", errors.Join(append(errs, fmt.Errorf("the run has %d samples of the experiments the models need", len(d.Samples)))...))
	}
	p := fit.Collect(d, fits)
	for _, err := range errs {
		p.Warnings = append(p.Warnings, err.Error())
	}
	return p, nil
}

// WriteResults replaces params.json and the reports.
func WriteResults(dir *rundir.Dir, d *dataset.Dataset, p *fit.Params) error {
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
