// Package stats holds the descriptive statistics calib uses, one definition each, so that a median in a report, in the
// adaptive stop and in a fit is the same number.
//
// Its opinion: timings have long tails and come in correlated rounds, so the summary of a set of timings is the median,
// its spread is the median absolute deviation, and its uncertainty is an order-statistic or bootstrap interval. Nothing
// here assumes a normal distribution.
//
// What was rejected: gonum's Quantile (its LinInterp is not type 7); the unscaled MAD of montanaflynn/stats (it is
// scaled here, and the factor stated); the median interval of golang.org/x/perf/benchmath (a normal approximation above
// 30 values, biased to the left below, and it sorts its argument in place), which is still an oracle in the tests;
// tests of each quantity alone with a correction for their number (Holm's): of six runs against six it drowns what is
// beyond doubt.
//
// No function changes its arguments. NaN among the values makes the answer NaN; infinities are values like any other.
package stats

import (
	"math"
	"slices"
	"sort"
	"sync/atomic"

	mf "github.com/montanaflynn/stats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// MADScale makes the MAD of a normal distribution equal to its standard deviation: 1/Φ⁻¹(3/4).
const MADScale = 1.482602218505602

// Quantile returns the p-quantile, 0 ≤ p ≤ 1, by Hyndman and Fan's type 7 (the default of R and NumPy): with the values
// sorted as x[0..n-1] and h = (n−1)·p, it is x[⌊h⌋] + (h−⌊h⌋)·(x[⌊h⌋+1] − x[⌊h⌋]). It returns NaN for no values and for
// a p outside [0,1].
//
// Source: Hyndman and Fan, Sample Quantiles in Statistical Packages, The American Statistician 50(4), 1996.
func Quantile(x []float64, p float64) float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	return SortedQuantile(s, p)
}

// SortedQuantile is Quantile on values that are already in ascending order, without a copy.
func SortedQuantile(s []float64, p float64) float64 {
	// slices.Sort puts NaN first.
	if len(s) == 0 || math.IsNaN(s[0]) || !(p >= 0 && p <= 1) {
		return math.NaN()
	}
	h := float64(len(s)-1) * p
	k := int(h)
	lo := s[k]
	if f := h - float64(k); f > 0 && s[k+1] != lo {
		// Weighted ends rather than lo + f·(hi−lo): the difference of two large values may overflow.
		return (1-f)*lo + f*s[k+1]
	}
	return lo
}

// Median returns the middle value, or the mean of the two middle ones; NaN for no values.
func Median(x []float64) float64 { return Quantile(x, 0.5) }

// Shift is by how much y is above x: the median of all differences, which loses little to the mean on normal values and
// withstands outliers; NaN where a side has no values. Source: Hodges and Lehmann 1963, Ann. Math. Statist. 34.
func Shift(x, y []float64) float64 {
	var d []float64
	for _, b := range y {
		for _, a := range x {
			d = append(d, b-a)
		}
	}
	return Median(d)
}

// MAD returns the median absolute deviation from the median, times 1.4826 so that it estimates the standard deviation
// of normal data; NaN for no values.
func MAD(x []float64) float64 {
	m, err := mf.MedianAbsoluteDeviation(x)
	if err != nil {
		return math.NaN()
	}
	return MADScale * m
}

// Mean returns the arithmetic mean; NaN for no values.
func Mean(x []float64) float64 { return stat.Mean(x, nil) }

// Floats converts raw nanoseconds to float64, in nanoseconds.
func Floats(ns []int64) []float64 {
	out := make([]float64, len(ns))
	for i, v := range ns {
		out[i] = float64(v)
	}
	return out
}

// Level is the confidence of every interval in calib.
const Level = 0.95

// MinValues is the smallest number of independent values for which a 95% interval of the median exists without an
// assumption: all of n lie on one side of the median with probability 2·2⁻ⁿ, which is below 5% from n = 6.
const MinValues = 6

// Interval is a confidence interval, both ends included.
type Interval struct{ Lo, Hi float64 }

