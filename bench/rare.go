package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/internal/units"
)

const (
	// rarest is in one of how many rounds a point is measured at least.
	rarest = 3
	// leastMeasured is in how many of the least rounds it is: of one round nothing is known but a value.
	leastMeasured = 2
	// lengthy is the share of an experiment's time in a round from which a point may be measured in fewer rounds.
	lengthy = 0.1
)

// rarer has the point that takes most time of a round measured in fewer of the rounds. What takes long, such as a stream on a slow network,
// varies less from round to round than what is short.
func (d *draft) rarer(most units.Nanos) bool {
	longest := -1
	for i, p := range d.points {
		if p.every < d.rarest && float64(p.perRound()) > lengthy*float64(most) &&
			(longest < 0 || p.perRound() > d.points[longest].perRound()) {
			longest = i
		}
	}
	if longest < 0 {
		return false
	}
	d.points[longest].every++
	d.sayRare()
	return true
}

// sayRare notes how many points only some rounds measure.
func (d *draft) sayRare() {
	in := map[int]int{} // points by the rounds of which one measures them
	for _, p := range d.points {
		in[p.every]++
	}
	var parts []string
	for every := rarest; every > 1; every-- {
		if n := in[every]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s in one of %d rounds", units.Plural(n, "point"), every))
		}
	}
	d.say("rounds", strings.Join(parts, ", "))
}

// due reports whether round r measures the group, rounds being the least ones.
func (g *group) due(r, rounds int) bool { return r >= rounds || r%g.every == g.phase }

// balance spreads the groups that are not measured in every round over the least rounds, so that these take about the same time: each
// group, those that take longest first, begins where the fullest of its rounds is emptiest.
func (s *Schedule) balance() {
	var rare []*group
	for i := range s.groups {
		if g := &s.groups[i]; g.every > 1 {
			rare = append(rare, g)
		}
	}
	slices.SortStableFunc(rare, func(a, b *group) int { return cmp.Compare(b.expected(), a.expected()) })
	taken := make([]units.Nanos, s.Rounds)
	for _, g := range rare {
		least := units.Nanos(math.MaxInt64)
		for phase := range g.every {
			fullest := units.Nanos(0)
			for r := phase; r < s.Rounds; r += g.every {
				fullest = max(fullest, taken[r])
			}
			if fullest < least {
				least, g.phase = fullest, phase
			}
		}
		for r := g.phase; r < s.Rounds; r += g.every {
			taken[r] += g.expected()
		}
	}
}

// Planned is how many slots the least rounds have.
func (s *Schedule) Planned() int {
	n := 0
	for r := range s.Rounds {
		for i := range s.groups {
			if s.groups[i].due(r, s.Rounds) {
				n++
			}
		}
	}
	return n
}
