package fit

import (
	"fmt"

	"calib/internal/dataset"
	"calib/internal/lsq"
)

// Hockney is the model of a latency and a rate,
//
//	T(x) = α + β·x,  x in bytes, α [s], β [s/B],
//
// fitted to the half round trips of pingpong by robust (Huber) least squares on relative residuals, so that every size
// weighs the same and one size off the line does not bend it. Parameters: alpha, beta, and r_inf = 1/β [B/s], the rate
// of long messages. Its Fit carries the pair matrix. Source: Hockney 1994, The communication challenge for MPP, Parallel
// Computing 20, 389-398; Stoica, Sultan, Keyes 1994, eq. 4.
type Hockney struct{}

// Name implements Model.
func (Hockney) Name() string { return "hockney" }

// Needs implements Model.
func (Hockney) Needs() []string { return []string{"pingpong"} }

// Fit implements Model. It returns ErrNeeds for fewer than three sizes.
func (m Hockney) Fit(d *dataset.Dataset, s Settings) (*Fit, error) {
	p, err := loadPingpong(d, s, m.Name(), "Hockney 1994; Stoica, Sultan, Keyes 1994 eq. 4", 3)
	if err != nil {
		return nil, err
	}
	l, sol, err := huberLine(p.sizes, p.times.values)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name(), err)
	}
	reps := p.times.apply(func(y []float64) ([]float64, error) {
		r, _, err := huberLine(p.sizes, y)
		return []float64{r.c0, r.c1, 1 / r.c1}, err
	})
	p.fit.found("alpha", "s", "latency of a message", l.c0, p.times.interval(l.c0, reps, 0))
	p.fit.found("beta", "s/B", "time per byte", l.c1, p.times.interval(l.c1, reps, 1))
	if ci := p.times.interval(1/l.c1, reps, 2); l.c1 > 0 {
		p.fit.found("r_inf", "B/s", "rate of long messages", 1/l.c1, ci)
	} else {
		p.fit.warn("beta is not positive: T does not grow with the size, and there is no rate")
	}
	p.residuals(l.at)
	p.fit.Pairs = pairMatrix(d)
	return p.finish(sol.Cond, func(x, y []float64) (func(float64) float64, error) {
		r, _, err := huberLine(x, y)
		return r.at, err
	}), nil
}

// huberLine fits a line robustly to relative residuals.
func huberLine(x, y []float64) (line, *lsq.Solution, error) {
	w, err := lsq.RelativeWeights(y)
	if err != nil {
		return line{}, nil, err
	}
	rows := make([][]float64, len(x))
	for i, v := range x {
		rows[i] = []float64{1, v}
	}
	sol, err := lsq.Huber(rows, y, w)
	if err != nil {
		return line{}, nil, err
	}
	return line{sol.Coef[0], sol.Coef[1]}, &sol.Solution, nil
}