// MedianCI returns the order-statistic interval of the median of independent values, from any continuous distribution.
// Values of one round share what the network did at that time and are not independent: give it the medians of rounds.
//
// With X ~ Binomial(n, 1/2) and r the largest rank with P(X < r) ≤ 2.5%, it is [x₍r₎, x₍n+1−r₎]. The binomial is exact
// for every n. ok is false for fewer than MinValues values, for which no 95% interval exists, and where a value is NaN.
//
// It is the sign test inverted; Nair published its ranks in 1940.
func MedianCI(x []float64) (iv Interval, ok bool) {
	s := slices.Clone(x)
	slices.Sort(s)
	return SortedMedianCI(s)
}

// SortedMedianCI is MedianCI on values that are already in ascending order, without a copy.
func SortedMedianCI(s []float64) (iv Interval, ok bool) {
	n := len(s)
	if n < MinValues || math.IsNaN(s[0]) {
		return Interval{}, false
	}
	r := medianRank(n)
	return Interval{Lo: s[r-1], Hi: s[n-r]}, true
}

// medianRank returns the largest 1-based rank r with P(X < r) ≤ (1−Level)/2 for X ~ Binomial(n, 1/2), n ≥ MinValues. It
// is at least 1 and at most n/2.
func medianRank(n int) int {
	if n >= len(medianRanks) {
		return searchMedianRank(n)
	}
	r := int(medianRanks[n].Load())
	if r == 0 {
		r = searchMedianRank(n)
		medianRanks[n].Store(int32(r))
	}
	return r
}

// medianRanks are those of small n that were asked for; 0 was not. A coordinator asks for few, for every key of every
// slot.
var medianRanks [1000]atomic.Int32

func searchMedianRank(n int) int {
	b := distuv.Binomial{N: float64(n), P: 0.5}
	return sort.Search(n/2, func(k int) bool { return b.CDF(float64(k)) > (1-Level)/2 })
}

// SortedQuantileCI returns the order-statistic interval of the p quantile of values in ascending order, from any
// continuous distribution, 0 < p < 1. They are worth n independent ones. With X ~ Binomial(n, p) the ends are those of
// the ranks that X leaves with at most 2.5% on each side. ok is false where n is too small for the quantile to have both
// ends: for p = 0.99 below 368, for 0.999 below 3,688. Source: David and Nagaraja 2003, Order Statistics, section 7.1.
func SortedQuantileCI(s []float64, p float64, n int) (iv Interval, ok bool) {
	if n == 0 || math.IsNaN(s[0]) {
		return Interval{}, false
	}
	b := distuv.Binomial{N: float64(n), P: p}
	lo := sort.Search(n, func(k int) bool { return b.CDF(float64(k)) > (1-Level)/2 })      // P(X < lo) ≤ 2.5%
	hi := sort.Search(n, func(k int) bool { return b.CDF(float64(k)) >= (1+Level)/2 }) + 1 // P(X ≥ hi) ≤ 2.5%
	if lo < 1 || hi > n {
		return Interval{}, false
	}
	each := float64(len(s)) / float64(n) // values to a rank
	return Interval{Lo: s[int(float64(lo-1)*each)], Hi: s[min(len(s), int(math.Ceil(float64(hi)*each)))-1]}, true
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
	if chance := (distuv.ChiSquared{K: free}).Quantile(Level) / free; scatter <= chance {
		return int(n)
	}
	return int(n / scatter)
}

// ShareCI returns Wilson's 95% interval of the probability behind hits among n independent trials, n > 0. Unlike that
// of the normal approximation it is right for shares near 0: of none it reaches from 0 to about 3.8/n. Source: Wilson
// 1927, JASA 22, 209–212.
func ShareCI(hits, n float64) Interval {
	z := distuv.UnitNormal.Quantile((1 + Level) / 2)
	p := hits / n
	mid := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	out := Interval{Lo: math.Max(0, mid-half), Hi: math.Min(1, mid+half)}
	if hits == 0 {
		out.Lo = 0
	}
	if hits == n {
		out.Hi = 1
	}
	return out
}
