package fit

import (
	"math"

	"calib/fit/fault"
	"calib/fit/resample"
	"calib/internal/stats"
)

// PairTime is what one pair needs for one size [s], alone on the network.
type PairTime struct {
	Hosts [2]int // lower first
	Value float64
	CI    [2]float64
}

// PairTimes gathers lines by pair: Value is the midmean of the rounds' medians, both directions averaged.
func PairTimes(lines []*Batch) []PairTime {
	type mean struct{ sum, n float64 }
	pairs := map[[2]int]map[int]mean{} // of the medians of lines, by round
	for _, b := range lines {
		r := b.Lines[0].Ranks
		k := fault.Pair(r[0], r[1])
		if pairs[k] == nil {
			pairs[k] = map[int]mean{}
		}
		m := pairs[k][b.Round]
		pairs[k][b.Round] = mean{m.sum + stats.Median(stats.Floats(b.Lines[0].NS))*1e-9, m.n + 1}
	}
	var out []PairTime
	for _, hosts := range fault.Sorted(pairs) {
		var medians []float64
		for _, m := range pairs[hosts] {
			medians = append(medians, m.sum/m.n)
		}
		value := resample.Midmean(medians) // sorts them: what follows does not depend on the order of the map
		out = append(out, PairTime{hosts, value, roundInterval(value, medians)})
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
