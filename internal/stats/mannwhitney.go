package stats

import (
	"errors"
	"math"
	"slices"

	moremath "github.com/aclements/go-moremath/stats"
)

// ErrNaN reports a test of values among which one is not a number.
var ErrNaN = errors.New("a value is not a number")

// Bounds of the exact distribution: counts above exactCounts are not whole in a float64, and exactWork bounds the steps
// of making its table.
const (
	exactCounts = 1 << 53
	exactWork   = 1 << 24
)

// MannWhitney returns the two-sided p value of the Mann-Whitney U test that a and b come from one distribution: twice the
// smaller tail, at most 1, the observed value in both. It returns ErrEmpty and ErrNaN.
//
// It is exact without ties up to 50 values a side, and otherwise, ties counted as halves, while the number of ways to
// choose the ranks of one side is below 2⁵³ and the table small (25 values a side are; 5 against 200 are). Beyond that it
// is the normal approximation with the corrections for ties and continuity.
//
// Source: Mann and Whitney, On a test of whether one of two random variables is stochastically larger than the other,
// Ann. Math. Statist. 18(1), 1947. Ties: Streitberg and Röhmel, Exact distributions for permutation and rank tests, 1986.
func MannWhitney(a, b []float64) (p float64, err error) {
	if len(a) == 0 || len(b) == 0 {
		return math.NaN(), ErrEmpty
	}
	all := slices.Concat(a, b)
	if slices.ContainsFunc(all, math.IsNaN) {
		return math.NaN(), ErrNaN
	}
	ranks, ties := doubledRanks(all)
	few := max(len(a), len(b)) <= moremath.MannWhitneyExactLimit
	if !(few && !ties) && choose(len(all), len(a)) < exactCounts {
		if p, ok := exactP(ranks, len(a)); ok {
			return p, nil
		}
	}
	r, err := moremath.MannWhitneyUTest(a, b, moremath.LocationDiffers)
	if errors.Is(err, moremath.ErrSamplesEqual) {
		return 1, nil
	}
	if err != nil {
		return math.NaN(), err
	}
	return math.Min(1, r.P), nil
}

// doubledRanks returns twice the rank of each value, the mean where values are equal, and whether any are.
func doubledRanks(x []float64) (ranks []int, ties bool) {
	sorted := slices.Sorted(slices.Values(x))
	ranks = make([]int, len(x))
	for i, v := range x {
		below, _ := slices.BinarySearch(sorted, v)
		upTo := below + 1
		for upTo < len(sorted) && sorted[upTo] == v {
			upTo++
			ties = true
		}
		ranks[i] = below + 1 + upTo
	}
	return ranks, ties
}

// exactP is the two-sided p value of the sum of the first m of the doubled ranks, from the distribution over all choices of
// m of them; ok is false where that would take too long.
func exactP(ranks []int, m int) (p float64, ok bool) {
	n, sum := len(ranks), 0
	for _, r := range ranks[:m] {
		sum += r
	}
	if 2*m > n { // the choice of the others is the same choice
		m, sum = n-m, n*(n+1)-sum
	}
	sorted := slices.Sorted(slices.Values(ranks))
	if mirrored := 2*m*(n+1) - sum; mirrored < sum { // a shorter table
		sum = mirrored
		slices.Reverse(sorted)
		for i, r := range sorted {
			sorted[i] = 2*(n+1) - r
		}
	}
	if n*m*sum > exactWork {
		return 0, false
	}
	// choices[k][s] counts the choices of k of the ranks so far whose sum is s.
	choices := make([][]float64, m+1)
	for k := range choices {
		choices[k] = make([]float64, sum+1)
	}
	choices[0][0] = 1
	for seen, r := range sorted {
		for k := min(m, seen+1); k >= 1; k-- {
			for s := r; s <= sum; s++ {
				choices[k][s] += choices[k-1][s-r]
			}
		}
	}
	below := 0.0
	for _, c := range choices[m][:sum] {
		below += c
	}
	at, total := choices[m][sum], choose(n, m)
	return math.Min(1, 2*math.Min(below+at, total-below)/total), true
}

// choose is the number of ways to choose k of n.
func choose(n, k int) float64 {
	w := 1.0
	for i := 1; i <= min(k, n-k); i++ {
		w = w * float64(n-i+1) / float64(i)
	}
	return math.Round(w)
}
