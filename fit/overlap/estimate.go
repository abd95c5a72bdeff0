package overlap

import (
	"errors"
	"math"
)

var errFew = errors.New("want the times of steps at two granularities at least, and the penalty")

// estimate fits f and ω of Fixed to times of steps over that of the transfer at ascending granularities, with the
// penalty as it was measured, by least squares of relative residuals. f is sought within 0 and 1, between which it is
// by definition.
//
// The model is two straight lines that meet at the peak: where communication takes longer the times tell f, beyond it
// ω. So every division of the points into those below and those above the peak is tried, each part is fitted by itself,
// and the division whose model misses all points least is taken. above counts the points that told ω, below those that
// told f. It returns errFew for fewer than two points.
func estimate(gamma, times []float64, penalty float64) (x Fixed, below, above int, err error) {
	if len(gamma) < 2 || len(times) != len(gamma) || !(penalty > 0) {
		return Fixed{}, 0, 0, errFew
	}
	least := math.Inf(1)
	for k := range len(gamma) + 1 {
		y := Fixed{F: fraction(gamma[:k], times[:k], penalty), Penalty: penalty, Overhead: overhead(gamma[k:], times[k:])}
		if miss := missed(y, gamma, times); miss < least {
			least, x, below, above = miss, y, k, len(gamma)-k
		}
	}
	return x, below, above, nil
}

// fraction is f of times = P + (1−f)γ; 1 without a point.
func fraction(gamma, times []float64, penalty float64) float64 {
	var up, down float64
	for i, g := range gamma {
		w := 1 / (times[i] * times[i])
		up += w * g * (times[i] - penalty)
		down += w * g * g
	}
	if down == 0 {
		return 1
	}
	return 1 - math.Min(1, math.Max(0, up/down))
}

// overhead is ω of times = γ + ω; without a point there is none to be seen.
func overhead(gamma, times []float64) float64 {
	var up, down float64
	for i, g := range gamma {
		w := 1 / (times[i] * times[i])
		up += w * (times[i] - g)
		down += w
	}
	if down == 0 {
		return 0
	}
	return up / down
}

// missed is the sum of the squares of relative residuals.
func missed(x Fixed, gamma, times []float64) float64 {
	out := 0.0
	for i, g := range gamma {
		e := (times[i] - x.Time(g)) / times[i]
		out += e * e
	}
	return out
}
