package resample

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"

	"calib/internal/stats"
)

// SortedQuantileCI returns the order-statistic interval of the p quantile of values in ascending order, from any
// continuous distribution, 0 < p < 1. They are worth n independent ones. With X ~ Binomial(n, p) the ends are those of
// the ranks that X leaves with at most 2.5% on each side. ok is false where n is too small for both ends to exist:
// for p = 0.99 below 368, for 0.999 below 3,688. Source: David and Nagaraja 2003, Order Statistics, section 7.1.
//
// Values of one round share what the network did at that time and are not independent: for a median, give it those of
// rounds, of which it takes 6. What was rejected: the interval of golang.org/x/perf/benchmath (a normal approximation
// above 30 values, biased to the left below), which is still an oracle in the tests.
func SortedQuantileCI(s []float64, p float64, n int) (ci [2]float64, ok bool) {
	if n == 0 || math.IsNaN(s[0]) {
		return ci, false
	}
	b := distuv.Binomial{N: float64(n), P: p}
	lo := sort.Search(n, func(k int) bool { return b.CDF(float64(k)) > (1-stats.Level)/2 })      // P(X < lo) ≤ 2.5%
	hi := sort.Search(n, func(k int) bool { return b.CDF(float64(k)) >= (1+stats.Level)/2 }) + 1 // P(X ≥ hi) ≤ 2.5%
	if lo < 1 || hi > n {
		return ci, false
	}
	each := float64(len(s)) / float64(n) // values to a rank
	return [2]float64{s[int(float64(lo-1)*each)], s[min(len(s), int(math.Ceil(float64(hi)*each)))-1]}, true
}

// WorthOf is how many independent values groups are worth for the share of those above v: as many as there are, over
// what the shares of groups scatter more than those of independent values would (the design effect: Kish 1965, Survey
// Sampling, section 8.2), where chance does that in fewer than 1 of 20 cases. Fewer than two groups say nothing of it.
func WorthOf(groups [][]float64, v float64) int {
	n, above := 0.0, make([]float64, len(groups))
	share := 0.0
	for i, g := range groups {
		for _, x := range g {
			if x > v {
				above[i]++
			}
		}
		n += float64(len(g))
		share += above[i]
	}
	share /= n
	if len(groups) < 2 || share == 0 {
		return int(n)
	}
	sum := 0.0
	for i, g := range groups {
		d := above[i] - share*float64(len(g))
		sum += d * d
	}
	free := float64(len(groups) - 1)
	scatter := (free + 1) / free * sum / (n * share * (1 - share))
	if chance := (distuv.ChiSquared{K: free}).Quantile(stats.Level) / free; scatter <= chance {
		return int(n)
	}
	return int(n / scatter)
}

// Share is that of hits among so many independent trials, 0 of none, with Wilson's 95% interval of the probability
// behind it. Unlike that of the normal approximation it is right for shares near 0: of no hit it reaches from 0 to
// about 3.8/n. Source: Wilson 1927, JASA 22, 209–212.
func Share(hits, of int64) (p float64, ci [2]float64) {
	z, n := distuv.UnitNormal.Quantile((1+stats.Level)/2), float64(max(1, of))
	p = float64(hits) / n
	mid := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	ci = [2]float64{math.Max(0, mid-half), math.Min(1, mid+half)}
	if p == 0 {
		ci[0] = 0
	}
	if p == 1 {
		ci[1] = 1
	}
	return p, ci
}
