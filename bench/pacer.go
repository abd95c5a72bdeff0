package bench

import (
	"math"
	"math/rand/v2"

	"calib/internal/units"
)

// Pacer keeps a run within its budget. It expects of every slot the time that it took before, or, before it has run, that of
// the plan's path, corrected by what the experiment's other slots took. From that it says how thorough a round may be, which
// slots it has, and how much of the run is done. It is for one goroutine.
type Pacer struct {
	plan   *Schedule
	known  []took // by group
	exps   map[string]*tally
	round  int
	order  []int // groups of the round in slot order
	factor float64
	costs  map[costKey]units.Nanos
}

// tally is what is known of an experiment's slots [ns].
type tally struct {
	real, expected float64 // of those measured: what they took, and what the plan had expected
	known, unknown float64 // a whole round, on average: of groups that were measured what they take, of the others what the plan expects
}

// correction is how many times as long as the plan expects an experiment's slots take.
func (t *tally) correction() float64 {
	if t.expected > 0 {
		return t.real / t.expected
	}
	return 1
}

// costKey is a group, and a factor of its effort.
type costKey struct {
	group  int
	factor float64
}

// took is what is known of a group: how long its last slot took, and with which factor of its effort.
type took struct {
	time   units.Nanos
	factor float64
}

// firstFactor scales the effort of the first round, from which the others are planned.
const firstFactor = 0.5

// factors are those that a round may have, the largest first.
var factors = []float64{1, 0.7, 0.5, 0.35, 0.25}

const (
	// ample is how many times the time expected of a first round must fit into its part of the budget to be measured whole.
	ample = 3
	// overtime is by what share of the budget the last slot may end late.
	overtime = 0.02
)

// NewPacer returns a pacer for the slots of a schedule.
func NewPacer(s *Schedule) *Pacer {
	p := &Pacer{plan: s, known: make([]took, len(s.groups)), exps: map[string]*tally{}, round: -1, factor: 1, costs: map[costKey]units.Nanos{}}
	for i := range s.groups {
		p.tally(i).unknown += float64(p.cost(i, 1)) / p.every(i)
	}
	return p
}

// tally is that of a group's experiment.
func (p *Pacer) tally(group int) *tally {
	name := p.plan.groups[group].exp.Name()
	if p.exps[name] == nil {
		p.exps[name] = &tally{}
	}
	return p.exps[name]
}

// bounded reports whether there is a budget, and something is known of the time of slots.
func (p *Pacer) bounded() bool { return p.plan.Plan.Budget > 0 && p.plan.Limits.Path.Known() }

func (p *Pacer) group(s Slot) int {
	if s.Round != p.round {
		p.round, p.order = s.Round, p.plan.order(p.plan.rng(s.Round))
	}
	return p.order[s.ID%len(p.order)]
}

// Took tells how long a slot took.
func (p *Pacer) Took(s Slot, t units.Nanos) {
	i := p.group(s)
	exp := p.tally(i)
	if planned := p.cost(i, p.factor); planned > 0 {
		exp.expected += float64(planned) * p.part(s, i)
		exp.real += float64(t)
	}
	if len(s.Points) != len(p.plan.groups[i].points) {
		return
	}
	if p.known[i].time > 0 {
		exp.known -= p.whole(i, 1) / p.every(i)
	} else {
		exp.unknown -= float64(p.cost(i, 1)) / p.every(i)
	}
	p.known[i] = took{max(1, t), p.factor}
	exp.known += p.whole(i, 1) / p.every(i)
}

// every says that one in so many of the least rounds measures a group.
func (p *Pacer) every(group int) float64 { return float64(p.plan.groups[group].every) }

// part is which part of its group's points a slot has.
func (p *Pacer) part(s Slot, group int) float64 {
	return float64(len(s.Points)) / float64(max(1, len(p.plan.groups[group].points)))
}

// cost is what the plan expects of a group with a factor of its effort.
func (p *Pacer) cost(group int, factor float64) units.Nanos {
	key := costKey{group, factor}
	if t, ok := p.costs[key]; ok {
		return t
	}
	g := &p.plan.groups[group]
	l := p.plan.Limits
	l.Effort = g.effort.orWhole() * Effort(factor)
	t := g.slot
	for _, point := range g.points {
		t += g.exp.Cost(l, point).On(l.OnPath())
	}
	p.costs[key] = t
	return t
}

// Expect is how long a slot is expected to take with a factor of its effort.
func (p *Pacer) Expect(s Slot, factor float64) units.Nanos {
	i := p.group(s)
	return units.Nanos(p.part(s, i) * p.whole(i, factor))
}

// whole is how long a slot with all points of a group is expected to take [ns].
func (p *Pacer) whole(group int, factor float64) float64 {
	t := float64(p.cost(group, factor))
	if k := p.known[group]; k.time > 0 {
		return float64(k.time) * t / float64(max(1, p.cost(group, k.factor)))
	}
	return t * p.tally(group).correction()
}

