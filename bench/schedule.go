package bench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"calib/internal/units"
)

// ErrNothing reports a schedule without a single point.
var ErrNothing = errors.New("nothing to measure")

// Schedule is the order in which a plan is measured. Every round measures every point that is still open, once; but where the budget is
// short, only some of the least rounds measure a point that takes long. Each round has an order of its own: slots are shuffled within the
// round and points within their slot, by a generator seeded with the plan's seed and the round. The same plan on as many hosts gives the
// same schedule, and a slot's number does not depend on which points were still open, so that a run that was cut off can go on where it
// stood.
//
// Experiments say which places of a layout form teams. With Plan.Permute other hosts take the places in every round
// (Places), except where the teams hold every host or every pair of hosts anyway.
type Schedule struct {
	Plan   Plan
	Limits Limits // as given to the experiments
	// Idle are the experiments that have no point within the limits.
	Idle []string
	// Rounds is how many rounds the budget has room for at least; Plan.Rounds.Min where nothing is known of that.
	Rounds int
	// Left is what the budget has no room for.
	Left   []LeftOut
	groups []group
	last   []int // hosts that take the last places
}

// group is a set of teams that run at once, and the points they measure: one slot of every round.
type group struct {
	exp      Experiment
	effort   Effort
	teams    [][]int // places of the layout
	points   []Point
	costs    []units.Nanos // expected, of the points
	sum      units.Nanos   // of costs
	slot     units.Nanos   // expected, beside the points
	permuted bool          // other hosts take the places in every round
	every    int           // of the least rounds, one in so many measures it, the first one is round phase
	phase    int
}

// expected is how long a slot of the group takes, all points open.
func (g *group) expected() units.Nanos { return g.slot + g.sum }

// hosts returns the teams of g as hosts; places are those of the round.
func (g *group) hosts(places []int) [][]int {
	if !g.permuted {
		return g.teams
	}
	out := make([][]int, len(g.teams))
	for i, team := range g.teams {
		out[i] = make([]int, len(team))
		for k, p := range team {
			out[i][k] = places[p]
		}
	}
	return out
}

// TeamPoint is a point on one of the teams that measure it. Where hosts are permuted, the point is that of the team's places,
// and Team are the hosts that take them in one round.
type TeamPoint struct {
	Exp   string
	Team  []int
	Point Point
	at    place
}

// place is where a schedule has a TeamPoint: its group, and which of that group's teams and points it is.
type place struct{ group, team, point int32 }

// NewSchedule lays the plan's experiments out over hosts. Points of one experiment that a step's teams have in common
// share a slot; with Isolate every team has a slot of its own. Where the plan has a budget, and the path is known, the experiments
// are made thinner until the least rounds fit. It returns errors of Plan.Validate, ErrNothing, or what is wrong with an
// experiment's teams.
func NewSchedule(p Plan, hosts int, exps []Experiment) (*Schedule, error) {
	if err := p.Validate(exps); err != nil {
		return nil, err
	}
	if hosts < 1 {
		return nil, fmt.Errorf("%w: no hosts", ErrNothing)
	}
	s := &Schedule{Plan: p, Limits: p.Limits, Rounds: p.Rounds.Min}
	s.Limits.Hosts, s.Limits.Seed = hosts, p.Seed
	var drafts []*draft
	for _, e := range p.choose(exps) {
		d, err := newDraft(e, p, s.Limits)
		if err != nil {
			return nil, err
		}
		if len(d.points) == 0 {
			s.Idle = append(s.Idle, e.Name())
			continue
		}
		drafts = append(drafts, d)
	}
	drafts, err := s.fit(drafts)
	if err != nil {
		return nil, err
	}
	for _, d := range drafts {
		s.groups = append(s.groups, d.groups()...)
	}
	if len(s.groups) == 0 {
		return nil, fmt.Errorf("%w on %d host(s) within the plan's limits: add hosts, sizes or experiments (have %v)",
			ErrNothing, hosts, s.Idle)
	}
	s.balance()
	return s, nil
}

