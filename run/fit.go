package run

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"calib/fit"
	"calib/fit/hyperbolic"
	"calib/fit/models"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/exit"
	"calib/internal/files"
	"calib/internal/lsq"
	"calib/internal/rundir"
	"calib/params"
	"calib/predict"
	"calib/reports"
	"calib/reports/figure"
	"calib/reports/html"
)

// Page says what the page of a run in dir has beside p, such as changes since the runs before. Nil is nothing of them.
type Page func(dir string, p *params.Params) html.Options

// Fitting is how a run is fitted, as run.json keeps it in member "fit" of its detail: to fit again gives the same.
type Fitting struct {
	// Breaks are fit.Settings.Breaks.
	Breaks []float64 `json:"breaks,omitempty"`
}

// FittedAs is Stored, of an imported run too.
func FittedAs(r rundir.Run) (Config, error) {
	c, err := Stored(r.Detail)
	if err != nil && !errors.Is(err, errImported) {
		return c, fmt.Errorf("run %s: %s: detail: %w", r.ID, rundir.RunFile, err)
	}
	return c, nil
}

func (r *run) fit() error {
	d, err := r.dir.Samples()
	if err != nil {
		return err
	}
	seen := d.Survey()
	r.spoilt = float64(seen.Spoilt) / float64(max(1, seen.Timings))
	p, err := Fit(r.dir, d, fit.Settings{Breaks: r.Fit.Breaks}, r.notes, r.Page)
	if p != nil {
		r.spoilt = params.Discarded(p.Fits...)
	}
	return err
}

// Fit runs every model on the samples d of a run, holds their predictions against the patterns that were measured, and
// replaces the run's params.json and reports. A model that fails is a warning, beside those given; no model at all is
// an error, and so are breaks that do not suit the sizes measured.
func Fit(dir *rundir.Dir, d dataset.Source, s fit.Settings, warnings []string, page Page) (*params.Params, error) {
	s.Missing, s.Where = dir.Run().Slots.Missing(), typed(dir.Run().Args)
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // what is no longer used would take as much again as many timings
	p, errs := fit.Run(models.All, d, s)
	if err := d.Err(); err != nil {
		return nil, err
	}
	if err := badBreaks(s, p, errs); err != nil {
		return nil, err
	}
	if len(p.Fits) == 0 {
		errs = append(errs, fmt.Errorf("samples in the run: %d; measure ping-pong at least (--only clock,pingpong)",
			d.Survey().Lines))
		return nil, fmt.Errorf("no model could be fitted: %w", errors.Join(errs...))
	}
	for _, err := range errs {
		p.Findings = append(p.Findings, params.Warnf(params.ModelFailed, "%v", err))
	}
	for _, w := range warnings {
		p.Findings = append(p.Findings, params.Warnf("measuring", "%s", w))
	}
	seen, err := Patterns(dir, d)
	if err == nil && seen != nil {
		err = predict.Validate(p, seen)
	}
	if err != nil {
		return nil, err
	}
	return p, writeResults(dir, d, p, page)
}

// ErrReports says that the parameters are written, and a report is not.
var ErrReports = errors.New("the parameters are in " + rundir.ParamsFile +
	", but a report could not be written (calib fit writes it again)")

// FoundBreaks is the value of --breaks under which they are found.
const FoundBreaks = "auto"

// badBreaks says what is wrong with the breaks of s, by what a fit with them gave.
func badBreaks(s fit.Settings, p *params.Params, errs []error) error {
	if len(s.Breaks) == 0 {
		return nil
	}
	for _, err := range errs {
		if errors.Is(err, lsq.ErrBreaks) {
			return exit.Usagef("--breaks: %w; give others, or --breaks %s", err, FoundBreaks)
		}
	}
	if !slices.ContainsFunc(p.Fits, func(f *params.Fit) bool { return f.Model == hyperbolic.Segmented.Name }) {
		return exit.Usagef("--breaks: the run has no ping-pong of several sizes whose times they could part; use --breaks %s",
			FoundBreaks)
	}
	return nil
}

// ValidationDir is where calib predict validate keeps the patterns that it measured for a run, in the run's directory.
const ValidationDir = "validation"

// Patterns returns the samples that a run's predictions are held against: its own samples d, or those that calib
// validate measured; nil where there are none.
func Patterns(dir *rundir.Dir, d dataset.Source) (dataset.Source, error) {
	if len(d.Select(names.Pattern, names.PhasePattern)) > 0 {
		return d, nil
	}
	path := dir.File(ValidationDir)
	if _, err := os.Stat(path); err != nil {
		return nil, nil
	}
	own, err := rundir.Open(path)
	if err != nil {
		return nil, err
	}
	// A validation that was cut off may have no samples yet, or none of a pattern.
	if seen, err := own.Samples(); err == nil && len(seen.Select(names.Pattern, names.PhasePattern)) > 0 {
		return seen, nil
	}
	return nil, nil
}

// Validate holds the predictions of a run's params.json against the patterns in seen, and replaces params.json and the
// reports; d are the run's samples.
func Validate(dir *rundir.Dir, d, seen dataset.Source, page Page) (*params.Params, error) {
	p, err := dir.ReadParams()
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	if seen == nil {
		return nil, fmt.Errorf("%s: no pattern was measured", dir.Path())
	}
	if err := predict.Validate(p, seen); err != nil {
		return nil, err
	}
	if len(p.Validation) == 0 {
		return nil, fmt.Errorf("%s: no pattern was measured, or no model predicts those that were", dir.Path())
	}
	return p, writeResults(dir, d, p, page)
}

func writeResults(dir *rundir.Dir, d dataset.Source, p *params.Params, page Page) error {
	var text, drawn bytes.Buffer
	figures, o := figure.Build(p, models.Plots, d), html.Options{Dir: dir.Path()}
	if page != nil {
		o = page(dir.Path(), p)
	}
	err := cmp.Or(d.Err(), reports.Text(&text, p, reports.Options{}), html.Report(&drawn, p, figures, o))
	if err != nil {
		return err
	}
	if err := dir.WriteParams(p); err != nil {
		return err
	}
	if err := errors.Join(files.Replace(dir.File(rundir.ReportFile), text.Bytes()),
		files.Replace(dir.File(rundir.HTMLFile), drawn.Bytes())); err != nil {
		return fmt.Errorf("%w: %w", ErrReports, err)
	}
	return nil
}
