package stats

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// ErrNaN reports a test of values among which one is not a number.
var ErrNaN = errors.New("a value is not a number")

// Bounds of the exact distribution: counts above exactCounts are not whole in a float64, and exactWork bounds the table of
// a distribution with ties.
const (
	exactCounts = 1 << 53
	exactWork   = 4_000_000
)

// MannWhitney returns the two-sided p value of the Mann-Whitney U test that a and b come from one distribution: twice the
// smaller tail, at most 1, the observed value in both. It is exact, ties counted as halves, while the number of ways to
// deal the values is below 2⁵³ and, with ties, the table small (25 values a side are; 5 against 200 are); beyond that it
// is the normal approximation with the corrections for ties and continuity. It returns ErrEmpty and ErrNaN.
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
	ranks, ties := midranks(all)
	m, n := len(a), len(b)
	sum := 0 // of twice the ranks of a
	for _, r := range ranks[:m] {
		sum += r
	}
	if m > n { // the distribution is that of the smaller side
		m, n = n, m
		sum = (m+n)*(m+n+1) - sum
	}
	switch {
	case ways(m+n, m) >= exactCounts:
		return normalTails(m, n, sum, ties), nil
	case len(ties) == 0:
		return tails(untied(m, n), (sum-m*(m+1))/2), nil
	case (m+n)*m*sum > exactWork:
		return normalTails(m, n, sum, ties), nil
	}
	return tails(tied(ranks, m), sum), nil
}

// midranks returns twice the rank of each value, the mean where values are equal, and the sizes of groups of equals.
func midranks(x []float64) (ranks []int, ties []int) {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case x[i] < x[j]:
			return -1
		case x[i] > x[j]:
			return 1
		}
		return 0
	})
	ranks = make([]int, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			ranks[order[k]] = i + 1 + j
		}
		if j-i > 1 {
			ties = append(ties, j-i)
		}
		i = j
	}
	return ranks, ties
}

// ways is the number of ways to choose k of n.
func ways(n, k int) float64 {
	w := 1.0
	for i := 1; i <= min(k, n-k); i++ {
		w = w * float64(n-i+1) / float64(i)
	}
	return math.Round(w)
}

// untied counts, for every U, the ways of dealing m and n distinct values that give it: the coefficients of the Gaussian
// binomial ∏ (1−q^(n+i))/(1−q^i), i = 1..m.
func untied(m, n int) []float64 {
	c := make([]float64, m*n+1)
	c[0] = 1
	for i := 1; i <= m; i++ {
		for u := len(c) - 1; u >= n+i; u-- {
			c[u] -= c[u-n-i]
		}
		for u := i; u < len(c); u++ {
			c[u] += c[u-i]
		}
	}
	return c
}

// tied counts, for every sum, the choices of m of the ranks that give it.
func tied(ranks []int, m int) []float64 {
	sorted := slices.Clone(ranks)
	slices.Sort(sorted)
	most := 0
	for _, r := range sorted[len(sorted)-m:] {
		most += r
	}
	c := make([][]float64, m+1) // of k ranks
	for k := range c {
		c[k] = make([]float64, most+1)
	}
	c[0][0] = 1
	for seen, r := range sorted {
		for k := min(m, seen+1); k >= 1; k-- {
			for s := r; s <= most; s++ {
				c[k][s] += c[k-1][s-r]
			}
		}
	}
	return c[m]
}

// tails is the two-sided p value of the outcome at index s of a distribution given as counts.
func tails(counts []float64, s int) float64 {
	var total, below, above float64
	for i, c := range counts {
		total += c
		if i <= s {
			below += c
		}
		if i >= s {
			above += c
		}
	}
	return math.Min(1, 2*math.Min(below, above)/total)
}

// normalTails is the approximation; sum is of twice the ranks of the side of m.
func normalTails(m, n, sum int, ties []int) float64 {
	fm, fn := float64(m), float64(n)
	u := float64(sum)/2 - fm*(fm+1)/2
	all := fm + fn
	t := 0.0
	for _, k := range ties {
		f := float64(k)
		t += f*f*f - f
	}
	sd := math.Sqrt(fm * fn / 12 * (all + 1 - t/(all*(all-1))))
	if sd == 0 {
		return 1 // all values are equal
	}
	z := math.Max(0, math.Abs(u-fm*fn/2)-0.5) / sd
	return math.Min(1, 2*distuv.UnitNormal.Survival(z))
}
