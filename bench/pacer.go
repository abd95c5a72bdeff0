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
	plan  *Schedule
	known []took // by group
	// Of what was measured, by experiment: seconds, and seconds that the plan had expected.
	real, expected map[string]float64
	round          int
	order          []int // groups of the round in slot order
	factor         float64
	costs          map[costKey]units.Nanos
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
	return &Pacer{plan: s, known: make([]took, len(s.groups)), costs: map[costKey]units.Nanos{}, real: map[string]float64{}, expected: map[string]float64{}, round: -1, factor: 1}
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
	if planned := p.cost(i, p.factor); planned > 0 {
		p.expected[s.Exp] += planned.Seconds() * p.part(s, i)
		p.real[s.Exp] += t.Seconds()
	}
	if len(s.Points) == len(p.plan.groups[i].points) {
		p.known[i] = took{t, p.factor}
	}
}

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
	if l.Effort = g.effort; l.Effort <= 0 {
		l.Effort = 1
	}
	l.Effort *= Effort(factor)
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
	name := p.plan.groups[group].exp.Name()
	if e := p.expected[name]; e > 0 {
		t *= p.real[name] / e
	}
	return t
}

// Begin says with which factor of their effort a round's slots are measured, and which of them: those that fit into the round's
// part of what is left of the budget. spent is what was measured in all. Where not all fit, an experiment gets its share, and
// other slots of it in every round.
func (p *Pacer) Begin(r int, slots []Slot, spent units.Nanos) (float64, []Slot) {
	p.factor = 1
	if !p.bounded() || len(slots) == 0 {
		return p.factor, slots
	}
	left := max(0, p.plan.Plan.Budget-spent)
	rounds := max(1, p.plan.Rounds-r)
	quota := left / units.Nanos(rounds)
	if r >= p.plan.Rounds { // the last rounds may use up all
		return p.factor, slots
	}
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

// sum is how long slots are expected to take.
func (p *Pacer) sum(slots []Slot, factor float64) units.Nanos {
	var t units.Nanos
	for _, s := range slots {
		t += p.Expect(s, factor)
	}
	return t
}

// chosen leaves out slots until the rest fit: of each experiment above its share as many as it takes, others in every round.
func (p *Pacer) chosen(r int, slots []Slot, quota units.Nanos) []Slot {
	need := map[string]float64{}
	for _, s := range slots {
		need[s.Exp] += float64(p.Expect(s, p.factor))
	}
	part := portions(need, float64(quota))
	phase := rand.New(rand.NewPCG(p.plan.Plan.Seed, phaseStream)).Float64()
	credit := map[string]float64{}
	var out []Slot
	for _, s := range slots {
		if _, ok := credit[s.Exp]; !ok {
			credit[s.Exp] = math.Mod(phase+float64(r)*math.Phi, 1)
		}
		if credit[s.Exp] += part[s.Exp]; credit[s.Exp] >= 1 {
			credit[s.Exp]--
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return slots[:1]
	}
	return out
}

// phaseStream is that of the generator which draws the slots of rounds that have no room for all.
const phaseStream = 1 << 34

// portions divides a time among experiments by their shares, and returns which part of its need each gets.
func portions(need map[string]float64, total float64) map[string]float64 {
	out, weight := map[string]float64{}, 0.0
	for name := range need {
		weight += shareOf(name)
	}
	for {
		met := ""
		for name, n := range need {
			if _, done := out[name]; !done && n <= total*shareOf(name)/weight*(1+1e-9) {
				met = name
				break
			}
		}
		if met == "" {
			break
		}
		out[met], total, weight = 1, total-need[met], weight-shareOf(met)
	}
	for name, n := range need {
		if _, done := out[name]; !done {
			out[name] = max(0, total*shareOf(name)/weight/n)
		}
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
	rounds := float64(p.plan.Plan.Rounds.Max)
	share := (float64(r) + done) / rounds
	if b := p.plan.Plan.Budget; b > 0 {
		share = max(share, float64(spent)/float64(b))
	}
	if p.bounded() && spent > 0 {
		all := float64(spent + p.sum(rest, p.factor))
		for i := range p.known {
			all += p.whole(i, 1) * float64(p.plan.Plan.Rounds.Max-r-1)
		}
		share = float64(spent) / min(all, max(float64(p.plan.Plan.Budget), float64(spent)))
	}
	return min(1, share)
}
