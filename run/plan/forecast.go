package plan

import (
	"slices"

	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Forecast is what a schedule is expected to cost on the path of its limits. What a round has is an average.
type Forecast struct {
	// LinkBytes pass over the link of the host with most to carry, in a round.
	LinkBytes units.Bytes
	Round     units.Nanos // time of one of the least rounds, on average; of teams at once it counts one
	Min, Max  units.Nanos // time of the whole, within the budget
	// Burst is the largest burst that is sent to one host to overflow its port; 0 where there is none.
	Burst units.Bytes
	ByExp []ExpForecast
}

// ExpForecast is one experiment's part of a round.
type ExpForecast struct {
	Name          string
	Slots         float64 // on average
	Points, Whole int     // Whole are those without a budget
	LinkBytes     units.Bytes
	Round         units.Nanos
}

// Estimate forecasts the schedule from its experiments' own costs. It sends nothing.
func (s *Schedule) Estimate() (f Forecast) {
	all := make([]units.Bytes, s.Limits.Hosts)
	var own []units.Bytes // of the experiment
	var points map[string]bool
	for i := range s.groups {
		g := &s.groups[i]
		if n := len(f.ByExp); n == 0 || f.ByExp[n-1].Name != g.exp.Name {
			f.ByExp = append(f.ByExp, ExpForecast{Name: g.exp.Name, Whole: s.allPoints[g.exp.Name]})
			own, points = make([]units.Bytes, s.Limits.Hosts), map[string]bool{}
		}
		l := s.Limits
		l.Effort = g.effort
		var bytes units.Bytes
		for _, p := range g.points {
			points[p.Key()] = true
			bytes += g.exp.Cost(l, p).Bytes / units.Bytes(g.every)
			f.Burst = max(f.Burst, units.Bytes(p[names.FactorPackets]*p[names.FactorBytes]))
		}
		for _, h := range slices.Concat(g.teams...) {
			all[h] += bytes
			own[h] += bytes
		}
		e := &f.ByExp[len(f.ByExp)-1]
		e.Slots += 1 / float64(g.every)
		e.Points = len(points)
		e.LinkBytes = slices.Max(own)
		perRound := g.expected / units.Nanos(g.every)
		e.Round += perRound
		f.Round += perRound
	}
	f.LinkBytes = slices.Max(all)
	f.Min, f.Max = units.Nanos(s.Rounds)*f.Round, units.Nanos(s.MaxRounds())*f.Round
	if b := s.Plan.Budget; b > 0 {
		f.Min, f.Max = min(f.Min, b), min(f.Max, b)
	}
	return f
}
