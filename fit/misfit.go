package fit

import (
	"fmt"
	"math"
	"math/rand/v2"

	"calib/fit/resample"
	"calib/internal/params"
)

// misfits is how often the misfit of a curve is drawn.
const misfits = 200

// OfMisfit returns, for each number that is estimated from points y by a curve of so many unknowns, the term of points
// that do not lie on the curve: the scatter of the estimates from fitted values that are off by the points' own
// residuals, with signs drawn anew (the wild bootstrap), less what the intervals ci explain by noise. There is none for
// a curve through every point, nor of a single round, of which noise is not known. Source: Wu 1986, Jackknife, bootstrap
// and other resampling methods in regression analysis, Annals of Statistics 14, 1261-1295, section 7.
func OfMisfit(y []float64, at func(i int) float64, unknowns int, estimate func(y []float64) ([]float64, error), ci ...[2]float64) [][]params.Term {
	out := make([][]params.Term, len(ci))
	free := len(y) - unknowns
	if free < 1 {
		return out
	}
	scale := math.Sqrt(float64(len(y)) / float64(free))
	t := resample.TQuantile(float64(free)) / resample.HalfWidth(1)
	rng := rand.New(rand.NewPCG(1, uint64(len(y))))
	off := make([]float64, len(y))
	sums, squares, n := make([]float64, len(ci)), make([]float64, len(ci)), 0.0
	for range misfits {
		for i, v := range y {
			off[i] = at(i) + scale*float64(2*rng.IntN(2)-1)*(v-at(i))
		}
		v, err := estimate(off)
		if err != nil {
			continue
		}
		n++
		for j := range ci {
			sums[j], squares[j] = sums[j]+v[j], squares[j]+v[j]*v[j]
		}
	}
	for j := range ci {
		u := t * math.Sqrt(max(0, squares[j]/n-sums[j]/n*sums[j]/n))
		if noise := resample.Uncertainty(ci[j]); noise > 0 && u > noise {
			out[j] = []params.Term{{Name: "misfit", Type: params.TypeB, U: math.Sqrt(u*u - noise*noise),
				Why: fmt.Sprintf("the %d points lie off the curve by more than noise", len(y))}}
		}
	}
	return out
}
