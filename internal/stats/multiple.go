package stats

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/combin"
)

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
	seen := make([]float64, len(rows))
	first := make([]int, n-m)
	for j := range first {
		first[j] = m + j
	}
	for i, row := range cut {
		seen[i] = contrast(row, first)
	}
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
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
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

// Fisher is the one-sided p value of Fisher's exact test: the chance that at most k of n have a property, where k of n
// and j of m have it, and both are drawn from one population.
//
// Source: Fisher, The Logic of Inductive Inference, J. Roy. Statist. Soc. 98(1), 1935.
func Fisher(k, n, j, m int) float64 {
	p, all := 0.0, k+j
	for i := max(0, all-m); i <= k; i++ {
		p += math.Exp(combin.LogGeneralizedBinomial(float64(n), float64(i)) + combin.LogGeneralizedBinomial(float64(m), float64(all-i)) -
			combin.LogGeneralizedBinomial(float64(n+m), float64(all)))
	}
	return min(1, p)
}

// choose is the number of ways to choose k of n.
func choose(n, k int) float64 { return math.Round(combin.GeneralizedBinomial(float64(n), float64(k))) }
