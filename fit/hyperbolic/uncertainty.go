package hyperbolic

import (
	"slices"

	"calib/fit"
	"calib/internal/params"
)

// messageTerms are the type B terms of share times the time of a message from host to host: 1 for a', ½ for a.
func (p *paired) messageTerms(share float64) []params.Term {
	return slices.Concat(p.fit.Prepared.OneMessage(share), fit.ClockOffset(share, p.clocks.bound))
}

// contentionTerms are those of a_c, which is a difference of deliveries.
func (p *paired) contentionTerms() []params.Term { return p.fit.Prepared.Interval(1) }
