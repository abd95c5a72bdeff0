package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/combin"
)

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
