package bench

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"calib/internal/dataset/names"
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
	thin    []string          // what was made thinner, in words
	hard    bool              // also the points that take longest may be left out
	dropped int               // points that took longest
	full    units.Nanos
}

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

// within makes the draft thinner until a round of it takes no longer than most, and reports whether that was possible.
func (d *draft) within(most units.Nanos) (bool, error) {
	for d.time() > most {
		if d.tooLarge(most) && d.dropLargest() {
			continue
		}
		lighter, err := d.lighter()
		if err != nil {
			return false, err
		}
		if !lighter && !d.sample() && !d.dropLargest() && !d.fewerCounts() && !d.smallerCounts() && !(d.hard && d.dropCostliest()) {
			return false, nil
		}
	}
	return true, nil
}

const (
	// leastSizes and leastCounts of a factor stay: a line with a check of its straightness, and both ends.
	leastSizes  = 3
	leastCounts = 2
	// lightest is the share of the plan's effort that an experiment has at least.
	lightest = 0.25
	// ofRound is the share of an experiment's time in a round that one point may take.
	ofRound = 1.0 / 3
)

// lighter halves the effort.
func (d *draft) lighter() (bool, error) {
	whole := d.plan.Limits.Effort
	if whole <= 0 {
		whole = 1
	}
	now := d.limits.Effort
	if now <= 0 {
		now = whole
	}
	if now/2 < whole*lightest {
		return false, nil
	}
	top, pairs := d.largest(), d.setsPerPoint()
	d.limits.Effort = now / 2
	if err := d.lay(); err != nil {
		return false, err
	}
	for d.largest() > top && d.dropLargest() { // what was dropped before stays so
	}
	d.keepSets(pairs)
	d.say("effort", fmt.Sprintf("effort %.3g instead of %.3g", float64(d.limits.Effort), float64(whole)))
	return true, nil
}

// sample halves the number of sets that a point is measured on, where other hosts are part of them in every round.
func (d *draft) sample() bool {
	most, all := 1, 0
	for _, p := range d.points {
		if d.permuted(p) {
			most = max(most, len(p.sets))
		}
	}
	if most < 2 {
		return false
	}
	for _, p := range d.laid[d.limits.Effort].points {
		all = max(all, len(p.sets))
	}
	d.keepSets(most / 2)
	d.say("teams", fmt.Sprintf("%d of %d teams in a round, others in each", most/2, all))
	return true
}

// permuted reports whether other hosts measure the point in every round.
func (d *draft) permuted(p drafted) bool {
	return !slices.ContainsFunc(p.sets, func(i int) bool { return !d.sets[i].permuted })
}

// setsPerPoint is the largest number of sets that a point has.
func (d *draft) setsPerPoint() int {
	n := 0
	for _, p := range d.points {
		n = max(n, len(p.sets))
	}
	return n
}

// keepSets keeps the first n sets of every point that other hosts measure in every round.
func (d *draft) keepSets(n int) {
	for i, p := range d.points {
		if d.permuted(p) {
			d.points[i].sets = p.sets[:min(n, len(p.sets))]
		}
	}
}

