package fit

import (
	"math"
	"slices"

	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/stats"
	"calib/params"
)

// The terms of uncertainty that come from the instrument and not from the scatter of repetitions (JCGM 100, type B).
// Where all that is known of an error is the largest it can be, every value up to it is equally likely, and its
// standard uncertainty is that over √3 (JCGM 100, 4.3.7).

// Uniform is the type B term of an error that lies anywhere within ± most.
func Uniform(name string, most float64, why string) params.Term {
	return params.Term{Name: name, Type: params.TypeB, U: most / math.Sqrt(3), Why: why}
}

// ClockReading returns the term of share times a duration on one clock [s]: it holds one reading of the clock, and both
// its ends are whole steps. There is none where experiment clock was not run.
func (p *Prepared) ClockReading(share float64) []params.Term {
	r, _ := Shared(p, (*Prepared).reading)
	if r == (reading{}) {
		return nil
	}
	return []params.Term{Uniform("clock reading", share*math.Hypot(r.cost, r.step),
		"time to read the clock, and its step, by experiment clock")}
}

// reading is the median cost of a reading of the clock and its median step [s], 0 where they were not measured.
type reading struct{ cost, step float64 }

func (p *Prepared) reading() (reading, error) {
	var costs, steps []float64
	for _, s := range p.Samples(names.Clock, names.PhaseCost) {
		if calls := s.Aux[names.AuxCalls]; calls >= 1 && len(s.NS) > 0 {
			costs = append(costs, stats.Median(Seconds(s.NS))/calls)
		}
	}
	for _, s := range p.Samples(names.Clock, names.PhaseStep) {
		if len(s.NS) > 0 {
			steps = append(steps, float64(slices.Min(s.NS))*1e-9)
		}
	}
	return reading{stats.Typical(costs), stats.Typical(steps)}, nil
}

// ClockOffset returns the term of share times a one-way time that was measured in one direction only: by the bound of
// the offset of its two clocks. In the mean of both directions the offset cancels, and there is no term.
func ClockOffset(share, u float64) []params.Term {
	if u == 0 {
		return nil
	}
	return []params.Term{{Name: params.TermClockOffset, Type: params.TypeB, U: share * u,
		Why: "half the smallest round trip of the clock probes; one direction only, so that it does not cancel"}}
}

// Add widens the interval of v by terms. An interval without width stays so: no scatter was seen, and its ends would be
// those of the terms alone.
func Add(v float64, ci [2]float64, terms []params.Term) [2]float64 {
	if !params.Wide(v, ci) {
		return ci
	}
	return Widen(v, ci, terms)
}

// Widen is Add for an interval of any width.
func Widen(v float64, ci [2]float64, terms []params.Term) [2]float64 {
	return resample.Widen(v, ci, halfWidth(terms))
}

// WidenDifference is Widen for a number that may be zero.
func WidenDifference(v float64, ci [2]float64, terms []params.Term) [2]float64 {
	return resample.WidenDifference(v, ci, halfWidth(terms))
}

func halfWidth(terms []params.Term) float64 {
	return resample.HalfWidth(math.Sqrt(lists.Sum(terms, func(t params.Term) float64 { return t.U * t.U })))
}
