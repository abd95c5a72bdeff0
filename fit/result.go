package fit

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"calib/fit/resample"
	"calib/internal/lists"
	"calib/internal/lsq"
	"calib/params"
)

// Result is a fit in the making: a params.Fit and what models do to fill it.
type Result struct {
	*params.Fit
	Prepared *Prepared
}

func (p *Prepared) New(model, experiment, source string) *Result {
	return &Result{Prepared: p, Fit: &params.Fit{
		Model: model, Experiment: experiment, Source: source, Hosts: []string{},
		Parameters: map[string]params.Parameter{}, Functions: map[string]params.Function{}, Domain: map[string][2]float64{},
	}}
}

// Found records an identified parameter. ci is its statistical interval; terms are what else makes it uncertain, which
// widen it. An interval without width is left out: it comes from a single round, or from data without noise.
func (r *Result) Found(name, unit, label string, v float64, ci [2]float64, terms ...params.Term) {
	r.found(name, unit, label, v, ci, Widen(v, ci, terms), terms)
}

// Difference is Found for a number that may be zero, such as what is left of a time.
func (r *Result) Difference(name, unit, label string, v float64, ci [2]float64, terms ...params.Term) {
	r.found(name, unit, label, v, ci, WidenDifference(v, ci, terms), terms)
}

func (r *Result) found(name, unit, label string, v float64, ci, whole [2]float64, terms []params.Term) {
	q := params.Parameter{Value: &v, Status: params.StatusOK}
	if params.Wide(v, ci) {
		q.Budget = []params.Term{{Name: "rounds", Type: params.TypeA, U: resample.Uncertainty(ci),
			Why: "bootstrap of rounds, and of pairs where several were measured"}}
		q.Budget, q.CI95 = append(q.Budget, terms...), &whole
	} else {
		q.Budget, q.Why = terms, "no interval: all rounds gave the same value, as one round does"
	}
	r.set(name, unit, label, q)
}

// Unknown records a parameter that the data cannot determine, what they allow, and why.
func (r *Result) Unknown(name, unit, label string, lo, hi float64, why string) {
	r.set(name, unit, label, params.Parameter{Status: params.StatusUnidentifiable, Bound: &params.Bound{lo, hi}, Why: why})
}

// Bound records a parameter of which the data give limits only.
func (r *Result) Bound(name, unit, label string, lo, hi float64, why string) {
	r.set(name, unit, label, params.Parameter{Status: params.StatusBound, Bound: &params.Bound{lo, hi}, Why: why})
}

func (r *Result) set(name, unit, label string, q params.Parameter) {
	q.Unit, q.Label, q.Model, q.Experiment, q.Source = unit, label, r.Model, r.Experiment, r.Source
	r.Parameters[name] = q
}

// Explain says of a parameter without an interval why it has none.
func (r *Result) Explain(name, why string) {
	q := r.Parameters[name]
	q.Why = why
	r.Parameters[name] = q
}

// Function returns an empty function of the fit in seconds.
func (r *Result) Function(form, label string, domain map[string][2]float64) params.Function {
	return params.Function{Form: form, Coeff: map[string]float64{}, CI95: map[string][2]float64{}, Unit: "s",
		Domain: domain, Model: r.Model, Source: r.Source, Label: label}
}

func (r *Result) Warn(code params.Code, format string, args ...any) {
	r.Add(params.Warnf(code, format, args...))
}

func (r *Result) Note(code params.Code, format string, args ...any) {
	r.Add(params.Notef(code, format, args...))
}

func (r *Result) Add(f params.Finding) { r.Findings = append(r.Findings, f) }

// Count adds n to what the finding that of makes counts under that name, so that a model has one such finding.
func (r *Result) Count(n int, name string, of func(n int) params.Finding) {
	f := of(n)
	for i := range r.Findings {
		if r.Findings[i].Code == f.Code {
			n += int(r.Findings[i].Values[name])
			r.Findings[i] = of(n).With(name, float64(n))
			return
		}
	}
	r.Add(f.With(name, float64(n)))
}

func (r *Result) WidenDomain(factor string, values ...float64) {
	for _, v := range values {
		d, seen := r.Domain[factor]
		if !seen {
			d = [2]float64{v, v}
		}
		r.Domain[factor] = [2]float64{min(d[0], v), max(d[1], v)}
	}
}

// CheckRounds warns where the rounds are too few for an interval.
func (r *Result) CheckRounds(rounds int) {
	if rounds < 2 {
		r.Warn(params.OneRound,
			"one round only: nothing is known of what changes between rounds, and no number has an interval")
	}
}

