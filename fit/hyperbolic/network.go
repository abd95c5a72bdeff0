// Package hyperbolic holds the models of one message on an idle path: Hockney's line, the hyperbola, straight lines
// over ranges of the size, and tails. They are fitted to one table of pingpong's half round trips by size. It also
// holds the model of a network, which the paper builds on the hyperbola of one message: how the time of n disjoint
// pairs that send at once grows with n separates the hosts' communication blocks from the network's.
package hyperbolic

import (
	"fmt"
	"math"

	"calib/fit"
	"calib/internal/dataset/names"
	"calib/internal/lsq"
	"calib/params"
)

// Network separates the hosts' communication blocks (a, b) from the network's (a_c, b_c) by how the time of n disjoint
// pairs that send at once grows with n,
//
//	T(x, n) = a'²/(a' + b'·x) + b'·x,  a'(n) = 2a + n·a_c,  b'(n) = max(b, n·b_c),
//
// x in bytes, a and a_c in s, b and b_c in s/B. a'(n) is the time of the last delivery of n one-packet messages
// extrapolated to no payload, b'(n) the time per byte of n streams. Parameters: a, a_c, b, b_c; a_prime and b_prime
// where there is only n = 1. What the data cannot determine is unidentifiable, with a bound and the reason:
//
//   - b_c, where b' does not grow with n (decide);
//   - b, where b' = n·b_c already at the smallest n: the medium is the bottleneck there;
//   - a and a_c, where only one n was measured.
//
// Senders never start quite together: a clock offset is known to some microseconds, and a sender wakes late. A message
// that starts late waits less. Its own time is then too short by its delay, and so is the last of the n. How the
// deliveries come (orderOf) says what a'(n) is taken from (limitsOf):
//   - separated: a'(1) plus the gap between the first and the last delivery. That is (n−1)·a_c whichever sender started
//     first, in repetitions whose senders started within half of the gap;
//   - in turn: the last delivery;
//   - late together, as where a fabric holds every packet longer for each active host (hku2000): the mean delivery;
//   - hidden by noise: halfway between the last two, with an interval that holds both (termsOfSlope).
//
// Intervals are those of a bootstrap over rounds (package resample), and the terms. The error of an offset cancels in
// the mean delivery between the directions of a round. What does not cancel is new in every slot, and part of the
// differences between rounds.
//
// No coefficient is clamped: a negative a_c is reported as such. Source: Stoica, Sultan, Keyes 1994, eq. 16 and 17.
var Network = fit.Model{Name: "hyperbolic-network", Needs: []string{names.Paired}, Fit: fitNetwork, Draw: networkPlots}

const (
	labelA  = "fixed time of a message in a host"
	labelAC = "contention of the network per message"
	labelB  = "time per byte of a host"
	labelBC = "time per byte of the network"

	// Deliveries count as separated if a_c exceeds what blurs a delivery's time, and what sets the starts apart, by
	// this factor.
	separation = 2
	// Messages are late together if the last is later than the mean by less than this share of what the mean grows.
	togetherShare = 0.75
)

// fitNetwork returns fit.ErrNeeds with neither bursts nor streams.
func fitNetwork(prepared *fit.Prepared) (*params.Fit, error) {
	p, err := load(prepared)
	if err != nil {
		return nil, err
	}
	p.addUplinks()
	if len(p.bursts) == 0 {
		p.fitMedium()
		p.fit.Note("streams-only", "streams only: there is nothing to take a and a_c from")
		p.fit.Judge(math.NaN(), math.NaN(), p.fit.Named(seriesB))
		return p.fit.Fit, nil
	}
	fixed, err := p.fitFixed()
	if err != nil {
		return nil, fmt.Errorf("model hyperbolic-network, a'(n): %w", err)
	}
	medium := p.fitMedium()
	p.fit.Together([]string{"a", "a_c", "b", "b_c"}, fixed.lines, medium.rows)
	p.fit.Note("delay-in-a", "a includes half of the delay of the network. Experiments load and overhead measure it")
	p.withhold(fixed, medium)
	p.character(fixed, medium)
	p.misfit(fixed, medium)
	a, b := p.fit.Named(seriesA), p.fit.Named(seriesB)
	p.fit.Judge(fit.R2(2, a), fixed.line.Cond, a, b)
	p.fit.LeaveOneOut(lsq.LeaveOneOut(fixed.n, fixed.a.Values, lsq.RelativeLine))
	return p.fit.Fit, nil
}

const (
	seriesA = "a'(n)"
	seriesB = "b'(n)"
)

// misfit notes how far eq. 16 with the fitted parameters is from the bursts of every size, and records their points.
func (p *paired) misfit(f *fixedFit, m *mediumFit) {
	var bursts []params.Series
	lo, hi := math.Inf(1), 0.0
	for _, n := range p.pairs {
		b := m.at(float64(n))
		s := params.Series{Name: fmt.Sprintf("T(x,%d)", n), Quantity: params.BurstTime,
			Factors: map[string]float64{"pairs": float64(n)}, XName: "bytes"}
		for _, q := range p.bursts[n] {
			lo, hi = math.Min(lo, q.bytes), math.Max(hi, q.bytes)
			if fit.Finite(b) {
				s.Add(q.bytes, p.times.Values[q.last], p.times.Point(q.last),
					params.ServiceTime(q.bytes, f.line.At(float64(n)), b), p.times.N[q.last])
			}
		}
		if len(s.Points) > 0 {
			bursts = append(bursts, s)
		}
	}
	p.fit.Series = append(p.fit.Series, bursts...)
	p.fit.Domain["bytes"] = [2]float64{lo, hi}
	if mean, worst, n := params.Misfit(bursts...); n > 0 {
		p.fit.Add(params.Notef("eq16-misfit", "eq. 16 with these parameters is off the measured bursts by %.1f%% on average "+
			"and by %.1f%% at most", 100*mean, 100*worst).With("mean", mean).With("worst", worst))
	}
}
