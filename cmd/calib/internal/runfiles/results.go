// Package runfiles works on run directories as commands name them: it finds and reads their parameters, fits their
// samples, writes their reports, and prints their table.
package runfiles

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/fit"
	"calib/fit/models"
	"calib/fit/pointtopoint"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/environ"
	"calib/internal/files"
	"calib/internal/params"
	"calib/internal/printable"
	"calib/internal/progress"
	"calib/internal/rundir"
	"calib/predict"
	"calib/reports"
	"calib/reports/draw"
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

// Fit runs every model on the samples d of a run, holds their predictions against the patterns that were measured, and
// replaces the run's params.json and reports. A model that fails is a warning, beside those given; no model at all is
// an error, and so are breaks that do not suit the sizes measured.
func Fit(dir *rundir.Dir, d dataset.Source, s fit.Settings, warnings []string) (*params.Params, error) {
	s.Missing = dir.Run().Slots.Missing()
	undo := thrifty(d)
	p, errs := fit.Run(models.All, d, s)
	undo()
	if err := d.Err(); err != nil {
		return nil, err
	}
	if err := badBreaks(s, p, errs); err != nil {
		return nil, err
	}
	if len(p.Fits) == 0 {
		return nil, fmt.Errorf("no model could be fitted: %w",
			errors.Join(append(errs, fmt.Errorf("the run has %d samples of the experiments the models need", d.Survey().Lines))...))
	}
	for _, err := range errs {
		p.Findings = append(p.Findings, params.Warnf(params.ModelFailed, "%v", err))
	}
	for _, w := range warnings {
		p.Findings = append(p.Findings, params.Warnf(params.MeasuringNote, "%s", w))
	}
	seen, err := Patterns(dir, d)
	if err == nil && seen != nil {
		err = predict.Validate(p, seen, predict.Settings{Seed: p.Run.Seed})
	}
	if err != nil {
		return nil, err
	}
	return p, writeResults(dir, d, p)
}

// ErrReports says that the parameters are written, and a report is not.
var ErrReports = errors.New("the parameters are in " + rundir.ParamsFile + ", but a report could not be written (calib fit writes it again)")

// badBreaks says what is wrong with the breaks of s, by what a fit with them gave.
func badBreaks(s fit.Settings, p *params.Params, errs []error) error {
	if len(s.Breaks) == 0 {
		return nil
	}
	for _, err := range errs {
		if errors.Is(err, fit.ErrBreaks) {
			return command.Usagef("--breaks: %w; give others, or --breaks %s", err, foundBreaks)
		}
	}
	if !slices.ContainsFunc(p.Fits, func(f *params.Fit) bool { return f.Model == pointtopoint.Segmented{}.Name() }) {
		return command.Usagef("--breaks: the run has no ping-pong of several sizes whose times they could part; use --breaks %s", foundBreaks)
	}
	return nil
}

// Timings from which a fit is thrifty, and the percentage by which its heap then grows between two collections.
const (
	manyTimings  = 1_000_000
	thriftyGrows = 50
)

// thrifty lets the collector run more often while many timings are fitted, so that what is no longer used does not take
// as much memory again as they do. The returned function undoes it.
func thrifty(d dataset.Source) (undo func()) {
	if d.Survey().Timings < manyTimings {
		return func() {}
	}
	before := debug.SetGCPercent(thriftyGrows)
	return func() { debug.SetGCPercent(before) }
}

// ValidationDir is where calib validate keeps the patterns that it measured for a run, in the run's directory.
const ValidationDir = "validation"

// Patterns returns the samples that a run's predictions are held against: its own samples d, or those that calib
// validate measured; nil where there are none.
func Patterns(dir *rundir.Dir, d dataset.Source) (dataset.Source, error) {
	if len(d.Select(names.Pattern, names.PhasePattern)) > 0 {
		return d, nil
	}
	path := dir.File(ValidationDir)
	if !command.Exists(path) {
		return nil, nil
	}
	own, err := rundir.Open(path)
	if err != nil {
		return nil, err
	}
	return own.Samples()
}

// Validate holds the predictions of a run's params.json against the patterns in seen, and replaces params.json and the
// reports; d are the run's samples.
func Validate(dir *rundir.Dir, d, seen dataset.Source) (*params.Params, error) {
	p, err := dir.ReadParams()
	if err != nil {
		return nil, command.WithCode(command.ExitUsage, err)
	}
	if err := predict.Validate(p, seen, predict.Settings{Seed: p.Run.Seed}); err != nil {
		return nil, err
	}
	if len(p.Validation) == 0 {
		return nil, fmt.Errorf("%s: no pattern was measured, or no model predicts those that were", dir.Path())
	}
	return p, writeResults(dir, d, p)
}

// writeResults replaces params.json and the reports.
func writeResults(dir *rundir.Dir, d dataset.Source, p *params.Params) error {
	var text, page bytes.Buffer
	if err := reports.Text(&text, p, reports.Options{}); err != nil {
		return err
	}
	figures := figure.Build(p, d)
	if err := d.Err(); err != nil {
		return err
	}
	if err := html.Report(&page, p, figures, html.Options{}); err != nil {
		return fmt.Errorf("%s: %w", rundir.HTMLFile, err)
	}
	if err := dir.WriteParams(p); err != nil {
		return err
	}
	if err := errors.Join(files.Replace(dir.File(rundir.ReportFile), text.Bytes()), files.Replace(dir.File(rundir.HTMLFile), page.Bytes())); err != nil {
		return fmt.Errorf("%w: %w", ErrReports, err)
	}
	return nil
}

// FilesOf lists what a run directory holds, by name.
func FilesOf(dir string) map[string]string {
	out := map[string]string{}
	for _, name := range []string{rundir.RunFile, rundir.SamplesFile, rundir.ParamsFile, rundir.ReportFile,
		rundir.HTMLFile, rundir.LogFile} {
		if path := filepath.Join(dir, name); command.Exists(path) {
			out[name] = path
		}
	}
	return out
}

// PageOptions suit the terminal, where there is one.
func PageOptions(c *cli.Context, dir string) reports.Options {
	o := reports.Options{Dir: dir, All: c.Bool("all")}
	if f, ok := printable.Raw(c.App.Writer).(*os.File); ok && progress.IsTerminal(f) {
		o.Width, o.Colour = progress.Width(f), os.Getenv("NO_COLOR") == ""
	}
	return o
}

// Print prints the summary of a run, or its one JSON document, for the command called name. err is how that command
// ended.
func Print(c *cli.Context, name string, dir *rundir.Dir, err error) error {
	p, readErr := dir.ReadParams()
	r := reports.Result{Command: name, Run: dir.Path(), Files: FilesOf(dir.Path()), Warnings: dir.Run().Warnings, Params: p}
	return command.AnswerResult(c, r, err, func(w io.Writer) error {
		switch {
		case readErr == nil:
			o, run := PageOptions(c, dir.Path()), dir.Run()
			if run.Ended != nil {
				o.Took = run.Ended.Sub(run.Started)
			}
			return reports.Screen(w, p, o)
		case err != nil: // which says more than that there are no parameters
			return nil
		}
		return readErr
	})
}

// WriteFigures writes the page to the file out, which may be that of --out, where format is html, else a file for each
// figure to the directory out. It returns the paths.
func WriteFigures(c *cli.Context, format, out string, figures []figure.Figure, page func(io.Writer) error) ([]string, error) {
	if format == command.FormatHTML {
		if c.String("out") != "" {
			return []string{out}, files.Write(out, page)
		}
		return []string{out}, files.ReplaceBy(out, page)
	}
	return draw.Files(out, figures, format)
}