// Judge states the errors of some series, and R² and the condition number where they are numbers.
func (r *Result) Judge(r2, condition float64, series ...params.Series) {
	q := &params.Quality{}
	if mean, worst, n := params.Misfit(series...); n > 0 {
		q.MeanError, q.MaxError = mean, worst
	}
	if Finite(r2) {
		q.R2 = &r2
	}
	if Finite(condition) {
		q.Condition = &condition
	}
	r.Quality = q
}

// LeaveOneOut states the mean error at points that the fit has not seen, where one can be made.
func (r *Result) LeaveOneOut(e float64, ok bool) {
	if ok {
		r.Quality.LeaveOneOut = &e
	}
}

// Tabulate adds point i as measured to a series. There is no model of it: fitted is the value itself.
func Tabulate(s *params.Series, x float64, est *resample.Estimates, i int) {
	s.Add(x, est.Values[i], est.Point(i), est.Values[i], est.N[i])
}

// JudgeTable states the quality of a table: there is no curve that could miss it.
func (r *Result) JudgeTable() {
	r.Note("table-only", "no curve is fitted: the measured values are the result")
	r.Quality = &params.Quality{}
}

// R2 is 1 − Σ(y−fit)²/Σ(y−mean)², plain, over some series; NaN where they have no more points than the fit had
// unknowns: a curve through every point says nothing of how well it fits.
func R2(unknowns int, series ...params.Series) float64 {
	var points []params.Residual
	sum := 0.0
	for _, s := range series {
		for _, p := range s.Points {
			points = append(points, p)
			sum += p.Measured
		}
	}
	if len(points) <= unknowns {
		return math.NaN()
	}
	mean := sum / float64(len(points))
	var rss, tss float64
	for _, p := range points {
		rss += (p.Measured - p.Fitted) * (p.Measured - p.Fitted)
		tss += (p.Measured - mean) * (p.Measured - mean)
	}
	return 1 - rss/tss
}

func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func Seconds(ns []int64) []float64 {
	return lists.Map(ns, func(v int64) float64 { return float64(v) * 1e-9 })
}

// AddSeries records the estimates at x as the points of a series, beside the model's values there. A nil model is a
// table: fitted is the value itself.
func (r *Result) AddSeries(s params.Series, x []float64, est *resample.Estimates,
	model func(x float64) float64) params.Series {
	for i, v := range x {
		Tabulate(&s, v, est, i)
		if model != nil {
			s.Points[i].Fitted = model(v)
		}
	}
	r.Series = append(r.Series, s)
	return s
}

// SegmentsFunction records straight lines over ranges of the size as a function: seg was fitted to the values of est at
// sizes. Intervals are those of the lines between its breaks; what lines miss between sizes is in
// params.Function.Within. Domain holds the sizes seen: "bytes", and "bytes_i" by segment.
func SegmentsFunction(r *Result, name, label string, sizes []float64, est *resample.Estimates, seg *lsq.Segments) {
	fn := r.Function(params.Pieces, label, map[string][2]float64{"bytes": {sizes[0], sizes[len(sizes)-1]}})
	lines := resample.Map(est.Replicates, func(y []float64) ([]float64, error) { return lsq.WithinBreaks(sizes, y, seg) })
	from, k := append([]float64{0}, seg.Breaks...), 0
	for i, g := range seg.Segments {
		n := "_" + strconv.Itoa(i+1)
		fn.Coeff["from"+n] = from[i]
		c0, c1 := est.Interval(g.C0, lines, 2*i), est.Interval(g.C1, lines, 2*i+1)
		x, y := sizes[k:k+g.Distinct], est.Values[k:k+g.Distinct]
		k += g.Distinct
		ofC0, ofC1 := LineMisfit(g, x, y, 0, c0, c1)
		fn.Set("c0"+n, g.C0, Add(g.C0, c0, ofC0))
		fn.Set("c1"+n, g.C1, Add(g.C1, c1, ofC1))
		fn.Domain["bytes"+n] = [2]float64{g.Lo, g.Hi}
		own := lists.Map(lines, func(l []float64) []float64 { return l[2*i : 2*i+2] })
		r.Together([]string{name + ".c0" + n, name + ".c1" + n}, own) // a size is on one line
	}
	r.Functions[name] = fn
}

// SizeName writes a size without loss in the unit that divides it: 64KiB, 1MiB, 1449B.
func SizeName(n int64) string { return strings.ReplaceAll(SizeWords(n), " ", "") }

// SizeID is a size as a part of the ID of a plot: 64kib.
func SizeID(n int64) string { return strings.ToLower(SizeName(n)) }

// SizeWords is SizeName with a space, for people.
func SizeWords(n int64) string {
	switch {
	case n > 0 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n > 0 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}
