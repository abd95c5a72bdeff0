package bench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
)

// ErrNothing reports a schedule without a single point.
var ErrNothing = errors.New("nothing to measure")

// Schedule is the order in which a plan is measured. Every round measures every point that is still open, once, in an
// order of its own: slots are shuffled within the round and points within their slot, by a generator seeded with the plan's
// seed and the round. The same plan on as many hosts gives the same schedule, and a slot's number does not depend on
// which points were still open, so that a run that was cut off can go on where it stood.
//
// Experiments say which places of a layout form teams. With Plan.Permute other hosts take the places in every round
// (Places), except where the teams hold every host or every pair of hosts anyway.
type Schedule struct {
	Plan   Plan
	Limits Limits // as given to the experiments
	// Idle are the experiments that have no point within the limits.
	Idle   []string
	groups []group
}

// group is a set of teams that run at once, and the points they measure: one slot of every round.
type group struct {
	exp      Experiment
	teams    [][]int // places of the layout
	points   []Point
	permuted bool // other hosts take the places in every round
}

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
	byTeams := map[groupKey]int{}
	points := map[string]bool{}
	for _, p := range e.Design(s.Limits) {
		key := p.Key()
		if points[key] {
			continue
		}
		points[key] = true
		steps := e.Teams(s.Limits, p)
		permuted := s.Plan.Permute && !complete(steps, s.Limits.Hosts)
		for _, step := range steps {
			if err := checkStep(step, s.Limits.Hosts); err != nil {
				return fmt.Errorf("point %s: %w", key, err)
			}
			for _, teams := range s.split(step) {
				k := groupKey{teamsKey(teams), permuted}
				i, ok := byTeams[k]
				if !ok {
					i = len(s.groups)
					byTeams[k] = i
					s.groups = append(s.groups, group{exp: e, teams: teams, permuted: permuted})
				}
				s.groups[i].points = append(s.groups[i].points, p)
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

// checkStep reports teams that cannot run at once.
func checkStep(step Step, hosts int) error {
	if len(step) == 0 {
		return errors.New("a step without teams")
	}
	used := make([]bool, hosts)
	for _, team := range step {
		if len(team) == 0 {
			return errors.New("a team without hosts")
		}
		for _, h := range team {
			if h < 0 || h >= hosts {
				return fmt.Errorf("team %v: there are %d hosts, numbered from 0", team, hosts)
			}
			if used[h] {
				return fmt.Errorf("team %v: host %d is in the same step twice", team, h)
			}
			used[h] = true
		}
	}
	return nil
}

// groupKey is equal for points of one experiment that share slots.
type groupKey struct {
	teams    string
	permuted bool
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

// places are those of round r; nil where the plan does not permute hosts.
func (s *Schedule) places(r int) []int {
	if !s.Plan.Permute {
		return nil
	}
	return Places(s.Plan.Seed, s.Limits.Hosts, r)
}

// Epoch is that of the data connections of round r.
func (s *Schedule) Epoch(r int) int {
	if s.Plan.KeepConnections {
		return 0
	}
	return r
}

// Round returns the slots of round r, 0 ≤ r < Plan.Rounds.Max, in order; none after that. open says whether a team still
// measures a point; nil means all do. A point is left out of a slot when it is open for none of its teams, a team when
// none of the slot's points is open for it, and a slot when nothing is left of it. The result shares its teams and points
// with the schedule: do not change them.
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
		slot := Slot{ID: r*len(s.groups) + k, Round: r, Exp: g.exp.Name()}
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
