package stats

import (
	"math"
	"slices"
	"sort"
	"sync/atomic"

	"gonum.org/v1/gonum/stat/distuv"
)

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

// SortedQuantileCI returns the order-statistic interval of the p quantile of independent values in ascending order,
// from any continuous distribution, 0 < p < 1. With X ~ Binomial(n, p) the ends are those of the ranks that X leaves
// with at most 2.5% on each side. ok is false where n is too small for the quantile to have both ends: for p = 0.99
// below 368, for 0.999 below 3,688. Source: David and Nagaraja 2003, Order Statistics, section 7.1.
func SortedQuantileCI(s []float64, p float64) (iv Interval, ok bool) {
	n := len(s)
	if n == 0 || math.IsNaN(s[0]) {
		return Interval{}, false
	}
	b := distuv.Binomial{N: float64(n), P: p}
	lo := sort.Search(n, func(k int) bool { return b.CDF(float64(k)) > (1-Level)/2 })      // P(X < lo) ≤ 2.5%
	hi := sort.Search(n, func(k int) bool { return b.CDF(float64(k)) >= (1+Level)/2 }) + 1 // P(X ≥ hi) ≤ 2.5%
	if lo < 1 || hi > n {
		return Interval{}, false
	}
	return Interval{Lo: s[lo-1], Hi: s[hi-1]}, true
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
