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
}

// took is what is known of a group: how long its last slot took, and with which factor of its effort.
type took struct {
	time   units.Nanos
	factor float64
}

const (
	// firstFactor scales the effort of the first round, from which the others are planned; leastFactor bounds that of a round that
	// would not fit.
	firstFactor = 0.5
	leastFactor = 0.25
	// ample is how many times the time expected of a first round must fit into its part of the budget to be measured whole.
	ample = 3
	// fixedShare is the share of a slot's time that does not depend on the effort.
	fixedShare = 0.4
	// overtime is by what share of the budget the last slot may end late.
	overtime = 0.02
)

// NewPacer returns a pacer for the slots of a schedule.
func NewPacer(s *Schedule) *Pacer {
	return &Pacer{plan: s, known: make([]took, len(s.groups)), real: map[string]float64{}, expected: map[string]float64{}, round: -1, factor: 1}
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
	g := &p.plan.groups[i]
	if whole := p.whole(s, g); whole > 0 {
		p.expected[s.Exp] += (units.Nanos(float64(whole) * scale(p.factor))).Seconds()
		p.real[s.Exp] += t.Seconds()
	}
	if len(s.Points) == len(g.points) {
		p.known[i] = took{t, p.factor}
	}
}

// whole is what the plan expects of the slot's points.
func (p *Pacer) whole(s Slot, g *group) units.Nanos {
	t := g.expected()
	if len(s.Points) == len(g.points) || len(g.points) == 0 {
		return t
	}
	return g.slot + (t-g.slot)*units.Nanos(len(s.Points))/units.Nanos(len(g.points))
}

// scale is how much longer a slot takes with a factor of its effort than with factor 1.
func scale(factor float64) float64 { return fixedShare + (1-fixedShare)*factor }

// Expect is how long a slot is expected to take with a factor of its effort.
func (p *Pacer) Expect(s Slot, factor float64) units.Nanos {
	i := p.group(s)
	g := &p.plan.groups[i]
	if k := p.known[i]; k.time > 0 {
		share := 1.0
		if n := len(g.points); len(s.Points) < n {
			share = float64(len(s.Points)) / float64(n)
		}
		return units.Nanos(float64(k.time) * share * scale(factor) / scale(k.factor))
	}
	off := 1.0
	if e := p.expected[s.Exp]; e > 0 {
		off = p.real[s.Exp] / e
	}
	return units.Nanos(float64(p.whole(s, g)) * scale(factor) * off)
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
	whole := p.sum(slots, 1)
	if r == 0 && ample*whole > quota {
		p.factor = firstFactor
	}
	if most := float64(quota) / float64(max(1, whole)); most < scale(p.factor) {
		p.factor = max(leastFactor, (most-fixedShare)/(1-fixedShare))
	}
	if p.sum(slots, p.factor) <= quota {
		return p.factor, slots
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
			if k := p.known[i]; k.time > 0 {
				all += float64(k.time) / scale(k.factor) * float64(p.plan.Plan.Rounds.Max-r-1)
			} else {
				all += float64(p.plan.groups[i].expected()) * float64(p.plan.Plan.Rounds.Max-r-1)
			}
		}
		share = float64(spent) / min(all, max(float64(p.plan.Plan.Budget), float64(spent)))
	}
	return min(1, share)
}