// teamsKey is equal for equal teams alone.
func teamsKey(teams [][]int) string {
	var b []byte
	for _, team := range teams {
		b = binary.AppendUvarint(b, uint64(len(team)))
		for _, host := range team {
			b = binary.AppendUvarint(b, uint64(host))
		}
	}
	return string(b)
}

// Slots is how many slots a round has when all its points are open and due. Slot k of round r has the number r·Slots+k.
func (s *Schedule) Slots() int { return len(s.groups) }

// Points is how many points a round measures, each on every set of teams it runs on.
func (s *Schedule) Points() int {
	n := 0
	for _, g := range s.groups {
		n += len(g.points)
	}
	return n
}

// rng is the generator of round r.
func (s *Schedule) rng(r int) *rand.Rand { return rand.New(rand.NewPCG(s.Plan.Seed, uint64(r))) }

// order lists the groups of round r in the order of its slots. It is what the generator draws first.
func (s *Schedule) order(rng *rand.Rand) []int { return rng.Perm(len(s.groups)) }

// places are those of round r; nil where the plan does not permute hosts.
func (s *Schedule) places(r int) []int {
	if !s.Plan.Permute {
		return nil
	}
	places := Places(s.Plan.Seed, s.Limits.Hosts, r)
	var last []int
	places = slices.DeleteFunc(places, func(h int) bool {
		if !slices.Contains(s.last, h) {
			return false
		}
		last = append(last, h)
		return true
	})
	return append(places, last...)
}

// Last gives some hosts the last places of every later round, where the plan permutes hosts: they are missing from the largest teams
// alone. An empty list ends that.
func (s *Schedule) Last(hosts []int) { s.last = hosts }

// CostOf is what a round of a point on one of its teams is expected to take: its part of the slot.
func (s *Schedule) CostOf(p TeamPoint) units.Nanos {
	g := &s.groups[p.at.group]
	return (g.costs[p.at.point] + g.slot/units.Nanos(len(g.points))) / units.Nanos(len(g.teams))
}

// Epoch is that of the data connections of round r. Epoch 0 is that of a look before the run; they only ascend.
func (s *Schedule) Epoch(r int) int {
	if s.Plan.KeepConnections {
		return 1
	}
	return r + 1
}

// Round returns the slots of round r, 0 ≤ r < Plan.Rounds.Max, in order; none after that. open says whether a team still
// measures a point; nil means all do. What the budget has room for in some of the least rounds only is in these. A point is
// left out of a slot when it is open for none of its teams, a team when none of the slot's points is open for it, and a slot
// when nothing is left of it. The result shares its teams and points with the schedule: do not change them.
func (s *Schedule) Round(r int, open func(TeamPoint) bool) []Slot {
	if r < 0 || r >= s.Plan.Rounds.Max {
		return nil
	}
	if open == nil {
		open = func(TeamPoint) bool { return true }
	}
	rng, places := s.rng(r), s.places(r)
	var out []Slot
	for k, i := range s.order(rng) {
		g := &s.groups[i]
		if !g.due(r, s.Rounds) {
			continue
		}
		slot := Slot{ID: r*len(s.groups) + k, Round: r, Exp: g.exp.Name(), Effort: g.effort}
		teams, kept := g.hosts(places), make([]bool, len(g.teams))
		// Drawn for closed points too: what is closed must not change the order of the rest.
		for _, point := range rng.Perm(len(g.points)) {
			some := false
			for team, hosts := range teams {
				if open(TeamPoint{g.exp.Name(), hosts, g.points[point], place{int32(i), int32(team), int32(point)}}) {
					kept[team], some = true, true
				}
			}
			if some {
				slot.Points = append(slot.Points, g.points[point])
			}
		}
		for team, keep := range kept {
			if keep {
				slot.Teams = append(slot.Teams, teams[team])
			}
		}
		if len(slot.Points) > 0 {
			out = append(out, slot)
		}
	}
	return out
}
