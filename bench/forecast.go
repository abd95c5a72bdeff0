package bench

import "calib/internal/units"

// Assumption is what a forecast believes of a network before it has been measured.
type Assumption struct {
	Latency units.Nanos // of one message, with the software at both ends
	Rate    float64     // of one link [B/s]
	// Slot is what a slot costs beside its messages: control, clocks, warm-up.
	Slot units.Nanos
	// Round, where it is not 0, is the time a whole round was seen to take, and replaces the three above.
	Round units.Nanos
}

// DefaultAssumption is a gigabit network of ordinary hosts.
func DefaultAssumption() Assumption {
	return Assumption{Latency: 50 * units.Microsecond, Rate: 117e6, Slot: 50 * units.Millisecond}
}

// Forecast is what a schedule would cost. Counts of a round are for one with all its points open.
type Forecast struct {
	Assumption Assumption
	MinRounds  int // before any point may stop
	MaxRounds  int // where no point stops early; the budget may end it before
	Slots      int // a round
	Points     int // a round, each on every set of teams it runs on
	Messages   int // a round, one after the other: teams at once count once
	// LinkBytes pass over the link of Busiest, the host with most to carry, in a round.
	LinkBytes units.Bytes
	Busiest   int
	Round     units.Nanos // time of a round
	Min, Max  units.Nanos // time of the whole, within the budget
	// Fit is how many whole rounds end within the budget, at most MaxRounds. Below MinRounds the budget is too short
	// for the plan; at 0 some points will not be measured at all.
	Fit int
}

// Estimate forecasts the schedule from its experiments' own bounds. It sends nothing.
func (s *Schedule) Estimate(a Assumption) Forecast {
	f := Forecast{
		Assumption: a, MinRounds: s.Plan.Rounds.Min, MaxRounds: s.Plan.Rounds.Max, Slots: s.Slots(), Points: s.Points(),
	}
	link := make([]units.Bytes, s.Limits.Hosts)
	var seconds float64
	for i := range s.groups {
		g := &s.groups[i]
		var sum Cost
		for _, p := range g.points {
			c := g.exp.Cost(s.Limits, p)
			sum.Bytes += c.Bytes
			sum.Messages += c.Messages
		}
		for _, team := range g.teams {
			for _, h := range team {
				link[h] += sum.Bytes
			}
		}
		f.Messages += sum.Messages
		seconds += a.Slot.Seconds() + float64(sum.Messages)*a.Latency.Seconds()
		if a.Rate > 0 {
			seconds += float64(sum.Bytes) / a.Rate
		}
	}
	for h, b := range link {
		if b > f.LinkBytes {
			f.LinkBytes, f.Busiest = b, h
		}
	}
	f.Round = a.Round
	if f.Round == 0 {
		f.Round = units.Nanos(seconds * float64(units.Second))
	}
	f.bound(s.Plan.Budget)
	return f
}

// bound sets what follows from the time of a round and the budget.
func (f *Forecast) bound(budget units.Nanos) {
	f.Min, f.Max, f.Fit = units.Nanos(f.MinRounds)*f.Round, units.Nanos(f.MaxRounds)*f.Round, f.MaxRounds
	if budget <= 0 {
		return
	}
	f.Min, f.Max = min(f.Min, budget), min(f.Max, budget)
	if f.Round > 0 {
		f.Fit = min(f.Fit, int(budget/f.Round))
	}
}
