package fit

import (
	"fmt"
	"math"
	"math/rand/v2"

	"calib/fit/resample"
	"calib/internal/lists"
	"calib/internal/lsq"
	"calib/params"
)

// Uncertain makes numbers of a curve c through the points of est, and of the same curve in each replicate: their
// values, rows by replicate, 95% intervals, and the terms of the curve's misfit (OfMisfit).
func Uncertain[C any](est *resample.Estimates, c C, replicates []C, numbers func(C) []float64,
	at func(i int) float64, unknowns int, estimate func(y []float64) (C, error)) (
	v []float64, rows [][]float64, ci [][2]float64, misfit [][]params.Term) {
	v, rows = numbers(c), lists.Map(replicates, numbers)
	for j := range v {
		ci = append(ci, est.Interval(v[j], rows, j))
	}
	return v, rows, ci, OfMisfit(est.Values, at, unknowns, func(y []float64) ([]float64, error) {
		c, err := estimate(y)
		return numbers(c), err
	}, ci...)
}

// misfits is how often the misfit of a curve is drawn.
const misfits = 200

// OfMisfit returns a term of uncertainty for each number of a curve, of so many unknowns, that misses its points y. The
// points' residuals get new signs and are added to the fitted values, and the numbers are estimated from that, again
// and again (the wild bootstrap). The term is the scatter of these estimates, less the noise that the intervals ci hold
// already. A curve through every point has no term. A single round has none either: its noise is not known. Source: Wu
// 1986, Jackknife, bootstrap and other resampling methods in regression analysis, Annals of Statistics 14, 1261-1295,
// section 7.
func OfMisfit(y []float64, at func(i int) float64, unknowns int, estimate func(y []float64) ([]float64, error),
	ci ...[2]float64) [][]params.Term {
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
				Why: fmt.Sprintf("the curve is off its %d points by more than noise", len(y))}}
		}
	}
	return out
}

// LineMisfit is OfMisfit for both numbers of the line of a segment through points, or of its constant. So many more
// unknowns than these were estimated from the points. There is none where no line goes through them.
func LineMisfit(g lsq.Segment, x, y []float64, more int, c0, c1 [2]float64) (ofC0, ofC1 []params.Term) {
	l, err := g.Refit(x, y)
	if err != nil {
		return nil, nil
	}
	if more += 2; g.Flat {
		more--
	}
	of := OfMisfit(y, func(i int) float64 { return l.At(x[i]) }, more, func(y []float64) ([]float64, error) {
		l, err := g.Refit(x, y)
		return []float64{l.C0, l.C1}, err
	}, c0, c1)
	return of[0], of[1]
}
