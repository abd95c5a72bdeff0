package fit

import (
	"fmt"
	"math"

	"calib/internal/dataset"
	"calib/internal/lsq"
	"calib/internal/stats"
)

// Hyperbola is the service time of one message on an idle path,
//
//	T(x) = a'²/(a' + b'·x) + b'·x,  x in bytes, a' [s], b' [s/B],
//
// fitted to the half round trips of pingpong by two estimators, both reported:
//
//   - limits, the value of record (eq. 17): a_prime_limits is the time of a message of one packet extrapolated to no
//     payload, b_prime_limits the slope of the large sizes;
//   - joint: a_prime_joint and b_prime_joint minimise the relative residuals at all sizes at once (Levenberg-Marquardt).
//
// Residuals and quality are those of eq. 3 with the limits; a note gives the misfit of the joint estimate.
// Source: Stoica, Sultan, Keyes 1994, eq. 3, 16, 17.
type Hyperbola struct{}

// Name implements Model.
func (Hyperbola) Name() string { return "hyperbola" }

// Needs implements Model.
func (Hyperbola) Needs() []string { return []string{"pingpong"} }

const (
	// flatShare is by how much T may exceed its value at the smallest size for a size to count as small.
	flatShare = 0.1
	// minSmall and minLarge are the fewest sizes an intercept and a slope are taken from, where there are as many.
	minSmall, minLarge = 2, 3
	// largeSpan is the smallest ratio of the ends of the range a slope is taken from.
	largeSpan = 4
)

// Fit implements Model. It returns ErrNeeds for fewer than four sizes.
func (m Hyperbola) Fit(d *dataset.Dataset, s Settings) (*Fit, error) {
	p, err := loadPingpong(d, s, m.Name(), "Stoica, Sultan, Keyes 1994 eq. 3, 17", 4)
	if err != nil {
		return nil, err
	}
	small := smallSizes(p.sizes, p.times.values, p.packet)
	large := largeSizes(p.sizes, p.times.values)
	limits := func(y []float64) ([]float64, error) {
		a, err := intercept(p.sizes[:small], y[:small])
		if err != nil {
			return nil, err
		}
		l, _, err := fitLine(p.sizes[large:], y[large:], nil)
		return []float64{a, l.c1}, err
	}
	l, err := limits(p.times.values)
	if err != nil {
		return nil, fmt.Errorf("model %s, limits: %w", m.Name(), err)
	}
	reps := p.times.apply(limits)
	p.fit.found("a_prime_limits", "s", "fixed time of a message, limit of small sizes", l[0], p.times.interval(l[0], reps, 0))
	p.fit.found("b_prime_limits", "s/B", "time per byte, limit of large sizes", l[1], p.times.interval(l[1], reps, 1))
	p.fit.note("a' is the intercept of %g to %g bytes, b' the slope of %g to %g bytes",
		p.sizes[0], p.sizes[small-1], p.sizes[large], p.sizes[len(p.sizes)-1])
	if p.sizes[small-1] > p.packet {
		p.fit.warn("no size fits in one packet of %g bytes: a' is that of the smallest sizes", p.packet)
	}
	p.residuals(func(x float64) float64 { return T(x, l[0], l[1]) })
	condition, err := p.joint(l)
	if err != nil {
		p.fit.warn("joint estimate: %v", err)
	}
	return p.finish(condition, func(x, y []float64) (func(float64) float64, error) {
		a, err := intercept(x[:smallSizes(x, y, p.packet)], y)
		if err != nil {
			return nil, err
		}
		r, _, err := fitLine(x[largeSizes(x, y):], y[largeSizes(x, y):], nil)
		return func(x float64) float64 { return T(x, a, r.c1) }, err
	}), nil
}

// joint records the estimate from all sizes at once and returns its condition number.
func (p *pingpong) joint(limits []float64) (float64, error) {
	sol, err := jointHyperbola(p.sizes, p.times.values, limits)
	if err != nil {
		return math.NaN(), err
	}
	j := sol.Coef
	reps := p.times.apply(func(y []float64) ([]float64, error) {
		r, err := jointHyperbola(p.sizes, y, j)
		if err != nil {
			return nil, err
		}
		return r.Coef, nil
	})
	p.fit.found("a_prime_joint", "s", "fixed time of a message, all sizes at once", j[0], p.times.interval(j[0], reps, 0))
	p.fit.found("b_prime_joint", "s/B", "time per byte, all sizes at once", j[1], p.times.interval(j[1], reps, 1))
	errs := make([]float64, len(p.sizes))
	worst := 0
	for i, x := range p.sizes {
		errs[i] = math.Abs(T(x, j[0], j[1])/p.times.values[i] - 1)
		if errs[i] > errs[worst] {
			worst = i
		}
	}
	p.fit.note("the joint estimate misses T by %.1f%% on average and by %.1f%% at most, at %g bytes",
		100*stats.Mean(errs), 100*errs[worst], p.sizes[worst])
	return sol.Cond, nil
}

// smallSizes returns how many of the smallest sizes a' is taken from: those within one packet whose T is within flatShare
// of that of the smallest, never fewer than two within one packet, and one in any case. Eq. 1 is a line up to one packet
// and eq. 3 is flat at its start, so that a line through these sizes meets both at x → 0.
func smallSizes(sizes, times []float64, packet float64) int {
	n := 1
	for n < len(sizes) && sizes[n] <= packet && (n < minSmall || times[n] <= (1+flatShare)*times[0]) {
		n++
	}
	return n
}

// largeSizes returns the index of the smallest size b' is taken from: the last segment of a segmented fit, where it holds
// at least three sizes over a factor of four; otherwise the largest decade, or what gives three sizes.
func largeSizes(sizes, times []float64) int {
	n := len(sizes)
	if w, err := lsq.RelativeWeights(times); err == nil {
		if seg, err := lsq.Segmented(sizes, times, w, lsq.SegmentOptions{AllowFlat: true}); err == nil {
			last := seg.Segments[len(seg.Segments)-1]
			if last.Distinct >= minLarge && last.Hi >= largeSpan*last.Lo && !last.Flat {
				return n - last.Distinct
			}
		}
	}
	k := n - 1
	for k > 0 && (sizes[k-1] >= sizes[n-1]/10 || n-k < minLarge) {
		k--
	}
	return k
}

// intercept extrapolates times to size 0 by a line on relative residuals; a single size is its own limit.
func intercept(sizes, times []float64) (float64, error) {
	if len(sizes) == 1 {
		return times[0], nil
	}
	l, _, err := fitLine(sizes, times[:len(sizes)], nil)
	return l.c0, err
}

// jointHyperbola fits eq. 3 to relative residuals from a start.
func jointHyperbola(x, y, start []float64) (*lsq.NLSolution, error) {
	w, err := lsq.RelativeWeights(y)
	if err != nil {
		return nil, err
	}
	return lsq.NonLinear(lsq.Problem{
		Y: y, Start: start, Weights: w,
		Predict: func(p, out []float64) error {
			for i, v := range x {
				out[i] = T(v, p[0], p[1])
			}
			return nil
		},
		Jac: func(p []float64, jac [][]float64) error {
			for i, v := range x {
				a, s := p[0], p[0]+p[1]*v
				jac[i][0] = a * (a + 2*p[1]*v) / (s * s)
				jac[i][1] = v - a*a*v/(s*s)
			}
			return nil
		},
	})
}
