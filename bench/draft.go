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
	hard    bool              // also the points that take longest may be left out
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
	teams    [][]int // places of the layout
	permuted bool    // other hosts take the places in every round
}

// drafted is a point on the sets that measure it.
type drafted struct {
	point Point
	sets  []int // of draft.sets
	time  units.Nanos
}

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
		x := drafted{point: p, time: d.exp.Cost(d.limits, p).On(d.limits.OnPath())}
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
				d.sets = append(d.sets, set{teams, permuted})
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
	for _, step := range steps {
		if n := len(out); n > 0 && d.limits.Path.Together && disjoint(out[n-1], step) {
			out[n-1] = append(out[n-1], step...)
			continue
		}
		out = append(out, slices.Clone(step))
	}
	return out
}

// disjoint reports whether no host is in both. Teams are small where they are many.
func disjoint(a [][]int, b Step) bool {
	used := map[int]bool{}
	for _, team := range a {
		for _, h := range team {
			used[h] = true
		}
	}
	return !slices.ContainsFunc(b, func(team []int) bool {
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

// slotTime is what a slot of a set takes beside its points.
func (d *draft) slotTime(i int) units.Nanos {
	path := d.limits.OnPath()
	t := path.Slot
	if _, ok := d.exp.(Synchronised); ok {
		most := 0
		for _, team := range d.sets[i].teams {
			most = max(most, len(team))
		}
		t += path.synchronising(most)
	}
	return t
}

// time is how long a round of the draft takes.
func (d *draft) time() units.Nanos {
	var total units.Nanos
	for _, g := range d.groups() {
		total += g.expected()
	}
	return total
}

// slotShare is the share of the budget that a slot takes at most, but for a slot of one point. leastSlot is allowed in any case, and
// so much that a slot's points take longer than what it needs beside them.
const (
	slotShare = 0.02
	leastSlot = units.Second
	overhead  = 4
)

// groups are the slots of a round: of each set one, or several where its points take too long for one.
func (d *draft) groups() []group {
	var out []group
	open := make([]int, len(d.sets)) // set → one more than the group that is being filled
	for _, p := range d.points {
		for _, i := range p.sets {
			if open[i] == 0 || out[open[i]-1].expected()+p.time > d.longest(out[open[i]-1].slot) {
				out = append(out, group{
					exp: d.exp, effort: d.limits.Effort, teams: d.sets[i].teams, permuted: d.sets[i].permuted, slot: d.slotTime(i),
				})
				open[i] = len(out)
			}
			g := &out[open[i]-1]
			g.points, g.costs = append(g.points, p.point), append(g.costs, p.time)
			g.sum += p.time
		}
	}
	return out
}

// longest is how long a slot may take that needs beside beside its points.
func (d *draft) longest(beside units.Nanos) units.Nanos {
	if d.plan.Budget <= 0 || !d.limits.Path.Known() {
		return math.MaxInt64
	}
	return max(leastSlot, units.Nanos(slotShare*float64(d.plan.Budget)), overhead*beside)
}
