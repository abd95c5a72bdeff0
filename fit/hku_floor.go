package fit

import (
	"math"

	"calib/internal/lsq"
)

// minFlat is the fewest sizes a floor, and the line above it, must be seen at; minFloored the fewest in all.
const (
	minFlat    = 2
	minFloored = 5
)

// floorCost fits max(floor, c0 + c1·m) exactly. The sum of squares has a minimum for every way to part the sizes into a
// flat part below and a line above, and, where the line would meet the floor on the wrong side of a size, one with the
// corner on a size x_i, y = c0 + c1·max(m, x_i). All are tried; the smallest that is what it says is taken.
func floorCost(x, y, w []float64) (Cost, error) {
	w, err := relative(y, w)
	if err != nil {
		return Cost{}, err
	}
	best, least := Cost{}, math.Inf(1)
	try := func(c Cost, err error) {
		if err != nil || c.C1 <= 0 {
			return
		}
		if sse := sumOfSquares(x, y, w, c.At); sse < least {
			best, least = c, sse
		}
	}
	for k := minFlat - 1; k+minFlat <= len(x); k++ {
		try(cornerCost(x, y, w, x[k]))
		if k < minFlat {
			continue
		}
		if c, err := lineCost(x[k:], y[k:], w[k:]); err == nil {
			c.Floor = weightedMean(y[:k], w[:k])
			if corner := (c.Floor - c.C0) / c.C1; corner >= x[k-1]*(1-1e-9) && corner <= x[k]*(1+1e-9) {
				try(c, nil)
			}
		}
	}
	if math.IsInf(least, 1) {
		return Cost{}, lsq.ErrInadmissible
	}
	return best, nil
}

// cornerCost fits a floor that ends at the size corner.
func cornerCost(x, y, w []float64, corner float64) (Cost, error) {
	bent := make([]float64, len(x))
	for i, v := range x {
		bent[i] = math.Max(v, corner)
	}
	c, err := lineCost(bent, y, w)
	c.Floor = c.At(corner)
	return c, err
}

// fitFloor returns the floor and line of a cost with those of each replicate, and whether the data show the floor: it must
// be better than the line by BIC clearly, lie above the line at the smallest size by a material share, and do so in the 95%
// interval.
func fitFloor(d *costData, w []float64) (c Cost, replicates []Cost, shows bool) {
	n := len(d.sizes)
	if n < minFloored {
		return c, nil, false
	}
	c, err := floorCost(d.sizes, d.values, w)
	if err != nil {
		return c, nil, false
	}
	l, err := lineCost(d.sizes, d.values, w)
	if err != nil {
		return c, nil, false
	}
	gain := bic(sumOfSquares(d.sizes, d.values, w, l.At), n, 2) - bic(sumOfSquares(d.sizes, d.values, w, c.At), n, 3)
	depth := func(c Cost) float64 { return 1 - (c.C0+c.C1*d.sizes[0])/c.Floor }
	if gain < clearly || depth(c) < material {
		return c, nil, false
	}
	replicates = d.refit(floorCost, w)
	var depths [][]float64
	for _, r := range replicates {
		depths = append(depths, []float64{depth(r)})
	}
	return c, replicates, d.from.interval(depth(c), depths, 0)[0] > 0
}
