package fit

import (
	"fmt"
	"math"

	"calib/internal/dataset"
	"calib/internal/stats"
)

// Network separates the hosts' communication blocks (a, b) from the network's (a_c, b_c) by how the time of n disjoint
// pairs that send at once grows with n,
//
//	T(x, n) = a'²/(a' + b'·x) + b'·x,  a'(n) = 2a + n·a_c,  b'(n) = max(b, n·b_c),
//
// x in bytes, a and a_c in s, b and b_c in s/B. a'(n) is the time of the last delivery of n one-packet messages
// extrapolated to no payload, b'(n) the time per byte of n streams. Parameters: a, a_c, b, b_c; a_prime and b_prime where
// there is only n = 1. What the data cannot determine is unidentifiable, with a bound and the reason:
//
//   - b_c, where b' does not grow with n (decide);
//   - b, where b' = n·b_c already at the smallest n: the medium is the bottleneck there;
//   - a and a_c, where only one n was measured.
//
// Starts are never quite together: a clock offset is known to some microseconds, and a sender wakes late. A message that
// starts late waits less, so that its own time, and the last of the n, comes out short by what the starts differ. Where the
// deliveries are separated (separation), a'(n) is therefore a'(1) plus the gap between the first and the last delivery,
// (n−1)·a_c whoever started first; where they are not, it is the last delivery, and the interval is widened instead.
//
// Intervals are those of a bootstrap over rounds, then timings (table.resample, sampled.interval), with two half-widths
// [s] added in quadrature: 1.96·√2·u/(n_max − n_min) for a_c and half of that for a, u the spread of a clock offset, where
// a'(n) is the last delivery; and 1.96·v/2 for a, v the standard uncertainty that the dataset states for a one-way time
// after both directions are averaged. Otherwise the error of an offset cancels between the directions of a round, and what
// does not is drawn anew in every slot, so that it is part of the differences between rounds.
//
// No coefficient is clamped: a negative a_c is reported as such. Source: Stoica, Sultan, Keyes 1994, eq. 16 and 17.
type Network struct{}

// Name implements Model.
func (Network) Name() string { return "hyperbolic-network" }

// Needs implements Model.
func (Network) Needs() []string { return []string{"paired"} }

const (
	labelA  = "fixed time of a message in a host"
	labelAC = "contention of the network per message"
	labelB  = "time per byte of a host"
	labelBC = "time per byte of the network"

	// material is the share of b', or of a', below which a growth with n is none for a user, significant or not.
	material = 0.02
	// separation is by how many times what blurs a delivery a_c must exceed it for deliveries to count as separated.
	separation = 2
)

// Fit implements Model. Of streams alone it gives the time per byte. It returns ErrNeeds with neither bursts nor streams.
func (m Network) Fit(d *dataset.Dataset, s Settings) (*Fit, error) {
	p, err := loadPaired(d, s, m.Name(), "Stoica, Sultan, Keyes 1994 eq. 16, 17")
	if err != nil {
		return nil, err
	}
	if len(p.bursts) == 0 {
		return p.streamsOnly()
	}
	fixed, err := p.fitFixed()
	if err != nil {
		return nil, fmt.Errorf("model %s, a'(n): %w", m.Name(), err)
	}
	medium, err := p.fitMedium()
	if err != nil {
		return nil, fmt.Errorf("model %s, b'(n): %w", m.Name(), err)
	}
	p.fit.note("a also holds half of the delay L until load separates it")
	p.character(fixed, medium)
	p.misfit(fixed, medium)
	p.fit.judge(r2(p.fit.Residuals, seriesA), fixed.condition, seriesA, seriesB)
	if e, ok := leaveOneOut(fixed.n, fixed.value, func(x, y []float64) (func(float64) float64, error) {
		l, _, err := fitLine(x, y, nil)
		return l.at, err
	}); ok {
		p.fit.Quality.LeaveOneOut = &e
	}
	return p.fit, nil
}

// streamsOnly fits what streams tell without bursts: b'(n).
func (p *pairedData) streamsOnly() (*Fit, error) {
	if _, err := p.fitMedium(); err != nil {
		return nil, fmt.Errorf("model %s, b'(n): %w", p.fit.Model, err)
	}
	p.fit.note("streams only: there is nothing to take a and a_c from")
	p.fit.judge(math.NaN(), math.NaN(), seriesB)
	return p.fit, nil
}

// Series of residuals.
const (
	seriesA = "a'(n)"
	seriesB = "b'(n)"
)

// character says whether the network behaves like a switch or like a shared medium.
func (p *pairedData) character(f *fixedFit, m *mediumFit) {
	if len(f.n) < 2 {
		p.fit.note("one pair only: whether the network behaves like a switch or like a shared medium cannot be seen")
		return
	}
	span := f.n[len(f.n)-1] - f.n[0]
	free := f.slopeCI[0] <= 0 || f.line.c1*span < material*f.line.at(f.n[0])
	switch {
	case f.slopeCI[1] < 0 && -f.line.c1*span >= material*f.line.at(f.n[0]):
		p.fit.warn("a_c is negative: more pairs make the last delivery earlier, which the model cannot hold")
	case free && !m.rises():
		p.fit.note("behaves like a switch: T does not depend on n; the port's cost sits in a")
	case free:
		p.fit.note("behaves like a switch for messages of one packet (a_c is zero or negligible), but streams share " +
			"capacity: b' rises with n")
	case m.rises():
		p.fit.note("behaves like a shared medium")
	default:
		p.fit.note("behaves like a shared medium for messages of one packet; streams did not reach its limit")
	}
}

// misfit notes how far eq. 16 with the fitted parameters is from the bursts of every size, and records their residuals.
func (p *pairedData) misfit(f *fixedFit, m *mediumFit) {
	var errs []float64
	lo, hi := math.Inf(1), 0.0
	for _, n := range p.pairs {
		b := m.at(float64(n))
		for _, q := range p.bursts[n] {
			lo, hi = math.Min(lo, q.bytes), math.Max(hi, q.bytes)
			if !finite(b) {
				continue
			}
			y := p.times.values[q.last]
			r := Residual{Series: fmt.Sprintf("T(x,%d)", n), X: q.bytes, XName: "bytes", Measured: y,
				Fitted: T(q.bytes, f.line.at(float64(n)), b), N: p.times.n[q.last]}
			ci := p.times.interval(y, p.times.replicates, q.last)
			r.Lo, r.Hi = ci[0], ci[1]
			p.fit.Residuals = append(p.fit.Residuals, r)
			errs = append(errs, math.Abs(r.Relative()))
		}
	}
	p.fit.Domain["bytes"] = [2]float64{lo, hi}
	if len(errs) > 0 {
		p.fit.note("eq. 16 with these parameters misses the bursts by %.1f%% on average and by %.1f%% at most",
			100*stats.Mean(errs), 100*stats.Quantile(errs, 1))
	}
}
