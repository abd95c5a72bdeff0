package plan

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"calib/bench"
	"calib/internal/units"
)

// draft is one experiment's part of a round while the schedule is made: its points, and the sets of teams that measure
// them.
type draft struct {
	exp    *bench.Experiment
	plan   *Plan
	limits bench.Limits
	effort int // of the repetitions: see efforts
	sets   []set
	points []drafted
	time   units.Nanos     // of a round, on average
	share  units.Nanos     // of a round, by its weight
	steps  [kinds][]func() // what to add next: see needs
}

// efforts are the shares of the plan's effort that an experiment may have.
var efforts = [...]bench.Effort{0.25, 0.5, 1}

const fullEffort = len(efforts) - 1

type set struct {
	teams    [][]int     // places of the layout
	permuted bool        // other hosts take the places each time
	fixed    units.Nanos // what a slot of the set takes without its points
}

// drafted is a point on the sets that measure it.
type drafted struct {
	point bench.Point
	kind  string                    // equal for points that differ in nothing but sizes and counts
	thin  bool                      // part of a thin design too
	sets  []int                     // of draft.sets
	n     int                       // how many of sets measure it in a round
	times [len(efforts)]units.Nanos // of one set
	small bool                      // of the smallest size of its kind; no size is the smallest
	rank  int                       // 0: smallest size, ends of counts; 1: largest size; 2: the first between; then others
	every int                       // it is measured in one of so many rounds; 0: in none
}

// newDraft lays an experiment out over the hosts of limits.
func newDraft(e *bench.Experiment, p *Plan, l bench.Limits) *draft {
	d := &draft{exp: e, plan: p, limits: l, effort: fullEffort}
	known, seen, thin := map[string]int{}, map[string]bool{}, map[string]bool{}
	lean := l
	lean.Effort = min(thinEffort, l.Effort.OrWhole())
	for _, point := range e.Design(lean) {
		thin[point.Key()] = true
	}
	for _, point := range e.Design(l) {
		key := point.Key()
		if seen[key] {
			continue
		}
		seen[key] = true
		steps := e.Teams(l, point)
		permuted := p.Permute && !complete(steps, l.Hosts)
		x := drafted{point: point, kind: kindOf(point), thin: thin[key], every: 1}
		for _, teams := range d.atOnce(steps) {
			k := fmt.Sprintf("%t %s", permuted, teamsKey(teams))
			i, ok := known[k]
			if !ok {
				i = len(d.sets)
				known[k] = i
				d.sets = append(d.sets, set{teams, permuted, d.slotTime(teams)})
			}
			x.sets = append(x.sets, i)
		}
		x.n = len(x.sets)
		for k := range efforts {
			if k == fullEffort || p.timed() {
				x.times[k] = e.Cost(d.with(k), point).Time
			}
		}
		d.points = append(d.points, x)
	}
	d.sum()
	return d
}

func (d *draft) with(effort int) bench.Limits {
	l := d.limits
	l.Effort = l.Effort.OrWhole() * efforts[effort]
	return l
}

// sum brings the time of a round up to date.
func (d *draft) sum() {
	d.time = 0
	d.pack(func(b bin, p *drafted, begins bool) {
		if begins {
			d.time += d.sets[b.set].fixed / units.Nanos(p.every)
		}
		d.time += p.times[d.effort] / units.Nanos(p.every)
	})
}

// atOnce returns the teams that run at once: those of a step; each alone where the plan isolates them; and disjoint
// teams of several steps together where a probe has seen that pairs do not disturb each other.
func (d *draft) atOnce(steps []bench.Step) [][][]int {
	var out [][][]int
	used := make([]bool, d.limits.Hosts) // by the last of out
	for _, step := range steps {
		hosts := slices.Concat(step...)
		switch n := len(out); {
		case d.plan.Isolate:
			for _, team := range step {
				out = append(out, [][]int{team})
			}
			continue
		case n > 0 && d.limits.Path.Together && !slices.ContainsFunc(hosts, func(h int) bool { return used[h] }):
			out[n-1] = append(out[n-1], step...)
		default:
			clear(used)
			out = append(out, slices.Clone(step))
		}
		for _, h := range hosts {
			used[h] = true
		}
	}
	return out
}

// teamsKey is equal for equal teams alone. As text it would double the time of a plan of 1,000 hosts.
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

// slotTime is what a slot of teams takes without its points.
func (d *draft) slotTime(teams [][]int) units.Nanos {
	path := d.limits.OnPath()
	if !d.exp.Clocks {
		return path.Slot
	}
	return path.Slot + path.Synchronising(len(slices.MaxFunc(teams, func(a, b []int) int { return len(a) - len(b) })))
}

// A slot takes at most the largest of slotShare of the budget, minSlot, and fixedFactor times what it takes without its
// points. A slot of one point may take longer.
const (
	slotShare   = 0.02
	minSlot     = units.Second
	fixedFactor = 4
)

// slotLimit is how long a slot may take, which takes a fixed time without its points.
func (d *draft) slotLimit(fixed units.Nanos) units.Nanos {
	if !d.plan.timed() {
		return math.MaxInt64
	}
	return max(minSlot, units.Nanos(slotShare*float64(d.plan.Budget)), fixedFactor*fixed)
}

// bin is a queue of points that may share slots. Points of one set that are measured in one of so many rounds (every)
// are dealt to as many bins in turn, so that rounds take equally long.
type bin struct{ set, every, turn int }

// pack fills the slots of a round, bin by bin. For each point and each set that measures it in a round it calls visit,
// and says whether a slot begins with it.
func (d *draft) pack(visit func(b bin, p *drafted, begins bool)) {
	taken, turns := map[bin]units.Nanos{}, map[bin]int{}
	for k := range d.points {
		p := &d.points[k]
		if p.every == 0 {
			continue
		}
		for _, i := range p.sets[:p.n] {
			b, fixed := bin{set: i, every: p.every}, d.sets[i].fixed
			if p.every > 1 {
				turns[b]++
				b.turn = turns[b] % p.every
			}
			t, time := taken[b], p.times[d.effort]
			begins := t == 0 || t+time > d.slotLimit(fixed)
			if begins {
				t = max(1, fixed)
			}
			taken[b] = t + time
			visit(b, p, begins)
		}
	}
}

// groups are the slots of a round.
func (d *draft) groups() []group {
	var out []group
	last := map[bin]int{} // its last group
	d.pack(func(b bin, p *drafted, begins bool) {
		if s := d.sets[b.set]; begins {
			last[b] = len(out)
			out = append(out, group{exp: d.exp, effort: d.with(d.effort).Effort, teams: s.teams, permuted: s.permuted,
				expected: s.fixed, every: p.every})
		}
		g := &out[last[b]]
		g.points = append(g.points, p.point)
		g.expected += p.times[d.effort]
	})
	return out
}
