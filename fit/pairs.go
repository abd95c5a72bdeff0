package fit

import (
	"math"
	"slices"

	"calib/fit/fault"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/stats"
	"calib/params"
)

// PairMatrix lists every pair that pingpong measured: the half round trip of its smallest size as latency, and the rate
// of its largest size, that size over its half round trip. Values are midmeans of the rounds' medians, intervals are
// Student's over the rounds and absent for a single one. Pairs and hosts that stand out are named in Slow. Lines with
// retransmissions are left out.
func (p *Prepared) PairMatrix() (out []params.Pair) {
	lines := slices.DeleteFunc(p.LineBatches(names.Pingpong, ""), func(b *Batch) bool {
		return b.Spoiled() || len(b.Lines[0].Ranks) != 2 || b.Timings() == 0
	})
	if len(lines) == 0 {
		return nil
	}
	sizes := lists.Map(lines, func(b *Batch) int64 { return b.Point[names.FactorBytes] })
	small, large := slices.Min(sizes), slices.Max(sizes)
	index := map[[2]int]int{}
	each := func(x int64, set func(e *params.Pair, v float64, ci [2]float64)) {
		pairs := byPair(lists.Where(lines, func(b *Batch) bool { return b.Point[names.FactorBytes] == x }))
		for _, hosts := range fault.Sorted(pairs) {
			i, ok := index[hosts]
			if !ok {
				i = len(out)
				index[hosts] = i
				out = append(out, params.Pair{From: p.HostName(hosts[0]), To: p.HostName(hosts[1]),
					Slow: p.Slow().Why(p, hosts)})
			}
			v := resample.Midmean(pairs[hosts]) // sorts them: the interval does not depend on the order of a map
			set(&out[i], v, roundInterval(v, pairs[hosts]))
		}
	}
	each(small, func(e *params.Pair, v float64, ci [2]float64) {
		e.Latency, e.LatencyBytes = &v, small
		if ci[0] < ci[1] {
			e.LatencyCI = &ci
		}
	})
	each(large, func(e *params.Pair, v float64, ci [2]float64) {
		rate := float64(large) / v
		e.Rate, e.RateBytes = &rate, large
		if ci[0] > 0 && ci[0] < ci[1] {
			e.RateCI = &[2]float64{float64(large) / ci[1], float64(large) / ci[0]}
		}
	})
	return out
}

// byPair are the times of each pair in each round [s], the lower host first: the mean of the medians of its lines, in
// both directions.
func byPair(lines []*Batch) map[[2]int][]float64 {
	out := map[[2]int][]float64{}
	type at struct {
		pair  [2]int
		round int
	}
	sums, counts := map[at]float64{}, map[at]float64{}
	for _, b := range lines {
		k := at{fault.Pair(b.Lines[0].Ranks[0], b.Lines[0].Ranks[1]), b.Round}
		sums[k] += stats.Median(stats.Floats(b.Lines[0].NS)) * 1e-9
		counts[k]++
	}
	for k, sum := range sums {
		out[k.pair] = append(out[k.pair], sum/counts[k])
	}
	return out
}

// roundInterval is the 95% interval of a value of rounds, as wide as Student's of their mean; a point for a single
// round.
func roundInterval(value float64, medians []float64) [2]float64 {
	mean, ss := stats.Mean(medians), 0.0
	for _, m := range medians {
		ss += (m - mean) * (m - mean)
	}
	r := float64(len(medians))
	if r < 2 {
		return [2]float64{value, value}
	}
	half := resample.TQuantile(r-1) * math.Sqrt(ss/(r-1)/r)
	return [2]float64{value - half, value + half}
}
