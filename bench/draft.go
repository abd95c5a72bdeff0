package bench

import (
	"errors"
	"fmt"
	"maps"
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
	sets   []set
	points []drafted
	thin   []string // what was made thinner, in words
	full   units.Nanos
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
	d := &draft{exp: e, plan: p, limits: l}
	if err := d.lay(); err != nil {
		return nil, fmt.Errorf("experiment %s: %w", e.Name(), err)
	}
	d.full = d.time()
	return d, nil
}

// lay makes the points and sets of the limits.
func (d *draft) lay() error {
	d.sets, d.points = nil, nil
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
	used := make([]bool, len(d.sets))
	for _, p := range d.points {
		total += p.time * units.Nanos(len(p.sets))
		for _, i := range p.sets {
			used[i] = true
		}
	}
	for i, u := range used {
		if u {
			total += d.slotTime(i)
		}
	}
	return total
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
		if !lighter && !d.sample() && !d.dropLargest() && !d.fewerCounts() {
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

// sample halves the number of sets, of which other hosts are part in every round.
func (d *draft) sample() bool {
	n := d.setsPerPoint()
	if n < 2 || slices.ContainsFunc(d.sets, func(s set) bool { return !s.permuted }) {
		return false
	}
	d.keepSets(n / 2)
	d.say("teams", fmt.Sprintf("%d of %d teams in a round, others in each", n/2, len(d.sets)))
	return true
}

// setsPerPoint is the largest number of sets that a point has.
func (d *draft) setsPerPoint() int {
	n := 0
	for _, p := range d.points {
		n = max(n, len(p.sets))
	}
	return n
}

// keepSets keeps the first n sets of every point.
func (d *draft) keepSets(n int) {
	for i := range d.points {
		d.points[i].sets = d.points[i].sets[:min(n, len(d.points[i].sets))]
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

// fewerCounts leaves out every second number of pairs, senders or hosts between the least and the most.
func (d *draft) fewerCounts() bool {
	done := false
	for _, factor := range []string{names.FactorPairs, names.FactorSenders, names.FactorHosts, names.FactorWindow} {
		values := map[int64]bool{}
		for _, p := range d.points {
			if v, ok := p.point[factor]; ok {
				values[v] = true
			}
		}
		if len(values) <= leastCounts {
			continue
		}
		all := slices.Sorted(maps.Keys(values))
		for i, v := range all {
			if i%2 == 1 && i < len(all)-1 {
				delete(values, v)
			}
		}
		d.points = slices.DeleteFunc(d.points, func(p drafted) bool {
			v, ok := p.point[factor]
			return ok && !values[v]
		})
		d.say(factor, fmt.Sprintf("%d of %d numbers of %s", len(values), len(all), factor))
		done = true
	}
	return done
}

// say notes what was made thinner; of one kind the last note counts.
func (d *draft) say(kind, text string) {
	text = kind + "\x00" + text
	d.thin = slices.DeleteFunc(d.thin, func(s string) bool { return len(s) > len(kind) && s[:len(kind)+1] == kind+"\x00" })
	d.thin = append(d.thin, text)
}