// sizes lists the message sizes, ascending.
func (d *draft) sizes() []int64 {
	var all []int64
	for _, p := range d.points {
		if m := p.point[names.FactorBytes]; m > 0 {
			all = append(all, m)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// largest is the largest message size; 0 where there is none.
func (d *draft) largest() int64 {
	if all := d.sizes(); len(all) > 0 {
		return all[len(all)-1]
	}
	return 0
}

// tooLarge reports whether the largest messages alone take more than their share.
func (d *draft) tooLarge(most units.Nanos) bool {
	top := d.largest()
	return slices.ContainsFunc(d.points, func(p drafted) bool {
		return p.point[names.FactorBytes] == top && top > 0 && float64(p.time)*float64(len(p.sets)) > ofRound*float64(most)
	})
}

// dropLargest leaves out the points of the largest size.
func (d *draft) dropLargest() bool {
	all := d.sizes()
	if len(all) <= leastSizes || d.limits.Sizes != nil { // the user's sizes stay
		return false
	}
	top := all[len(all)-1]
	d.points = slices.DeleteFunc(d.points, func(p drafted) bool { return p.point[names.FactorBytes] == top })
	d.say("sizes", "messages to "+units.Bytes(all[len(all)-2]).String())
	return true
}

// counts are the factors that say how many hosts take part.
var counts = []string{names.FactorPairs, names.FactorSenders, names.FactorHosts, names.FactorWindow}

// numbers lists the values of a factor, ascending.
func (d *draft) numbers(factor string) []int64 {
	values := map[int64]bool{}
	for _, p := range d.points {
		if v, ok := p.point[factor]; ok {
			values[v] = true
		}
	}
	return slices.Sorted(maps.Keys(values))
}

// keepNumbers leaves out the points with other values of a factor.
func (d *draft) keepNumbers(factor string, values []int64) {
	all := d.numbers(factor)
	d.points = slices.DeleteFunc(d.points, func(p drafted) bool {
		v, ok := p.point[factor]
		return ok && !slices.Contains(values, v)
	})
	d.say(factor, fmt.Sprintf("%d numbers of %s, to %d", len(values), factor, min(slices.Max(values), slices.Max(all))))
}

// fewerCounts leaves out every second number of pairs, senders or hosts between the least and the most.
func (d *draft) fewerCounts() bool {
	done := false
	for _, factor := range counts {
		all := d.numbers(factor)
		if len(all) <= leastCounts {
			continue
		}
		var keep []int64
		for i, v := range all {
			if i%2 == 0 || i == len(all)-1 {
				keep = append(keep, v)
			}
		}
		d.keepNumbers(factor, keep)
		done = done || len(keep) < len(all)
	}
	return done
}

// smallerCounts leaves out the largest number of pairs, senders or hosts, and takes half of it instead where a design has that.
func (d *draft) smallerCounts() bool {
	done := false
	for _, factor := range counts {
		all := d.numbers(factor)
		if len(all) < leastCounts || all[len(all)-1] <= 2 {
			continue
		}
		top := all[len(all)-1]
		var less int64
		whole := d.laid[d.limits.Effort].points
		for _, p := range whole {
			if v := p.point[factor]; v <= top/2 && v > less {
				less = v
			}
		}
		if less <= all[0] {
			continue
		}
		sizes := d.sizes()
		for _, p := range whole {
			if p.point[factor] == less && (p.point[names.FactorBytes] == 0 || slices.Contains(sizes, p.point[names.FactorBytes])) &&
				!slices.ContainsFunc(d.points, func(q drafted) bool { return maps.Equal(q.point, p.point) }) {
				d.points = append(d.points, p)
			}
		}
		d.keepNumbers(factor, []int64{all[0], less})
		done = true
	}
	return done
}

// leastPoints stay, however long they take.
const leastPoints = 3

// dropCostliest leaves out the point that takes most time: on slow networks a stream, which must last for many round trips.
func (d *draft) dropCostliest() bool {
	if len(d.points) <= leastPoints {
		return false
	}
	most := 0
	for i, p := range d.points {
		if p.time > d.points[most].time {
			most = i
		}
	}
	d.points = slices.Delete(d.points, most, most+1)
	d.dropped++
	d.say("points", fmt.Sprintf("without the %d points that take longest", d.dropped))
	return true
}

// say notes what was made thinner; of one kind the last note counts.
func (d *draft) say(kind, text string) {
	text = kind + "\x00" + text
	d.thin = slices.DeleteFunc(d.thin, func(s string) bool { return len(s) > len(kind) && s[:len(kind)+1] == kind+"\x00" })
	d.thin = append(d.thin, text)
}
