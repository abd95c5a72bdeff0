package bench

import (
	"slices"

	"calib/internal/units"
)

// Assumption is what a forecast believes of a network before it has been measured.
type Assumption struct {
	Latency units.Nanos // of one message, with the software at both ends
	Rate    float64     // of one link [B/s]
	// Slot is what a slot costs beside its messages: control, clocks, warm-up.
	Slot units.Nanos
}

// DefaultAssumption is a gigabit network of ordinary hosts.
func DefaultAssumption() Assumption {
	return Assumption{Latency: 50 * units.Microsecond, Rate: 117e6, Slot: 50 * units.Millisecond}
}

// Forecast is what a schedule would cost. Counts of a round are for one with all its points open.
type Forecast struct {
	MinRounds int // before any point may stop
	MaxRounds int // where no point stops early; the budget may end it before
	Slots     int // a round
	Points    int // a round, each on every set of teams it runs on
	// LinkBytes pass over the link of the host with most to carry, in a round.
	LinkBytes units.Bytes
	Round     units.Nanos // time of a round; of teams at once it counts one
	Min, Max  units.Nanos // time of the whole, within the budget
}

// Estimate forecasts the schedule from its experiments' own bounds. It sends nothing.
func (s *Schedule) Estimate(a Assumption) Forecast {
	link := make([]units.Bytes, s.Limits.Hosts)
	var seconds float64
	for i := range s.groups {
		g := &s.groups[i]
		var sum Cost
		for _, p := range g.points {
			sum = sum.Add(g.exp.Cost(s.Limits, p))
		}
		for _, team := range g.teams {
			for _, h := range team {
				link[h] += sum.Bytes
			}
		}
		seconds += a.Slot.Seconds() + float64(sum.Messages)*a.Latency.Seconds()
		seconds += float64(sum.Bytes) / a.Rate
	}
	round := units.Nanos(seconds * float64(units.Second))
	f := Forecast{
		MinRounds: s.Plan.Rounds.Min, MaxRounds: s.Plan.Rounds.Max, Slots: s.Slots(), Points: s.Points(),
		LinkBytes: slices.Max(link), Round: round,
		Min: units.Nanos(s.Plan.Rounds.Min) * round, Max: units.Nanos(s.Plan.Rounds.Max) * round,
	}
	if b := s.Plan.Budget; b > 0 {
		f.Min, f.Max = min(f.Min, b), min(f.Max, b)
	}
	return f
}
