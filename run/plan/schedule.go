package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/lists"
	"calib/internal/units"
)

// ErrNothing reports a schedule without a single point.
var ErrNothing = errors.New("nothing to measure")

// Schedule is the order in which a plan is measured. Without a budget every round measures every point.
// Within one, a point may be measured in one of several rounds. Each round has an order of its own: slots are shuffled
// within the round and points within their slot, by a generator seeded with the plan's seed and the round. The same
// plan on as many hosts gives the same schedule, and a slot's number does not depend on what a round leaves out, so
// that a run that was cut off can go on where it stood.
//
// Experiments say which places of a layout form teams. With Plan.Permute other hosts take the places each time that
// they are measured (Places), except where the teams hold every host, or every pair of three or more, anyway.
type Schedule struct {
	Plan   Plan
	Limits bench.Limits // as given to the experiments
	// Rounds is how many rounds a run has before it may end: the least rounds. They are fewer than Plan.Rounds.Min where
	// the budget has no room for them.
	Rounds int
	// Left lists the experiments that the budget has no room for. WholeTime is what the least rounds take with all
	// experiments and points.
	Left      []string
	WholeTime units.Nanos
	// Empty lists the experiments that a user named and that have no point on so many hosts, with these sizes.
	Empty []string
	// Crowded says which two hosts run by turns (dataset.Crowded): they are no team of two. nil where none do.
	Crowded func(a, b int) bool
	// Groups are hosts with shorter ways within than between, such as racks, or of one kind.
	Groups    [][]int
	allPoints map[string]int // experiment → its points without a budget
	groups    []group
	last      []int // hosts that take the last places
}

// group is a set of teams that run at once, and the points they measure: one slot of a round.
type group struct {
	exp      *bench.Experiment
	effort   bench.Effort
	teams    [][]int // places of the layout
	points   []bench.Point
	expected units.Nanos // time of a slot
	permuted bool        // other hosts take the places each time
	every    int         // one in so many rounds measures it, the first one is round phase
	phase    int
}

// hosts returns the teams of g as hosts; places are those of its turn.
func (g *group) hosts(places []int) [][]int {
	return lists.Map(g.teams, func(team []int) []int { return lists.Map(team, func(p int) int { return places[p] }) })
}

func (g *group) due(r int) bool { return r%g.every == g.phase }

// lastDue is the last round up to r that measures the group; below 0 where there is none.
func (g *group) lastDue(r int) int { return r - (r-g.phase+g.every)%g.every }

// New lays the plan's experiments out over hosts. Points of one experiment that a step's teams have in common share a
// slot; with Isolate every team has a slot of its own. Where the plan has a budget, and the path is known, the
// experiments are made to fit (docs/explanation/measuring.md). It returns errors of Plan.Validate, or ErrNothing.
func New(p Plan, hosts int, exps []*bench.Experiment) (*Schedule, error) {
	if err := p.Validate(exps); err != nil {
		return nil, err
	}
	s := &Schedule{Plan: p, Limits: p.Limits, Rounds: p.Rounds.Min, allPoints: map[string]int{}}
	s.Limits.Hosts, s.Limits.Seed = hosts, p.Seed
	var drafts []*draft
	for _, e := range p.choose(exps) {
		if hosts < 1 {
			break
		}
		if d := newDraft(e, &s.Plan, s.Limits); len(d.points) > 0 {
			drafts = append(drafts, d)
			s.allPoints[e.Name] = len(d.points)
			s.WholeTime += d.time * units.Nanos(p.Rounds.Min)
		} else if p.Chosen {
			s.Empty = append(s.Empty, e.Name)
		}
	}
	kept := s.fit(slices.Clone(drafts))
	s.groups = lists.Flat(kept, (*draft).groups)
	for _, d := range drafts {
		if !slices.ContainsFunc(kept, func(k *draft) bool { return k.exp == d.exp }) {
			s.Left = append(s.Left, d.exp.Name)
		}
	}
	if len(s.groups) == 0 {
		return nil, fmt.Errorf("%w on %d host(s) within the plan's limits: add hosts, sizes or experiments (have %v)",
			ErrNothing, hosts, p.Names(exps))
	}
	s.balance()
	return s, nil
}

