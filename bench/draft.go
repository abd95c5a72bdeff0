package bench

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"calib/internal/units"
)

// draft is one experiment's part of a schedule while it is made: its points, and the teams that measure them. It can be made
// thinner, step by step, until a round of it takes no longer than it may.
type draft struct {
	exp    Experiment
	plan   Plan
	limits Limits // Effort is the experiment's own
	layout
	laid    map[Effort]layout // by effort, all that were made
	thin    []cut             // what was made thinner
	way                       // what it may give up
	keep    keep              // what stays of an experiment whose points do not count alike (Spanning)
	dropped int               // points that took longest
	full    units.Nanos
}

// keep is what stays of a Spanning experiment. The later in this list, the less.
type keep int

const (
	keepAll   keep = iota // the size above a packet, and all points of the sizes that are left
	keepEnds              // the points for which that size is needed, and those of the least size
	keepLong              // the points for which that size is needed
	keepShort             // the points of the least size
	keepAny               // whatever takes least
)

// layout is what an experiment's design gives: points, and the sets of teams that measure them.
type layout struct {
	sets   []set
	points []drafted
}

// set are teams that run at once.
type set struct {
	teams    [][]int     // places of the layout
	permuted bool        // other hosts take the places in every round
	beside   units.Nanos // what a slot of the set takes beside its points
}

// drafted is a point on the sets that measure it.
type drafted struct {
	point Point
	sets  []int // of draft.sets
	time  units.Nanos
	every int // it is measured in one of so many rounds
}

// perRound is how long the point takes in a round on average, on one of its sets.
func (p drafted) perRound() units.Nanos { return p.time / units.Nanos(p.every) }

// newDraft lays an experiment out over the hosts of limits.
func newDraft(e Experiment, p Plan, l Limits) (*draft, error) {
	d := &draft{exp: e, plan: p, limits: l, laid: map[Effort]layout{}}
	if err := d.lay(); err != nil {
		return nil, fmt.Errorf("experiment %s: %w", e.Name(), err)
	}
	d.full = d.time()
	return d, nil
}

// whole is a copy of the draft that nothing was taken from.
func (d *draft) whole() *draft {
	n := *d
	n.limits.Effort, n.thin, n.dropped = d.plan.Limits.Effort, nil, 0
	n.layout = d.laid[n.limits.Effort].clone()
	return &n
}

// clone is a copy whose points can be changed.
func (l layout) clone() layout { return layout{l.sets, slices.Clone(l.points)} }

// lay makes the points and sets of the limits.
func (d *draft) lay() error {
	if l, ok := d.laid[d.limits.Effort]; ok {
		d.layout = l.clone()
		return nil
	}
	d.layout = layout{}
	known, seen := map[setKey]int{}, map[string]bool{}
	for _, p := range d.exp.Design(d.limits) {
		key := p.Key()
		if seen[key] {
			continue
		}
		seen[key] = true
		steps := d.exp.Teams(d.limits, p)
		permuted := d.plan.Permute && !complete(steps, d.limits.Hosts)
		x := drafted{point: p, time: d.exp.Cost(d.limits, p).On(d.limits.OnPath()), every: 1}
		for _, step := range steps {
			if err := checkStep(step, d.limits.Hosts); err != nil {
				return fmt.Errorf("point %s: %w", key, err)
			}
		}
		for _, teams := range d.atOnce(steps) {
			k := setKey{teamsKey(teams), permuted}
			i, ok := known[k]
			if !ok {
				i = len(d.sets)
				known[k] = i
				d.sets = append(d.sets, set{teams, permuted, d.slotTime(teams)})
			}
			x.sets = append(x.sets, i)
		}
		d.points = append(d.points, x)
	}
	d.laid[d.limits.Effort] = d.layout.clone()
	return nil
}

// setKey is equal for equal sets.
type setKey struct {
	teams    string
	permuted bool
}

// atOnce returns the teams that run at once: those of a step; each alone where the plan isolates them; and disjoint teams of several
// steps together where a probe has seen that pairs do not disturb each other.
func (d *draft) atOnce(steps []Step) [][][]int {
	var out [][][]int
	if d.plan.Isolate {
		for _, step := range steps {
			for _, team := range step {
				out = append(out, [][]int{team})
			}
		}
		return out
	}
	used := make([]bool, d.limits.Hosts) // by the last of out
	for _, step := range steps {
		if n := len(out); n > 0 && d.limits.Path.Together && disjoint(used, step) {
			out[n-1] = append(out[n-1], step...)
		} else {
			clear(used)
			out = append(out, slices.Clone(step))
		}
		for _, team := range step {
			for _, h := range team {
				used[h] = true
			}
		}
	}
	return out
}

// disjoint reports whether none of the hosts of a step is used.
func disjoint(used []bool, step Step) bool {
	return !slices.ContainsFunc(step, func(team []int) bool {
		return slices.ContainsFunc(team, func(h int) bool { return used[h] })
	})
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

// slotTime is what a slot of teams takes beside its points.
func (d *draft) slotTime(teams [][]int) units.Nanos {
	path := d.limits.OnPath()
	t := path.Slot
	if _, ok := d.exp.(Synchronised); ok {
		most := 0
		for _, team := range teams {
			most = max(most, len(team))
		}
		t += path.synchronising(most)
	}
	return t
}

// time is how long a round of the draft takes on average.
func (d *draft) time() units.Nanos {
	var total units.Nanos
	d.pack(func(set int, p drafted, begins bool) {
		if begins {
			total += d.sets[set].beside / units.Nanos(p.every)
		}
		total += p.perRound()
	})
	return total
}

// slotShare is the share of the budget that a slot takes at most, but for a slot of one point. leastSlot is allowed in any case, and
// so much that a slot's points take longer than what it needs beside them.
const (
	slotShare = 0.02
	leastSlot = units.Second
	overhead  = 4
)

// pack fills the slots of a round: of each set one, or several where its points take too long for one, and one for each point that is not
// measured in every round. It calls each with every point on each of its sets, and says where a slot begins with it.
func (d *draft) pack(each func(set int, p drafted, begins bool)) {
	type slot struct {
		open  bool
		taken units.Nanos
	}
	slots := make([]slot, len(d.sets)) // the last one of each set
	for _, p := range d.points {
		for _, i := range p.sets {
			if p.every > 1 {
				each(i, p, true)
				continue
			}
			last, beside := &slots[i], d.sets[i].beside
			begins := !last.open || last.taken+p.time > d.longest(beside)
			if begins {
				*last = slot{true, beside}
			}
			last.taken += p.time
			each(i, p, begins)
		}
	}
}

// groups are the slots of a round.
func (d *draft) groups() []group {
	var out []group
	last := make([]int, len(d.sets)) // set → its last group of points that are measured in every round
	d.pack(func(i int, p drafted, begins bool) {
		at := last[i]
		if s := d.sets[i]; begins {
			at = len(out)
			out = append(out, group{exp: d.exp, effort: d.limits.Effort, teams: s.teams, permuted: s.permuted, slot: s.beside, every: p.every})
		}
		if p.every == 1 {
			last[i] = at
		}
		g := &out[at]
		g.points, g.costs = append(g.points, p.point), append(g.costs, p.time)
		g.sum += p.time
	})
	return out
}

// longest is how long a slot may take that needs beside beside its points.
func (d *draft) longest(beside units.Nanos) units.Nanos {
	if d.plan.Budget <= 0 || !d.limits.Path.Known() {
		return math.MaxInt64
	}
	return max(leastSlot, units.Nanos(slotShare*float64(d.plan.Budget)), overhead*beside)
}
