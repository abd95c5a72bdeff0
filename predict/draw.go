package predict

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"calib/bench/pattern"
	"calib/fit/resample"
	"calib/internal/lists"
	"calib/internal/stats"
	"calib/params"
	"calib/predict/cost"
	"calib/predict/network"
)

// draws returns the first n of parameters drawn anew, by the seed of the run. All models see the same: each is made
// once, when it is first asked for.
func draws(p *params.Params) func(n int) []*params.Params {
	var made []*params.Params
	roots := lists.Map(p.Correlations, root)
	return func(n int) []*params.Params {
		for i := len(made); i < n; i++ {
			made = append(made, drawn(p, roots, rand.New(rand.NewPCG(p.Run.Seed, uint64(i)))))
		}
		return made[:n]
	}
}

// root returns R with R·Rᵀ the matrix of correlations of c. Eigenvalues below zero, which rounding may make, are zero.
func root(c params.Correlation) *mat.Dense {
	n := len(c.Names)
	all := mat.NewSymDense(n, nil)
	for i, row := range c.Rows {
		all.SetSym(i, i, 1)
		for j, r := range row {
			all.SetSym(i, j, r)
		}
	}
	var e mat.EigenSym
	var out mat.Dense
	if !e.Factorize(all, true) {
		panic("predict: a symmetric matrix of finite numbers has eigenvalues")
	}
	e.VectorsTo(&out)
	for j, v := range e.Values(nil) {
		for i := range n {
			out.Set(i, j, out.At(i, j)*math.Sqrt(max(v, 0)))
		}
	}
	return &out
}

// drawn returns p with every parameter and coefficient that has an interval drawn anew: normal about its value, with
// the interval's half-widths as 1.96 standard deviations on each side. What cannot be negative is not drawn below zero.
// Numbers of one entry of p.Correlations, of which roots are the roots, are drawn together, others independently.
// Source: JCGM 101 (GUM, supplement 1), propagation of distributions, section 6.4.8 (joint normal).
func drawn(p *params.Params, roots []*mat.Dense, rng *rand.Rand) *params.Params {
	out := *p
	z := map[string]float64{}
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		z[name] = rng.NormFloat64()
	}
	for name, f := range lists.ByKey(p.Functions) {
		for _, c := range slices.Sorted(maps.Keys(f.Coeff)) {
			z[name+"."+c] = rng.NormFloat64()
		}
	}
	for k, c := range p.Correlations {
		var together mat.VecDense
		own := mat.NewVecDense(len(c.Names), nil)
		for i, name := range c.Names {
			own.SetVec(i, z[name])
		}
		together.MulVec(roots[k], own)
		for i, name := range c.Names {
			z[name] = together.AtVec(i)
		}
	}
	out.Parameters = maps.Clone(p.Parameters)
	for name, q := range p.Parameters {
		if v, lo, hi, ok := q.Ends(); ok {
			v = moved(v, [2]float64{lo, hi}, z[name])
			q.Value = &v
			out.Parameters[name] = q
		}
	}
	out.Functions = maps.Clone(p.Functions)
	for name, f := range p.Functions {
		f.Coeff = maps.Clone(f.Coeff)
		for c, ci := range f.CI95 {
			if v, ok := f.Coeff[c]; ok {
				f.Coeff[c] = moved(v, ci, z[name+"."+c])
			}
		}
		out.Functions[name] = f
	}
	return &out
}

// Normal95 is the number of standard deviations on each side of a 95% interval.
const Normal95 = 1.96

// moved is v, z standard deviations of its interval up or down. A positive value stays positive.
func moved(v float64, ci [2]float64, z float64) float64 {
	half := ci[1] - v
	if z < 0 {
		half = v - ci[0]
	}
	w := v + z*max(half, 0)/Normal95
	if v > 0 && w <= 0 {
		return v / 100
	}
	return w
}

// interval is what the times of drawn parameters, widened for their number, and the model's relative error leave open
// about a time t. It is nil where the parameters have no intervals, as those of a single round.
func interval(times []float64, t, misfit float64) *[2]float64 {
	s, n := deviation(times, func(i int) float64 { return times[i] - t })
	if n < minDraws || !(t > 0) {
		return nil
	}
	if s = s / t * resample.TQuantile(n-1) / Normal95; !(s > 0) {
		return nil
	}
	rel := math.Hypot(s, misfit)
	return &[2]float64{t * math.Max(0, 1-Normal95*rel), t * (1 + Normal95*rel)}
}

// deviation is the root of the mean squared distance of the draws for which that is a number; n counts them.
func deviation(draws []float64, distance func(i int) float64) (rms, n float64) {
	sum := 0.0
	for i := range draws {
		if d := distance(i); !math.IsNaN(d) {
			sum, n = sum+d*d, n+1
		}
	}
	return math.Sqrt(sum / n), n
}

// maxMeasured bounds the sizes of measured [B].
const maxMeasured = 1 << 20

// measured are the times of messages between two hosts that the run of p measured, of 1 B to 1 MiB.
func measured(p *params.Params) []params.Residual {
	return lists.Where(p.Times(), func(r params.Residual) bool { return 1 <= r.X && r.X <= maxMeasured })
}

// misfit is the root of the mean squared relative error of m on those times; 0 where there are none. Where hosts are in
// groups, the times are of pairs within one; where they are of several kinds, of pairs of the largest.
func misfit(m cost.Model, p *params.Params) float64 {
	one, _ := pattern.Find("p2p", "direct")
	alike, groups := lists.Upto(len(p.Run.Hosts)), p.GroupsByIndex()
	if len(p.Kinds) > 0 {
		alike = p.Indices(p.Kinds[0])
	}
	if groups == nil {
		groups = [][]int{alike}
	}
	var teams [][]int
	for _, g := range groups {
		if g = lists.Where(g, func(h int) bool { return slices.Contains(alike, h) }); len(g) > 1 {
			teams = [][]int{g[:2]}
			break
		}
	}
	return network.Misfit(measured(p), func(x int) (float64, error) { return m.Time(cost.TrafficOf(one, 2, x, teams...)) })
}

// scatter is the relative standard deviation of the medians of messages between two hosts: the median over the sizes.
func scatter(p *params.Params) float64 {
	known := lists.Where(measured(p), func(r params.Residual) bool { return r.Hi > r.Lo })
	return stats.Typical(lists.Map(known,
		func(r params.Residual) float64 { return (r.Hi - r.Lo) / 2 / Normal95 / r.Measured }))
}
