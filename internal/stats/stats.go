// Package stats holds the descriptive statistics calib uses, one definition each, so that a median in a report, in the
// adaptive stop and in a fit is the same number.
//
// Its opinion: timings have long tails and come in correlated rounds, so the summary of a set of timings is the median,
// its spread is the median absolute deviation, and its uncertainty is an order-statistic or bootstrap interval. Nothing
// here assumes a normal distribution.
//
// What was rejected: gonum's Quantile (its LinInterp is not type 7); tests of each quantity alone with a correction for
// their number (Holm's): of six runs against six it drowns what is beyond doubt. gonum's stat and distuv are not imported:
// agents, which need medians only, would link matrices with them.
//
// No function changes its arguments. NaN among the values makes the answer NaN; infinities are values like any other.
package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
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
	m, off := Median(x), make([]float64, len(x))
	for i, v := range x {
		off[i] = math.Abs(v - m)
	}
	return MADScale * Median(off)
}

// Mean returns the arithmetic mean; NaN for no values.
func Mean(x []float64) float64 { return floats.Sum(x) / float64(len(x)) }

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
