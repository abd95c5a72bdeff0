package hyperbolic

import (
	"fmt"
	"math"

	"calib/fit/params"
	"calib/fit/pointtopoint"
	"calib/fit/regress"
	"calib/fit/resample"
)

// fixedFit is a'(n) and the line 2a + a_c·n through it.
type fixedFit struct {
	n, value  []float64
	line      regress.Line // C0 = 2a, C1 = a_c; of a single n: C0 = a'
	slopeCI   [2]float64
	condition float64
	separated bool // a'(n) is from gaps
}

// fitFixed reads a'(n) off the one-packet bursts of each n and fits a and a_c.
func (p *paired) fitFixed() (*fixedFit, error) {
	f := &fixedFit{condition: math.NaN()}
	small := map[int][]burstPoint{}
	for _, n := range p.pairs {
		f.n = append(f.n, float64(n))
		all := p.bursts[n]
		sizes, times := column(all, lastDelivery, p.times.Values)
		small[n] = all[:pointtopoint.SmallSizes(sizes, times, p.packet)]
		if all[0].bytes > p.packet {
			p.fit.Warn(params.NoSmallBurst, "n = %d: no burst fits in one packet of %g bytes", n, p.packet)
		}
	}
	limits := p.limitsOf(small, false)
	var err error
	if f.value, err = limits(p.times.Values); err != nil {
		return nil, err
	}
	if p.separated(f) {
		f.separated, limits = true, p.limitsOf(small, true)
		if f.value, err = limits(p.times.Values); err != nil {
			return nil, err
		}
	}
	reps := p.times.Apply(limits)
	if len(f.n) == 1 {
		p.single(f, reps)
	} else if err := p.separate(f, reps); err != nil {
		return nil, err
	}
	points := params.Series{Name: seriesA, Quantity: params.FixedTime, XName: "pairs"}
	for i, n := range p.pairs {
		count := 0
		for _, q := range small[n] {
			count += p.times.N[q.last]
		}
		points.Add(f.n[i], f.value[i], p.times.Interval(f.value[i], reps, i), f.line.At(f.n[i]), count)
	}
	p.fit.Series = append(p.fit.Series, points)
	return f, nil
}

// separated reports whether the deliveries of a burst come one by one, further apart than clocks and jitter blur them.
func (p *paired) separated(f *fixedFit) bool {
	if len(f.n) < 2 || f.n[0] != 1 || p.cut {
		return false
	}
	l, _, err := regress.FitLine(f.n, f.value, nil)
	return err == nil && l.C1 > separation*math.Max(p.clocks.offset, p.clocks.jitter) &&
		l.C1*(f.n[len(f.n)-1]-1) > material*f.value[0]
}

// limitsOf returns the function from values of points to a'(n), from the last deliveries or from the gaps.
func (p *paired) limitsOf(small map[int][]burstPoint, gaps bool) func(values []float64) ([]float64, error) {
	return func(values []float64) ([]float64, error) {
		out := make([]float64, len(p.pairs))
		for i, n := range p.pairs {
			from, base := lastDelivery, 0.0
			if gaps && i > 0 {
				from, base = deliveryGap, out[0]
			}
			sizes, times := column(small[n], from, values)
			v, err := regress.Intercept(sizes, times)
			if err != nil {
				return nil, fmt.Errorf("n = %d: %w", n, err)
			}
			out[i] = base + v
		}
		return out, nil
	}
}

func lastDelivery(q burstPoint) int { return q.last }
func deliveryGap(q burstPoint) int  { return q.gap }

// column returns sizes and times of points.
func column(points []burstPoint, from func(burstPoint) int, values []float64) (sizes, times []float64) {
	for _, q := range points {
		sizes = append(sizes, q.bytes)
		times = append(times, values[from(q)])
	}
	return sizes, times
}

// single records a' and the bounds it puts on a and a_c.
func (p *paired) single(f *fixedFit, reps [][]float64) {
	f.line = regress.Line{C0: f.value[0]}
	first := func(r []float64) float64 { return r[0] }
	p.fit.Found("a_prime", "s", "fixed time of a message from host to host, 2a + n·a_c", f.value[0],
		resample.IntervalOf(p.times, f.value[0], reps, first), p.messageTerms(1)...)
	const why = "one number of pairs only: a and a_c are not separable, see a_prime; more hosts would separate them"
	top := math.Max(resample.Scatter(p.times, f.value[0], reps, first)[1], 0)
	p.fit.Unknown("a", "s", labelA, 0, top/2, why)
	p.fit.Unknown("a_c", "s", labelAC, 0, top/f.n[0], why)
}

// separate fits a' = 2a + n·a_c by least squares weighted with 1/variance.
func (p *paired) separate(f *fixedFit, reps [][]float64) error {
	w := regress.Weights(f.value, reps)
	l, sol, err := regress.FitLine(f.n, f.value, w)
	if err != nil {
		return err
	}
	f.line, f.condition = l, sol.Cond()
	lines := resample.Map(reps, func(y []float64) ([]float64, error) {
		q, _, err := regress.FitLine(f.n, y, w)
		return []float64{q.C0 / 2, q.C1}, err
	})
	skew := 0.0
	if !f.separated {
		skew = resample.HalfWidth(p.clocks.offset) * math.Sqrt2 / (f.n[len(f.n)-1] - f.n[0])
	}
	a := l.C0 / 2
	p.fit.Found("a", "s", labelA, a,
		resample.Widen(a, p.times.Interval(a, lines, 0), skew/2), p.messageTerms(0.5)...)
	f.slopeCI = resample.Widen(l.C1, p.times.Interval(l.C1, lines, 1), skew)
	p.fit.Found("a_c", "s", labelAC, l.C1, f.slopeCI, p.contentionTerms()...)
	if len(f.n) == 2 {
		p.fit.Warn(params.TwoNumbersOfPairs, "two numbers of pairs only: a'(n) cannot be seen to be a line")
	}
	return nil
}
