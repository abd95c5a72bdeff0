package hyperbolic

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"calib/fit"
	"calib/fit/resample"
)

// addPairSpread records by how much pairs of hosts differ, as the standard deviation between pairs over the time of the
// smallest size (pair_spread_small) and of the largest (pair_spread_large), without the noise of rounds. Where no more
// than noise shows there is a bound. Slow hosts are not among the pairs. With fewer than two pairs in a round, or one
// round, there is neither.
func addPairSpread(r *fit.Result, q *fit.Pingpong) {
	last := len(q.Sizes) - 1
	for _, s := range []struct {
		i    int
		name string
		of   string
	}{{0, "pair_spread_small", "smallest"}, {last, "pair_spread_large", "largest"}} {
		teams, value := q.Times.Teams[s.i], q.Times.Values[s.i]
		if teams.N < 2 || q.Times.Rounds < 2 {
			continue
		}
		label := "standard deviation between pairs of the time of the " + s.of + " message, relative"
		if teams.Spread == 0 {
			ci := q.Times.Point(s.i)
			hidden := resample.Uncertainty(ci) * math.Sqrt(float64(teams.N)) / value
			r.Bound(s.name, "1", label, 0, hidden, "pairs differ by no more than the rounds")
			continue
		}
		v := teams.Spread / value
		r.Found(s.name, "1", label, v, deviationInterval(v, teams.N))
	}
}

// deviationInterval is the 95% interval of a standard deviation s of n normal values: s·√((n−1)/χ²) at the quantiles of
// χ² with n−1 degrees of freedom.
func deviationInterval(s float64, n int) [2]float64 {
	df := float64(n - 1)
	chi := distuv.ChiSquared{K: df}
	return [2]float64{s * math.Sqrt(df/chi.Quantile(0.975)), s * math.Sqrt(df/chi.Quantile(0.025))}
}
