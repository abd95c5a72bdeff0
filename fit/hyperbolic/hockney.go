package hyperbolic

import (
	"calib/fit"
	"calib/internal/dataset/names"
	"calib/internal/lsq"
	"calib/internal/params"
)

// Hockney is the model of a latency and a rate,
//
//	T(x) = α + β·x,  x in bytes, α [s], β [s/B],
//
// fitted to the half round trips of pingpong by robust (Huber) least squares on relative residuals, so that every size
// weighs the same and one size off the line does not bend it. Parameters: alpha, beta, and r_inf = 1/β [B/s], the rate
// of long messages; pair_spread_small and pair_spread_large (addPairSpread). Its Fit carries the pair matrix. Source:
// Hockney 1994, The communication challenge for MPP, Parallel Computing 20, 389-398; Stoica, Sultan, Keyes 1994, eq. 4.
var Hockney = fit.Model{Name: "hockney", Needs: []string{names.Pingpong}, Fit: fitHockney, Plots: hockneyPlots}

// fitHockney returns fit.ErrNeeds for fewer than three sizes.
func fitHockney(p *fit.Prepared) (*params.Fit, error) {
	q, err := p.Pingpong("hockney", 3)
	if err != nil {
		return nil, err
	}
	l, sol, err := lsq.HuberLine(q.Sizes, q.Times.Values)
	if err != nil {
		return nil, err
	}
	reps := q.Times.Apply(func(y []float64) ([]float64, error) {
		r, _, err := lsq.HuberLine(q.Sizes, y)
		return []float64{r.C0, r.C1, 1 / r.C1}, err
	})
	r := q.New(p, "hockney", "Hockney 1994; Stoica, Sultan, Keyes 1994 eq. 4")
	r.Found("alpha", "s", "latency of a message", l.C0, q.Times.Interval(l.C0, reps, 0), p.OneMessage(1)...)
	r.Found("beta", "s/B", "time per byte", l.C1, q.Times.Interval(l.C1, reps, 1))
	if ci := q.Times.Interval(1/l.C1, reps, 2); l.C1 > 0 {
		r.Found("r_inf", "B/s", "rate of long messages", 1/l.C1, ci)
	} else {
		r.Add(params.Warnf(params.NotPositive, "beta is not positive: T does not grow with the size, and there is no rate").Of("beta"))
	}
	addPairSpread(r, q)
	r.Pairs = pairMatrix(p)
	return q.Finish(r, sol.Cond(), l.At, func(x, y []float64) (func(float64) float64, error) {
		l, _, err := lsq.HuberLine(x, y)
		return l.At, err
	}), nil
}

func hockneyPlots(f *params.Fit) []params.Plot {
	curves := fit.TwoParameterCurve(f, "Hockney", "alpha", "beta", messageSizes(f), func(x, a, b float64) float64 { return a + b*x })
	return timeBySize(f, "Hockney", fit.Misses("Hockney's line, "+fit.ValueWords(f, "alpha")+" + "+fit.ValueWords(f, "beta")+
		"·x, a rate of "+fit.ValueWords(f, "r_inf")+", is", f.Of(params.Time)...), curves)
}
