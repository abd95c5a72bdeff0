package hyperbolic

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/lists"
	"calib/internal/lsq"
	"calib/params"
)

// mediumFit is b'(n) = max(b, n·b_c). b or b_c is NaN where it is not identifiable.
type mediumFit struct {
	n       []float64
	perByte *resample.Estimates // b' at each n
	rows    [][]float64         // b and b_c by replicate
	b, bc   float64
	growth  effect // of b' from the smallest n to the largest; NaN with one n
}

// rises reports whether b' was seen to grow with n.
func (m *mediumFit) rises() bool { return fit.Finite(m.bc) && len(m.n) > 1 }

// at returns b'(n) as fitted, NaN where nothing is known of it.
func (m *mediumFit) at(n float64) float64 {
	switch {
	case fit.Finite(m.b) && fit.Finite(m.bc):
		return math.Max(m.b, n*m.bc)
	case fit.Finite(m.bc):
		return n * m.bc
	}
	return m.b // flat, or unknown
}

func (p *paired) fitMedium() *mediumFit {
	m := &mediumFit{b: math.NaN(), bc: math.NaN(), growth: effect{growth: math.NaN()}}
	if len(p.stream) == 0 {
		const why = "no streams were measured"
		p.fit.Unknown("b", "s/B", labelB, 0, math.Inf(1), why)
		p.fit.Unknown("b_c", "s/B", labelBC, 0, math.Inf(1), why)
		return m
	}
	var points []int
	for _, n := range slices.Sorted(maps.Keys(p.stream)) {
		m.n, points = append(m.n, float64(n)), append(points, p.stream[n])
	}
	m.perByte = p.times.Select(points)
	p.decide(m)
	p.streamFacts()
	return m
}

// decide identifies b and b_c. Two tests at the 95% level, each also asking for a material difference (2%):
//
//   - growth: b'(n_max)/b'(n_min) − 1 above zero. If not, all n are flat: b = b'(n_min), and b_c is bounded by
//     b'(n_max)/n_max, because a growth that is not significant may be there;
//   - plateau: b/(n_min·b_c) − 1 above zero, with b and b_c of the best break. If not, all n rise: b_c = b'/n, and b is
//     bounded by b'(n_min).
func (p *paired) decide(m *mediumFit) {
	k := len(m.n) - 1
	w := lsq.Weights(m.perByte.Values, m.perByte.Replicates)
	growth := func(v []float64) float64 { return v[k]/v[0] - 1 }
	g := growth(m.perByte.Values)
	ci := resample.Scatter(m.perByte, g, m.perByte.Replicates, growth)
	if k > 0 {
		m.growth = effect{g, ci[0], ci[1], m.perByte.Values[0], "s/B"}
	}
	switch {
	case k == 0:
		p.onePair(m)
	case g > params.Material && ci[0] > 0:
		p.rising(m, w)
	default:
		if g < -params.Material && ci[1] < 0 {
			p.fit.Warn("falling-time-per-byte", "b' falls by %.0f%% from n = %g to n = %g: "+
				"a single stream did not fill its path (see b_connections_2)", -100*g, m.n[0], m.n[k])
		}
		p.flat(m)
	}
	p.fit.AddSeries(params.Series{Name: seriesB, Quantity: params.TimePerByte, XName: "pairs", Unit: "s/B"}, m.n,
		m.perByte, m.at)
}

func (p *paired) onePair(m *mediumFit) {
	v := m.perByte.Values[0]
	p.fit.Found("b_prime", "s/B", "time per byte from host to host, max(b, n·b_c)", v, m.perByte.Point(0),
		p.streamTerms(v)...)
	const why = "one number of pairs only: b_prime is the larger of b and n·b_c, and which of them cannot be told; " +
		"more hosts would tell"
	top := m.perByte.PointScatter(0)[1]
	p.fit.Unknown("b", "s/B", labelB, 0, top, why)
	p.fit.Unknown("b_c", "s/B", labelBC, 0, top/m.n[0], why)
	m.b = v
}