// balance spreads the groups that are not measured in every round over the rounds, those that take longest first. The
// least rounds measure each.
func (s *Schedule) balance() {
	var rare []*group
	for i := range s.groups {
		if g := &s.groups[i]; g.every > 1 {
			rare = append(rare, g)
		}
	}
	slices.SortStableFunc(rare, func(a, b *group) int { return cmp.Compare(b.expected, a.expected) })
	for i, g := range rare {
		g.phase = i % min(g.every, s.Rounds)
	}
}

func (s *Schedule) MaxRounds() int {
	switch {
	case s.Plan.Rounds.Max > 0:
		return s.Plan.Rounds.Max
	case s.Plan.timed():
		return maxRounds
	}
	return max(s.Plan.Rounds.Min, unboundedRounds)
}

// Planned is how many slots the least rounds have.
func (s *Schedule) Planned() int {
	return lists.Sum(lists.Upto(s.Rounds), func(r int) int {
		return lists.Count(s.groups, func(g group) bool { return g.due(r) })
	})
}

// Slots is how many slots a round has in which every group is due. Slot k of round r has the number r·Slots+k.
func (s *Schedule) Slots() int { return len(s.groups) }

// Exps are the experiments of all slots of round r, whether or not it measures them.
func (s *Schedule) Exps(r int) []string {
	return lists.Map(s.order(s.rng(r)), func(k int) string { return s.groups[k].exp.Name })
}

// MaxEmpty is in how many rounds in a row the schedule may have no slot, if it has any that can be measured.
func (s *Schedule) MaxEmpty() int {
	n := 0
	for i := range s.groups {
		n = max(n, s.groups[i].every)
	}
	return n + 2*idleEvery
}

func (s *Schedule) rng(r int) *rand.Rand { return rand.New(rand.NewPCG(s.Plan.Seed, uint64(r))) }

// order lists the groups of round r in the order of its slots. It is what the generator draws first.
func (s *Schedule) order(rng *rand.Rand) []int { return rng.Perm(len(s.groups)) }

// places are those of a group in a turn.
func (s *Schedule) places(r int) []int {
	places := arranged(Places(s.Plan.Seed, s.Limits.Hosts, r), s.Groups, r)
	last := func(h int) int { return min(1, 1+slices.Index(s.last, h)) }
	slices.SortStableFunc(places, func(a, b int) int { return last(a) - last(b) })
	return partners(places, s.Crowded)
}

// Last gives some hosts the last places of every later round, where the plan permutes hosts: they are missing from the
// largest teams alone. An empty list ends that.
func (s *Schedule) Last(hosts []int) { s.last = hosts }

// Epoch is that of the data connections of round r. Epoch 0 is that of a look before the run; they only ascend.
func (s *Schedule) Epoch(r int) int {
	if s.Plan.KeepConnections {
		return 1
	}
	return r + 1
}

// slots returns those of round r, 0 ≤ r < MaxRounds, in order, whose group is due; none after that. measured says
// whether an experiment is part of the round, and whether one of its teams is; nil means all are. A slot is left out
// when it has no team. The result shares its teams and points with the schedule: do not change them.
func (s *Schedule) slots(r int, due func(group int) bool, measured func(exp string, team []int) bool) []bench.Slot {
	if r < 0 || r >= s.MaxRounds() {
		return nil
	}
	rng, places := s.rng(r), map[int][]int{}
	var out []bench.Slot
	for k, i := range s.order(rng) {
		g := &s.groups[i]
		points := rng.Perm(len(g.points)) // drawn for what is left out, too: the rest keeps its order
		if !due(i) {
			continue
		}
		slot := bench.Slot{ID: r*len(s.groups) + k, Round: r, Exp: g.exp.Name, Effort: g.effort,
			Points: lists.Map(points, func(i int) bench.Point { return g.points[i] })}
		teams := g.teams
		if g.permuted {
			// A group that is due in one of so many rounds has other hosts each time that it is, also where it comes late.
			// Groups that are due in other rounds begin with others.
			turn := g.lastDue(r)/g.every + g.phase*(s.aim()/g.every)
			if _, known := places[turn]; !known {
				places[turn] = s.places(turn)
			}
			teams = g.hosts(places[turn])
		}
		for _, team := range teams {
			if !dataset.CrowdedTeam(s.Crowded, team) && (measured == nil || measured(slot.Exp, team)) {
				slot.Teams = append(slot.Teams, team)
			}
		}
		if len(slot.Teams) > 0 {
			out = append(out, slot)
		}
	}
	return out
}
