package bench

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
)

// ErrNothing reports a schedule without a single point.
var ErrNothing = errors.New("nothing to measure")

// Schedule is the order in which a plan is measured. Every round measures every point that is still open, once, in an
// order of its own: slots are shuffled within the round and points within their slot, by a generator seeded with the plan's
// seed and the round. The same plan on as many hosts gives the same schedule, and a slot's number does not depend on
// which points were still open, so that a run that was cut off can go on where it stood.
type Schedule struct {
	Plan   Plan
	Limits Limits // as given to the experiments
	// Idle are the experiments that have no point within the limits.
	Idle   []string
	groups []group
}

// group is a set of teams that run at once, and the points they measure: one slot of every round.
type group struct {
	exp    Experiment
	teams  [][]int
	points []Point
	keys   []string // of points
}

// NewSchedule lays the plan's experiments out over hosts. Points of one experiment that a step's teams have in common
// share a slot; with Isolate every team has a slot of its own. It returns errors of Plan.Validate, ErrNothing, or what is
// wrong with an experiment's teams.
func NewSchedule(p Plan, hosts int, exps []Experiment) (*Schedule, error) {
	if err := p.Validate(exps); err != nil {
		return nil, err
	}
	if hosts < 1 {
		return nil, fmt.Errorf("%w: no hosts", ErrNothing)
	}
	s := &Schedule{Plan: p, Limits: p.Limits}
	s.Limits.Hosts, s.Limits.Seed = hosts, p.Seed
	for _, e := range p.choose(exps) {
		had := len(s.groups)
		if err := s.lay(e); err != nil {
			return nil, fmt.Errorf("experiment %s: %w", e.Name(), err)
		}
		if len(s.groups) == had {
			s.Idle = append(s.Idle, e.Name())
		}
	}
	if len(s.groups) == 0 {
		return nil, fmt.Errorf("%w on %d host(s) within the plan's limits: add hosts, sizes or experiments (have %v)",
			ErrNothing, hosts, s.Idle)
	}
	return s, nil
}

// lay adds the groups of one experiment.
func (s *Schedule) lay(e Experiment) error {
	seed := maphash.MakeSeed() // finds equal teams, orders nothing
	byTeams := map[uint64][]int{}
	points := map[string]bool{}
	used := make([]int, s.Limits.Hosts)
	stamp := 0
	for _, p := range e.Design(s.Limits) {
		key := p.Key()
		if points[key] {
			continue
		}
		points[key] = true
		for _, step := range e.Teams(s.Limits, p) {
			stamp++
			if err := checkStep(step, used, stamp); err != nil {
				return fmt.Errorf("point %s: %w", key, err)
			}
			for _, teams := range s.split(step) {
				h := hashTeams(seed, teams)
				i := slices.IndexFunc(byTeams[h], func(g int) bool { return equalTeams(s.groups[g].teams, teams) })
				if i < 0 {
					byTeams[h] = append(byTeams[h], len(s.groups))
					i = len(byTeams[h]) - 1
					s.groups = append(s.groups, group{exp: e, teams: teams})
				}
				g := &s.groups[byTeams[h][i]]
				g.points, g.keys = append(g.points, p), append(g.keys, key)
			}
		}
	}
	return nil
}

// split returns the sets of teams of a step that run at once.
func (s *Schedule) split(step Step) [][][]int {
	if !s.Plan.Isolate || len(step) < 2 {
		return [][][]int{step}
	}
	out := make([][][]int, len(step))
	for i, team := range step {
		out[i] = [][]int{team}
	}
	return out
}

// checkStep reports teams that cannot run at once. used[host] holds the stamp of the last step a host was seen in.
func checkStep(step Step, used []int, stamp int) error {
	if len(step) == 0 {
		return errors.New("a step without teams")
	}
	for _, team := range step {
		if len(team) == 0 {
			return errors.New("a team without hosts")
		}
		for _, h := range team {
			if h < 0 || h >= len(used) {
				return fmt.Errorf("team %v: there are %d hosts, numbered from 0", team, len(used))
			}
			if used[h] == stamp {
				return fmt.Errorf("team %v: host %d is in the same step twice", team, h)
			}
			used[h] = stamp
		}
	}
	return nil
}

func hashTeams(seed maphash.Seed, teams [][]int) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, team := range teams {
		maphash.WriteComparable(&h, len(team))
		for _, host := range team {
			maphash.WriteComparable(&h, host)
		}
	}
	return h.Sum64()
}

func equalTeams(a, b [][]int) bool {
	return slices.EqualFunc(a, b, func(x, y []int) bool { return slices.Equal(x, y) })
}

// Slots is how many slots a round has when all its points are open. Slot k of round r has the number r·Slots+k.
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

// Round returns the slots of round r, 0 ≤ r < Plan.Rounds.Max, in order; none after that. open says whether a team still
// measures a point; nil means all do. A point is left out of a slot when it is open for none of its teams, a team when
// none of the slot's points is open for it, and a slot when nothing is left of it. The result shares its teams and points
// with the schedule: do not change them.
func (s *Schedule) Round(r int, open func(exp string, team []int, p Point) bool) []Slot {
	if r < 0 || r >= s.Plan.Rounds.Max {
		return nil
	}
	rng := s.rng(r)
	var out []Slot
	for k, i := range s.order(rng) {
		g := &s.groups[i]
		// Drawn for closed slots too: what is closed must not change the order of the rest.
		points := make([]Point, len(g.points))
		for j, from := range rng.Perm(len(points)) {
			points[j] = g.points[from]
		}
		slot := Slot{ID: r*len(s.groups) + k, Round: r, Exp: g.exp.Name(), Teams: g.teams, Points: points}
		if open != nil {
			slot.keep(open)
		}
		if len(slot.Points) > 0 {
			out = append(out, slot)
		}
	}
	return out
}

// keep leaves out what is closed.
func (s *Slot) keep(open func(exp string, team []int, p Point) bool) {
	s.Points = slices.DeleteFunc(s.Points, func(p Point) bool {
		return !slices.ContainsFunc(s.Teams, func(team []int) bool { return open(s.Exp, team, p) })
	})
	teams := make([][]int, 0, len(s.Teams))
	for _, team := range s.Teams {
		if slices.ContainsFunc(s.Points, func(p Point) bool { return open(s.Exp, team, p) }) {
			teams = append(teams, team)
		}
	}
	s.Teams = teams
}
