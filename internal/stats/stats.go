// Package stats holds the descriptive statistics calib uses, one definition each, so that a median in a report, in the
// adaptive stop and in a fit is the same number.
//
// Its opinion: timings have long tails and come in correlated rounds, so the summary of a set of timings is the median,
// its spread is the median absolute deviation, and its uncertainty is an order-statistic or bootstrap interval. Nothing
// here assumes a normal distribution.
//
// What was rejected: gonum's Quantile (its LinInterp is not type 7); tests of each quantity alone with a correction for
// their number (Holm's): of six runs against six it drowns what is beyond doubt. gonum's stat and distuv are not
// imported: agents, which need medians only, would link matrices with them.
//
// No function changes its arguments. NaN among the values makes the answer NaN; infinities are values like any other.
package stats

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/combin"

	"calib/internal/lists"
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

// Typical is the median, 0 of none.
func Typical(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	return Median(x)
}

// Shift is by how much y is above x: the median of all differences, which loses little to the mean on normal values and
// withstands outliers; NaN where a side has no values. Source: Hodges and Lehmann 1963, Ann. Math. Statist. 34.
func Shift(x, y []float64) float64 {
	return Median(lists.Flat(y, func(b float64) []float64 {
		return lists.Map(x, func(a float64) float64 { return b - a })
	}))
}

// MAD returns the median absolute deviation from the median, times 1.4826 so that it estimates the standard deviation
// of normal data; NaN for no values.
func MAD(x []float64) float64 {
	m := Median(x)
	return MADScale * Median(lists.Map(x, func(v float64) float64 { return math.Abs(v - m) }))
}

// Mean returns the arithmetic mean; NaN for no values.
func Mean(x []float64) float64 { return floats.Sum(x) / float64(len(x)) }

// Floats converts raw nanoseconds to float64, in nanoseconds.
func Floats(ns []int64) []float64 { return lists.Map(ns, func(v int64) float64 { return float64(v) }) }

// Level is the confidence of every interval in calib.
const Level = 0.95

// SmallestP is the smallest p value of a two-sided test by ranks or permutations of m values against n: 2/C(m+n, m). It
// is 1 where a side has none.
func SmallestP(m, n int) float64 {
	if m < 1 || n < 1 {
		return 1
	}
	return math.Min(1, 2/choose(m+n, m))
}

// MaxNeeded bounds the answers of NeededEach and NeededMore.
const MaxNeeded = 1000

// NeededMore returns the fewest values n that must stand against m so that a test can reach alpha, and ok false where
// MaxNeeded are not enough.
func NeededMore(m int, alpha float64) (n int, ok bool) {
	for n = 1; n <= MaxNeeded; n++ {
		if SmallestP(m, n) <= alpha {
			return n, true
		}
	}
	return 0, false
}

// NeededEach returns the fewest values a side, at least m and n of them, so that a test can reach alpha: the smaller
// side grows first. At 5% it is 4 against 4.
func NeededEach(m, n int, alpha float64) (int, int) {
	m, n = max(m, 1), max(n, 1)
	for m+n < 2*MaxNeeded && SmallestP(m, n) > alpha {
		if m < n {
			m++
		} else {
			n++
		}
	}
	return m, n
}

// maxSplits is how many splits MaxT draws at random where it cannot go through all of them.
const maxSplits = 1999

// MaxT tests many quantities at once, each measured in the same runs, the first m of which are on one side: rows[i][j]
// is quantity i in run j. It returns the p value of each, adjusted for all of them: the share of the splits of the runs
// into two sides in which any quantity differs by as much as that one does. This accounts for what quantities have in
// common, so that a few runs are enough to test thousands of links; the chance of any false rejection at α is α. The
// difference is that of the means, of values cut at three robust standard deviations from the median, over their
// standard deviation or, where that is larger, a quarter of the median one. With few runs all splits are gone through;
// where there are more than 1,999, that many are drawn, seeded. Rows must be of one length without NaN.
//
// Source: Westfall and Young, Resampling-Based Multiple Testing, Wiley 1993 (single-step maxT).
func MaxT(rows [][]float64, m int, seed uint64) []float64 {
	if len(rows) == 0 {
		return nil
	}
	n := len(rows[0])
	if m < 1 || m >= n {
		return slices.Repeat([]float64{1}, len(rows))
	}
	cut := clipped(rows)
	first := lists.Upto(n)[m:]
	seen := lists.Map(cut, func(row []float64) float64 { return contrast(row, first) })
	maxima := make([]float64, 0, maxSplits)
	for split := range splits(n, n-m, seed) {
		most := 0.0
		for _, row := range cut {
			most = math.Max(most, contrast(row, split))
		}
		maxima = append(maxima, most)
	}
	slices.Sort(maxima)
	out := make([]float64, len(rows))
	for i, s := range seen {
		// The observed split is one of them; the tolerance keeps its own rounding from hiding it.
		k, _ := slices.BinarySearch(maxima, s*(1-1e-9))
		out[i] = float64(len(maxima)-k) / float64(len(maxima))
	}
	return out
}

// contrast is |Σ of the chosen|, of rows whose sum is 0: proportional to the difference of the two means.
func contrast(row []float64, chosen []int) float64 {
	sum := 0.0
	for _, j := range chosen {
		sum += row[j]
	}
	return math.Abs(sum)
}

// clipped cuts the tails of each row, centres it and scales it to its standard deviation.
func clipped(rows [][]float64) [][]float64 {
	const reach = 3
	out := make([][]float64, len(rows))
	spreads := make([]float64, len(rows))
	for i, row := range rows {
		m, s := Median(row), MAD(row)
		c := slices.Clone(row)
		if s > 0 {
			for j := range c {
				c[j] = math.Max(m-reach*s, math.Min(m+reach*s, c[j]))
			}
		}
		mean, ss := Mean(c), 0.0
		for j := range c {
			c[j] -= mean
			ss += c[j] * c[j]
		}
		out[i], spreads[i] = c, math.Sqrt(ss/float64(len(c)))
	}
	// A row that happens to be quiet must not outweigh the rest.
	least := Median(spreads) / 4
	for i, c := range out {
		if s := math.Max(spreads[i], least); s > 0 {
			for j := range c {
				c[j] /= s
			}
		}
	}
	return out
}

// splits yields choices of k of n: all of them, or maxSplits of them, of which the first is the last k and the others
// are drawn at random. The choice must not be kept.
func splits(n, k int, seed uint64) func(func([]int) bool) {
	return func(yield func([]int) bool) {
		chosen := make([]int, k)
		if choose(n, k) <= maxSplits {
			for all := combin.NewCombinationGenerator(n, k); all.Next() && yield(all.Combination(chosen)); {
			}
			return
		}
		order := lists.Upto(n)
		copy(chosen, order[n-k:])
		rng := rand.New(rand.NewPCG(seed, 0x6465616c))
		for i := 0; i < maxSplits && yield(chosen); i++ {
			for j := range k {
				o := j + rng.IntN(n-j)
				order[j], order[o] = order[o], order[j]
			}
			copy(chosen, order[:k])
		}
	}
}

func choose(n, k int) float64 { return math.Round(combin.GeneralizedBinomial(float64(n), float64(k))) }
