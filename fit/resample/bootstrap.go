package resample

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"calib/internal/lists"
	"calib/internal/stats"
)

// cells are the sorted values of each row in each round, none where nothing was measured: values within a round share
// what the network did at that time, rounds are independent.
type cells [][][]float64

// medians returns the median of each row in each round, NaN where there are no values.
func (c cells) medians() [][]float64 {
	median := func(s []float64) float64 { return stats.SortedQuantile(s, 0.5) }
	return lists.Map(c, func(rounds [][]float64) []float64 { return lists.Map(rounds, median) })
}

// bootstrap resamples clustered data: each of b replicates draws as many rounds as there are, with replacement. Values
// within a drawn round stay as they are: the medians of rounds scatter by what values within rounds do, too, and to
// draw them again would count that twice. Only where the medians of all rounds are the same, as of one round, are
// values drawn within rounds, as many as there are, with replacement. medians are those of c. stat maps the medians of
// a resample to estimates: med[row][k] is that of the row in the round drawn k-th, the same round for all rows; NaN
// where there are no values. Source: Davison and Hinkley (1997), Bootstrap Methods and their Application, §3.8
// (strategy 1).
//
// It returns the estimates of each replicate. stat runs on all CPUs at once. Every replicate has its own generator,
// seeded from seed and its number: results do not depend on GOMAXPROCS.
func (c cells) bootstrap(medians [][]float64, b int, seed uint64, stat func(med [][]float64) []float64) [][]float64 {
	out := make([][]float64, b)
	alike := lists.Map(medians, func(row []float64) bool {
		some := lists.Where(row, func(v float64) bool { return !math.IsNaN(v) })
		return len(some) > 0 && slices.Min(some) == slices.Max(some)
	})
	Each(b, func(i int) {
		rng := rand.New(rand.NewPCG(mix(seed), mix(mix(seed^mix(uint64(i))))))
		med := make([][]float64, len(c))
		var drawn []int
		for p, rounds := range c {
			if p == 0 { // all rows have as many rounds
				drawn = lists.Map(rounds, func([]float64) int { return rng.IntN(len(rounds)) })
			}
			if alike[p] {
				med[p] = lists.Map(drawn, func(r int) float64 { return drawMedian(rounds[r], rng) })
			} else {
				med[p] = Pick(medians[p], drawn)
			}
		}
		out[i] = stat(med)
	})
	return out
}

// mix is the SplitMix64 finaliser, which spreads neighbouring seeds over all bits. Source: Steele, Lea and Flood
// (2014), OOPSLA, 453-472.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// drawMedian returns the median of a bootstrap resample (m draws with replacement from m ascending values) without
// drawing the resample; NaN of none.
//
// A draw with replacement is sorted[⌊m·U⌋] with U uniform on (0, 1), which is monotone in U, so that the k-th order
// statistic of the resample is sorted[⌊m·V⌋] with V the k-th order statistic of m uniforms. With independent A ~
// Gamma(k), E ~ Gamma(1), C ~ Gamma(m−k) and S = A + E + C, order statistics k and k+1 are jointly A/S and (A + E)/S.
// For odd m the median is the k-th with k = (m+1)/2, where E + C may be one Gamma(k) variate; for even m it is the mean
// of both with k = m/2 = m−k. Exact, in time that does not depend on m. Source: David and Nagaraja (2003), Order
// Statistics, §2.1 and §6.4; Devroye (1986), Non-Uniform Random Variate Generation, §V.3.
func drawMedian(sorted []float64, rng *rand.Rand) float64 {
	n := len(sorted)
	if n < 2 {
		return stats.SortedQuantile(sorted, 0.5)
	}
	at := func(v float64) float64 { return sorted[min(int(v*float64(n)), n-1)] }
	gamma := distuv.Gamma{Alpha: float64((n + 1) / 2), Beta: 1, Src: rng}
	a, c := gamma.Rand(), gamma.Rand()
	if n%2 == 1 {
		return at(a / (a + c))
	}
	e := rng.ExpFloat64()
	low, high := at(a/(a+e+c)), at((a+e)/(a+e+c))
	return (low + high) / 2
}
