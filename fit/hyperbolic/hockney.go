package hyperbolic

import (
	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/lsq"
	"calib/internal/plot"
	"calib/params"
)

// Hockney is the model of a latency and a rate,
//
//	T(x) = α + β·x,  x in bytes, α [s], β [s/B],
//
// fitted to the half round trips of pingpong by robust (Huber) least squares on relative residuals, so that every size
// weighs the same and one size off the line does not bend it. Its Fit carries the pair matrix. Source:
// Hockney 1994, The communication challenge for MPP, Parallel Computing 20, 389-398; Stoica, Sultan, Keyes 1994, eq. 4.
var Hockney = fit.Model{Name: "hockney", Needs: []string{names.Pingpong}, Fit: fitHockney, Draw: hockneyPlots}

// fitHockney returns fit.ErrNeeds for fewer than three sizes.
func fitHockney(p *fit.Prepared) (*params.Fit, error) {
	q, err := p.Pingpong("hockney", 3)
	if err != nil {
		return nil, err
	}
	l, err := lsq.HuberLine(q.Sizes, q.Times.Values)
	if err != nil {
		return nil, err
	}
	line := func(y []float64) (lsq.Line, error) { return lsq.HuberLine(q.Sizes, y) }
	v, reps, ci, misfit := fit.Uncertain(q.Times, l, resample.Map(q.Times.Replicates, line),
		func(l lsq.Line) []float64 { return []float64{l.C0, l.C1} },
		func(i int) float64 { return l.At(q.Sizes[i]) }, 2, line)
	r := q.New(p, "hockney", "Hockney 1994; Stoica, Sultan, Keyes 1994 eq. 4")
	r.Found("alpha", "s", "latency of a message", v[0], ci[0], append(p.ClockReading(1), misfit[0]...)...)
	r.Found("beta", "s/B", "time per byte", v[1], ci[1], misfit[1]...)
	if l.C1 <= 0 {
		r.Add(params.Warnf("not-positive", "beta is not positive: T does not grow with the size").Of("beta"))
	}
	r.Together([]string{"alpha", "beta"}, reps)
	addStates(r, q)
	r.Pairs = p.PairMatrix()
	q.Finish(r, 2, l.Cond, l.At)
	r.LeaveOneOut(lsq.LeaveOneOut(q.Sizes, q.Times.Values, lsq.HuberLine))
	return r.Fit, nil
}

func hockneyPlots(f *params.Fit) []plot.Plot {
	line := func(x, a, b float64) float64 { return a + b*x }
	curves := fit.TwoParameterCurve(f, "Hockney", "alpha", "beta", messageSizes(f), line)
	return timeBySize(f, "Hockney", fit.Misses("Hockney's line, "+fit.ValueWords(f, "alpha")+" + "+
		fit.ValueWords(f, "beta")+"·x, is", f.Of(params.Time)...), curves)
}
