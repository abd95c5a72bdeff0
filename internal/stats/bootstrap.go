package stats

import (
	"math/rand/v2"
	"slices"
)

// ClusterBootstrap returns the 95% percentile interval of a statistic of clustered values: each replicate draws as many
// rounds as there are, with replacement, then as many values of each drawn round as it holds, with replacement, and takes
// the statistic of them all together. Rounds without values are left out. statistic may sort its argument, and must not
// keep it. It returns ErrEmpty for no values or fewer than one replicate; one round alone gives an interval that knows
// only the spread within it.
//
// On bootstraps of clustered data: Field and Welsh, Bootstrapping clustered data, J. R. Statist. Soc. B 69(3), 2007.
func ClusterBootstrap(rounds [][]float64, statistic func([]float64) float64, replicates int, rng *rand.Rand) (
	Interval, error) {
	full := slices.DeleteFunc(slices.Clone(rounds), func(r []float64) bool { return len(r) == 0 })
	if len(full) == 0 || replicates < 1 {
		return Interval{}, ErrEmpty
	}
	var draw []float64
	stats := make([]float64, replicates)
	for i := range stats {
		draw = draw[:0]
		for range full {
			r := full[rng.IntN(len(full))]
			for range r {
				draw = append(draw, r[rng.IntN(len(r))])
			}
		}
		stats[i] = statistic(draw)
	}
	slices.Sort(stats)
	return Interval{
		Lo: SortedQuantile(stats, (1-Level)/2), Hi: SortedQuantile(stats, 1-(1-Level)/2), Coverage: Level,
	}, nil
}