// Begin says with which factor of their effort a round's slots are measured, and which of them: those that fit into the round's
// part of what is left of the budget. spent is what was measured in all. Where not all fit, an experiment gets its share, and
// other slots of it in every round.
func (p *Pacer) Begin(r int, slots []Slot, spent units.Nanos) (float64, []Slot) {
	p.factor = 1
	if !p.bounded() || len(slots) == 0 {
		return p.factor, slots
	}
	if r >= p.plan.Rounds { // the last rounds may use up all
		return p.factor, slots
	}
	quota := units.Nanos(float64(max(0, p.plan.Plan.Budget-spent)) * p.partOf(r))
	top := 1.0
	if r == 0 && ample*p.sum(slots, 1) > quota {
		top = firstFactor
	}
	for _, f := range factors {
		if p.factor = f; f <= top && p.sum(slots, f) <= quota {
			return f, slots
		}
	}
	return p.factor, p.chosen(r, slots, quota)
}

// partOf is the part that round r has of the time from it to the end of the least rounds.
func (p *Pacer) partOf(r int) float64 {
	all, own := 0.0, 0.0
	for k := r; k < p.plan.Rounds; k++ {
		for i := range p.plan.groups {
			if p.plan.groups[i].due(k, p.plan.Rounds) {
				all += p.whole(i, 1)
			}
		}
		if k == r {
			own = all
		}
	}
	if all <= 0 {
		return 1
	}
	return own / all
}

// sum is how long slots are expected to take.
func (p *Pacer) sum(slots []Slot, factor float64) units.Nanos {
	var t units.Nanos
	for _, s := range slots {
		t += p.Expect(s, factor)
	}
	return t
}

// phaseStream is that of the generator which draws the slots of rounds that have no room for all.
const phaseStream = 1 << 34

// chosen leaves out slots until the rest fit: of each experiment above its share as many as it takes, others in every round.
func (p *Pacer) chosen(r int, slots []Slot, quota units.Nanos) []Slot {
	var need, weight []float64
	at := map[string]int{} // of an experiment in need and weight
	for _, s := range slots {
		if _, ok := at[s.Exp]; !ok {
			at[s.Exp] = len(need)
			need, weight = append(need, 0), append(weight, shareOf(s.Exp))
		}
		need[at[s.Exp]] += float64(p.Expect(s, p.factor))
	}
	part := allot(float64(quota), need, weight)
	phase := rand.New(rand.NewPCG(p.plan.Plan.Seed, phaseStream)).Float64()
	credit := make([]float64, len(part))
	for i := range part {
		part[i] /= max(1, need[i])
		credit[i] = math.Mod(phase+float64(r)*math.Phi, 1)
	}
	var out []Slot
	for _, s := range slots {
		i := at[s.Exp]
		if credit[i] += part[i]; credit[i] >= 1 {
			credit[i]--
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return slots[:1]
	}
	return out
}

// Fits reports whether a slot is expected to end within the budget.
func (p *Pacer) Fits(s Slot, spent units.Nanos) bool {
	if !p.bounded() {
		return true
	}
	return float64(spent+p.Expect(s, p.factor)) <= (1+overtime)*float64(p.plan.Plan.Budget)
}

// Done is the share of the run that is done, when the slots of rest are left of round r.
func (p *Pacer) Done(r int, rest []Slot, done float64, spent units.Nanos) float64 {
	rounds := p.plan.Plan.Rounds.Max
	if spent > 0 && p.plan.Limits.Path.Known() {
		return float64(spent) / p.through(rounds, r, rest, spent)
	}
	return min(1, max((float64(r)+done)/float64(rounds), float64(spent)/p.budget(spent)))
}

// Until is how long it takes until n rounds are over, when the slots of rest are left of round r; 0 where that is not known.
func (p *Pacer) Until(n, r int, rest []Slot, spent units.Nanos) units.Nanos {
	if !p.plan.Limits.Path.Known() {
		return 0
	}
	return units.Nanos(p.through(n, r, rest, spent)) - spent
}

// through is when n rounds will be over, or the budget, or what is left of round r [ns of measuring].
func (p *Pacer) through(n, r int, rest []Slot, spent units.Nanos) float64 {
	all := float64(spent + p.sum(rest, p.factor))
	for _, e := range p.exps {
		all += (e.known + e.unknown*e.correction()) * float64(max(0, n-r-1))
	}
	return min(all, p.budget(spent))
}

// budget is that of the plan [ns], or what was spent where that is more.
func (p *Pacer) budget(spent units.Nanos) float64 {
	if b := p.plan.Plan.Budget; b > 0 {
		return float64(max(b, spent))
	}
	return math.Inf(1)
}
