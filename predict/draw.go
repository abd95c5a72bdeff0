package predict

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"calib/internal/params"
)

// draws returns parameters drawn anew by their number. All models see the same: the k-th is made once, when it is first
// asked for.
func draws(p *params.Params, seed uint64) func(k int) *params.Params {
	var made []*params.Params
	return func(k int) *params.Params {
		for i := len(made); i <= k; i++ {
			made = append(made, drawn(p, rand.New(rand.NewPCG(seed, uint64(i)))))
		}
		return made[k]
	}
}

// drawn returns p with every parameter and coefficient that has an interval drawn anew: normal about its value, with
// the interval's half-widths as 1.96 standard deviations on each side. What cannot be negative is not drawn below zero.
// Parameters are drawn independently: their correlations are not in params.json. Source: JCGM 101 (GUM, supplement 1),
// propagation of distributions.
func drawn(p *params.Params, rng *rand.Rand) *params.Params {
	out := *p
	out.Parameters = maps.Clone(p.Parameters)
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		q := p.Parameters[name]
		z := rng.NormFloat64()
		if v, lo, hi, ok := q.Ends(); ok {
			v = moved(v, [2]float64{lo, hi}, z)
			q.Value = &v
			out.Parameters[name] = q
		}
	}
	out.Functions = maps.Clone(p.Functions)
	for _, name := range slices.Sorted(maps.Keys(p.Functions)) {
		f := p.Functions[name]
		f.Coeff = maps.Clone(f.Coeff)
		for _, c := range slices.Sorted(maps.Keys(f.Coeff)) {
			z := rng.NormFloat64()
			if ci, ok := f.CI95[c]; ok {
				f.Coeff[c] = moved(f.Coeff[c], ci, z)
			}
		}
		out.Functions[name] = f
	}
	return &out
}

// normal95 is the number of standard deviations on each side of a 95% interval.
const normal95 = 1.96

// moved is v, z standard deviations of its interval up or down. A positive value stays positive.
func moved(v float64, ci [2]float64, z float64) float64 {
	half := ci[1] - v
	if z < 0 {
		half = v - ci[0]
	}
	w := v + z*max(half, 0)/normal95
	if v > 0 && w <= 0 {
		return v / 100
	}
	return w
}

// spread is the standard deviation that the parameters' intervals give a time t, over t, widened for the number of
// draws.
func spread(times []float64, t float64) float64 {
	times = slices.DeleteFunc(slices.Clone(times), math.IsNaN)
	if len(times) < minDraws || !(t > 0) {
		return 0
	}
	sum := 0.0
	for _, v := range times {
		sum += (v - t) * (v - t)
	}
	n := float64(len(times))
	student := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975)
	return math.Sqrt(sum/n) / t * student / normal95
}
