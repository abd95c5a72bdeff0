package fit

import (
	"math"

	"calib/internal/lsq"
)

// newFit returns an empty fit of a model.
func newFit(model, experiment, source string) *Fit {
	return &Fit{
		Model: model, Experiment: experiment, Source: source,
		Parameters: map[string]Parameter{}, Domain: map[string][2]float64{}, Hosts: []string{},
	}
}

// found records an identified parameter. An interval without width is none: it comes from a single round, or from data
// without noise.
func (f *Fit) found(name, unit, label string, v float64, ci [2]float64) {
	p := Parameter{
		Value: &v, Unit: unit, CI95: &ci, Status: StatusOK,
		Model: f.Model, Experiment: f.Experiment, Source: f.Source, Label: label,
	}
	if ci[1]-ci[0] <= 1e-12*math.Abs(v) {
		p.CI95, p.Why = nil, "no interval: nothing varied, as when there is one round only"
	}
	f.Parameters[name] = p
}

// unknown records a parameter that the data cannot determine, what they allow, and why.
func (f *Fit) unknown(name, unit, label string, lo, hi float64, why string) {
	f.Parameters[name] = Parameter{
		Unit: unit, Status: StatusUnidentifiable, Bound: &[2]float64{lo, hi}, Why: why,
		Model: f.Model, Experiment: f.Experiment, Source: f.Source, Label: label,
	}
}

// judge states errors of the residuals of the named series, and R² and the condition number where they are numbers.
func (f *Fit) judge(r2, condition float64, series ...string) {
	q := &Quality{}
	n := 0
	for _, r := range f.Residuals {
		for _, s := range series {
			if r.Series == s && r.Measured != 0 {
				e := math.Abs(r.Relative())
				q.MeanError += e
				q.MaxError = math.Max(q.MaxError, e)
				n++
			}
		}
	}
	if n > 0 {
		q.MeanError /= float64(n)
	}
	if finite(r2) {
		q.R2 = &r2
	}
	if finite(condition) {
		q.Condition = &condition
	}
	f.Quality = q
}

// leaveOneOut is the mean relative error at each point of a fit made without it. fit returns a predictor from the other
// points; a point it fails without is left out of the mean. It returns false where it always fails.
func leaveOneOut(x, y []float64, fit func(x, y []float64) (func(float64) float64, error)) (float64, bool) {
	sum, n := 0.0, 0
	xs, ys := make([]float64, 0, len(x)), make([]float64, 0, len(y))
	for i := range x {
		xs = append(append(xs[:0], x[:i]...), x[i+1:]...)
		ys = append(append(ys[:0], y[:i]...), y[i+1:]...)
		predict, err := fit(xs, ys)
		if err != nil {
			continue
		}
		sum += math.Abs((y[i] - predict(x[i])) / y[i])
		n++
	}
	if n == 0 {
		return 0, false
	}
	return sum / float64(n), true
}

// line is y = c0 + c1·x.
type line struct{ c0, c1 float64 }

func (l line) at(x float64) float64 { return l.c0 + l.c1*x }

// fitLine fits a line by weighted least squares; w nil makes residuals relative.
func fitLine(x, y, w []float64) (line, *lsq.Solution, error) {
	rows := make([][]float64, len(x))
	for i, v := range x {
		rows[i] = []float64{1, v}
	}
	if w == nil {
		var err error
		if w, err = lsq.RelativeWeights(y); err != nil {
			return line{}, nil, err
		}
	}
	sol, err := lsq.Linear(rows, y, w)
	if err != nil {
		return line{}, nil, err
	}
	return line{sol.Coef[0], sol.Coef[1]}, sol, nil
}

// r2 is 1 − Σ(y−fit)²/Σ(y−mean)², plain.
func r2(rs []Residual, series ...string) float64 {
	var sum, n float64
	in := func(r Residual) bool {
		for _, s := range series {
			if r.Series == s {
				return true
			}
		}
		return false
	}
	for _, r := range rs {
		if in(r) {
			sum += r.Measured
			n++
		}
	}
	var rss, tss float64
	for _, r := range rs {
		if in(r) {
			rss += (r.Measured - r.Fitted) * (r.Measured - r.Fitted)
			tss += (r.Measured - sum/n) * (r.Measured - sum/n)
		}
	}
	return 1 - rss/tss
}

// finite reports whether v is neither NaN nor infinite.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
