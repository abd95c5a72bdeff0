package fit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// fixedFit is a'(n) and the line 2a + a_c·n through it.
type fixedFit struct {
	n, value  []float64
	line      line // c0 = 2a, c1 = a_c; of a single n: c0 = a'
	slopeCI   [2]float64
	condition float64
	separated bool // a'(n) is from gaps
}

// fitFixed reads a'(n) off the one-packet bursts of each n and fits a and a_c.
func (p *pairedData) fitFixed() (*fixedFit, error) {
	f := &fixedFit{condition: math.NaN()}
	small := map[int][]burstPoint{}
	for _, n := range p.pairs {
		f.n = append(f.n, float64(n))
		all := p.bursts[n]
		sizes, times := column(all, lastDelivery, p.times.values)
		small[n] = all[:smallSizes(sizes, times, p.packet)]
		if all[0].bytes > p.packet {
			p.fit.warn("n = %d: no burst fits in one packet of %g bytes", n, p.packet)
		}
	}
	limits := p.limitsOf(small, false)
	var err error
	if f.value, err = limits(p.times.values); err != nil {
		return nil, err
	}
	if p.separated(f) {
		f.separated, limits = true, p.limitsOf(small, true)
		if f.value, err = limits(p.times.values); err != nil {
			return nil, err
		}
	}
	reps := p.times.apply(limits)
	if len(f.n) == 1 {
		p.single(f, reps)
	} else if err := p.separate(f, reps); err != nil {
		return nil, err
	}
	for i, n := range p.pairs {
		count := 0
		for _, q := range small[n] {
			count += p.times.n[q.last]
		}
		ci := p.times.interval(f.value[i], reps, i)
		p.fit.Residuals = append(p.fit.Residuals, Residual{Series: seriesA, X: f.n[i], XName: "pairs",
			Measured: f.value[i], Lo: ci[0], Hi: ci[1], Fitted: f.line.at(f.n[i]), N: count})
	}
	return f, nil
}

// separated reports whether the deliveries of a burst come one by one, further apart than clocks and jitter blur them.
func (p *pairedData) separated(f *fixedFit) bool {
	if len(f.n) < 2 || f.n[0] != 1 || p.cut {
		return false
	}
	l, _, err := fitLine(f.n, f.value, nil)
	return err == nil && l.c1 > separation*math.Max(p.clocks.offset, p.clocks.jitter) &&
		l.c1*(f.n[len(f.n)-1]-1) > material*f.value[0]
}

// limitsOf returns the function from values of points to a'(n), from the last deliveries or from the gaps.
func (p *pairedData) limitsOf(small map[int][]burstPoint, gaps bool) func(values []float64) ([]float64, error) {
	return func(values []float64) ([]float64, error) {
		out := make([]float64, len(p.pairs))
		for i, n := range p.pairs {
			from, base := lastDelivery, 0.0
			if gaps && i > 0 {
				from, base = deliveryGap, out[0]
			}
			sizes, times := column(small[n], from, values)
			v, err := intercept(sizes, times)
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
func (p *pairedData) single(f *fixedFit, reps [][]float64) {
	f.line = line{c0: f.value[0]}
	ci := widen(f.value[0], p.times.interval(f.value[0], reps, 0), halfWidth(p.clocks.bound))
	p.fit.found("a_prime", "s", "fixed time of a message from host to host, 2a + n·a_c", f.value[0], ci)
	const why = "one number of pairs only: a and a_c are not separable, see a_prime; more hosts would separate them"
	top := math.Max(ci[1], 0)
	p.fit.unknown("a", "s", labelA, 0, top/2, why)
	p.fit.unknown("a_c", "s", labelAC, 0, top/f.n[0], why)
}

// separate fits a' = 2a + n·a_c by least squares weighted with 1/variance.
func (p *pairedData) separate(f *fixedFit, reps [][]float64) error {
	w := weights(f.value, reps)
	l, sol, err := fitLine(f.n, f.value, w)
	if err != nil {
		return err
	}
	f.line, f.condition = l, sol.Cond
	var lines [][]float64
	for _, r := range reps {
		if q, _, err := fitLine(f.n, r, w); err == nil {
			lines = append(lines, []float64{q.c0 / 2, q.c1})
		}
	}
	skew := 0.0
	if !f.separated {
		skew = halfWidth(p.clocks.offset) * math.Sqrt2 / (f.n[len(f.n)-1] - f.n[0])
	}
	a := l.c0 / 2
	p.fit.found("a", "s", labelA, a,
		widen(a, p.times.interval(a, lines, 0), math.Hypot(halfWidth(p.clocks.bound)/2, skew/2)))
	f.slopeCI = widen(l.c1, p.times.interval(l.c1, lines, 1), skew)
	p.fit.found("a_c", "s", labelAC, l.c1, f.slopeCI)
	if len(f.n) == 2 {
		p.fit.warn("two numbers of pairs only: a'(n) cannot be seen to be a line")
	}
	return nil
}

// halfWidth is the 95% half-width of a standard uncertainty.
func halfWidth(u float64) float64 { return distuv.UnitNormal.Quantile(0.975) * u }

// widen adds a half-width in quadrature to both sides of an interval about v.
func widen(v float64, ci [2]float64, half float64) [2]float64 {
	return [2]float64{v - math.Hypot(v-ci[0], half), v + math.Hypot(ci[1]-v, half)}
}

// weights returns 1/variance of each value. A variance from a handful of rounds is itself uncertain by half, and weights
// that follow its noise are worse than equal ones: the relative variance of each value is averaged with the mean of all.
// Exact data weigh by 1/value².
func weights(values []float64, reps [][]float64) []float64 {
	rel := make([]float64, len(values))
	mean := 0.0
	for i, v := range values {
		for _, r := range reps {
			d := (r[i] - v) / v
			rel[i] += d * d / float64(len(reps))
		}
		mean += rel[i] / float64(len(values))
	}
	w := make([]float64, len(values))
	for i, v := range values {
		share := 1.0
		if mean > 0 {
			share = (rel[i] + mean) / (2 * mean)
		}
		w[i] = 1 / (v * v * share)
	}
	return w
}
