package hyperbolic

import (
	"slices"

	"calib/fit"
	"calib/internal/dataset/names"
	"calib/internal/params"
)

// pairMatrix lists every pair that pingpong measured: the half round trip of its smallest size as latency, and the rate
// of its largest size, that size over its half round trip. Values are midmeans of the rounds' medians, intervals are
// Student's over the rounds and absent for a single one. Pairs and hosts that stand out are named in Slow. Lines with
// retransmissions are left out.
func pairMatrix(p *fit.Prepared) []params.Pair {
	lines := slices.DeleteFunc(p.LineBatches(names.Pingpong, ""), func(b fit.Batch) bool {
		return b.Spoiled() || len(b.Lines[0].Ranks) != 2 || b.Timings() == 0
	})
	if len(lines) == 0 {
		return nil
	}
	small, large := lines[0].Point[names.FactorBytes], lines[0].Point[names.FactorBytes]
	for _, b := range lines {
		small, large = min(small, b.Point[names.FactorBytes]), max(large, b.Point[names.FactorBytes])
	}
	at := func(x int64) []fit.PairTime {
		return fit.PairTimes(slices.DeleteFunc(slices.Clone(lines), func(b fit.Batch) bool { return b.Point[names.FactorBytes] != x }))
	}
	slow := p.Slow()
	index := map[[2]int]int{}
	var out []params.Pair
	entry := func(hosts [2]int) *params.Pair {
		i, ok := index[hosts]
		if !ok {
			i = len(out)
			index[hosts] = i
			out = append(out, params.Pair{From: p.HostName(hosts[0]), To: p.HostName(hosts[1]), Slow: slow.Why[hosts]})
		}
		return &out[i]
	}
	for _, q := range at(small) {
		e, v := entry(q.Hosts), q.Value
		e.Latency, e.LatencyBytes = &v, small
		if q.CI[0] < q.CI[1] {
			ci := q.CI
			e.LatencyCI = &ci
		}
	}
	for _, q := range at(large) {
		e, v := entry(q.Hosts), float64(large)/q.Value
		e.Rate, e.RateBytes = &v, large
		if q.CI[0] > 0 && q.CI[0] < q.CI[1] {
			e.RateCI = &[2]float64{float64(large) / q.CI[1], float64(large) / q.CI[0]}
		}
	}
	return out
}