// flat records b of data in which b' does not grow: that of one pair (eq. 17), since a growth may be hidden.
func (p *paired) flat(m *mediumFit) {
	k := len(m.n) - 1
	last := m.n[k]
	m.b = m.perByte.Values[0]
	m.rows = lists.Map(m.perByte.Replicates, func(r []float64) []float64 { return []float64{r[0], math.NaN()} })
	p.fit.Found("b", "s/B", labelB, m.b, m.perByte.Point(0), p.streamTerms(m.b)...)
	p.fit.Unknown("b_c", "s/B", labelBC, 0, m.perByte.PointScatter(k)[1]/last, fmt.Sprintf(
		"b' does not grow up to n = %g: the streams do not fill the network. b_c is at most b'(%g)/%g", last, last, last))
}

// rising records b_c, and b where the smallest n still shows it.
func (p *paired) rising(m *mediumFit, w []float64) {
	best := bestBreak(m.n, m.perByte.Values, w)
	both := lists.Map(m.perByte.Replicates, func(r []float64) []float64 {
		s := bestBreak(m.n, r, w)
		return []float64{s.b, s.bc, s.b/(m.n[0]*s.bc) - 1}
	})
	plateau := best.b/(m.n[0]*best.bc) - 1
	third := func(v []float64) float64 { return v[2] }
	if ci := resample.Scatter(p.times, plateau, both, third); plateau > params.Material && ci[0] > 0 {
		m.b, m.bc = best.b, best.bc
		p.fit.Found("b", "s/B", labelB, m.b, p.times.Interval(m.b, both, 0), p.streamTerms(m.b)...)
		p.fit.Found("b_c", "s/B", labelBC, m.bc, p.times.Interval(m.bc, both, 1), p.streamTerms(m.bc)...)
		p.fit.Together([]string{"b", "b_c"}, both)
		m.rows = both
		if !best.consistent {
			p.fit.Warn("inconsistent-break", "b'(n) does not follow max(b, n·b_c), flat first and then "+
				"in proportion to n: use the points of b'(n)")
		}
		return
	}
	bc, ci := m.perByte.Of(func(v []float64) float64 { return lsq.Proportional(m.n, v, w) })
	m.bc = bc
	m.rows = lists.Map(m.perByte.Replicates,
		func(r []float64) []float64 { return []float64{math.NaN(), lsq.Proportional(m.n, r, w)} })
	p.fit.Found("b_c", "s/B", labelBC, bc, ci, p.streamTerms(bc)...)
	p.fit.Unknown("b", "s/B", labelB, 0, m.perByte.PointScatter(0)[1],
		fmt.Sprintf("b ≤ b_c: the medium is the bottleneck at n=%g", m.n[0]))
}

// breakFit is b'(n) that is flat for the first values of n and rises for the others.
type breakFit struct {
	b, bc      float64
	sse        float64
	consistent bool // b ≥ n·b_c where flat, b ≤ n·b_c where rising
}

// bestBreak tries every break that leaves at least one n on each side, and takes the consistent one of the smallest
// weighted sum of squares; the smallest of all where none is consistent. It needs two values of n, ascending.
func bestBreak(n, v, w []float64) breakFit {
	var best breakFit
	for k := 1; k < len(n); k++ {
		f := breakFit{b: lsq.WeightedMean(v[:k], w[:k]), bc: lsq.Proportional(n[k:], v[k:], w[k:])}
		f.consistent = f.b >= n[k-1]*f.bc && f.b <= n[k]*f.bc
		for i := range n {
			fitted := f.b
			if i >= k {
				fitted = n[i] * f.bc
			}
			f.sse += w[i] * (v[i] - fitted) * (v[i] - fitted)
		}
		if k == 1 || f.consistent && !best.consistent || f.consistent == best.consistent && f.sse < best.sse {
			best = f
		}
	}
	return best
}
