package plan

import (
	"cmp"
	"math"
	"slices"

	"calib/bench"
	"calib/internal/lists"
	"calib/internal/units"
)

const (
	// overtime is by what share of the budget the last slot may end late.
	overtime = 0.02
	// slack lets a round take so many times its part of the time that is left, and as much again once it has begun.
	slack = 1.25
)

// Pace keeps a run within its budget. It expects a slot to take what it took last. A slot that has not run is expected
// to take its planned time, scaled by how the experiment's slots so far compare with theirs. From that it says which
// slots a round has, and how much of the run is done. It is for one goroutine.
type Pace struct {
	schedule *Schedule
	groups   []soFar
	exps     map[string]ratio
	round    int
	order    []int       // groups of the round in slot order
	first    bool        // no slot of the round has fitted yet
	until    units.Nanos // when the round's part of the budget is over
}

type soFar struct {
	took   units.Nanos // the last slot; 0 before
	rounds int         // in which it was measured
	last   int         // of these; -1 before
}

// ratio is what an experiment's slots took, and what was planned of them.
type ratio struct{ took, planned units.Nanos }

func NewPace(s *Schedule) *Pace {
	groups := slices.Repeat([]soFar{{last: -1}}, len(s.groups))
	return &Pace{schedule: s, groups: groups, exps: map[string]ratio{}, round: -1}
}

func (p *Pace) group(s bench.Slot) int {
	if s.Round != p.round {
		p.round, p.order = s.Round, p.schedule.order(p.schedule.rng(s.Round))
	}
	return p.order[s.ID%len(p.order)]
}

// Took tells how long a slot took.
func (p *Pace) Took(s bench.Slot, t units.Nanos) {
	i := p.group(s)
	p.groups[i].took = max(1, t)
	e := p.exps[s.Exp]
	p.exps[s.Exp] = ratio{e.took + t, e.planned + p.schedule.groups[i].expected}
}

// Round returns the slots of round r: those that are due, and those that were due in a round that left them out.
func (p *Pace) Round(r int, measured func(exp string, team []int) bool) []bench.Slot {
	return p.schedule.slots(r, func(i int) bool { return p.schedule.groups[i].lastDue(r) > p.groups[i].last }, measured)
}

// Measured tells that there are samples of a slot, of this run or of the one that it resumes, or of both.
func (p *Pace) Measured(s bench.Slot) {
	if g := &p.groups[p.group(s)]; g.last < s.Round {
		g.rounds, g.last = g.rounds+1, s.Round
	}
}

func (p *Pace) Expect(s bench.Slot) units.Nanos { return p.expect(p.group(s)) }

func (p *Pace) expect(group int) units.Nanos {
	if t := p.groups[group].took; t > 0 {
		return t
	}
	g := &p.schedule.groups[group]
	if e := p.exps[g.exp.Name]; e.planned > 0 {
		return units.Nanos(float64(g.expected) * float64(e.took) / float64(e.planned))
	}
	return g.expected
}

// Begin returns which slots of a round are measured: all, or, where they do not fit into the round's part of what is
// left of the budget, those that were measured least often. The next round then measures the others. spent is the time
// measured so far.
func (p *Pace) Begin(r int, slots []bench.Slot, spent units.Nanos) []bench.Slot {
	p.first, p.until = true, math.MaxInt64
	if !p.schedule.Plan.timed() || len(slots) == 0 {
		return slots
	}
	left := max(0, p.schedule.Plan.Budget-spent)
	quota := left
	if all := p.leastFrom(r); all > 0 {
		quota = min(left, units.Nanos(slack*float64(left)*float64(p.sum(slots))/float64(all)))
	}
	// A round that takes longer than expected may use some of the next ones' time.
	p.until = spent + units.Nanos(slack*float64(quota))
	rounds := func(s bench.Slot) int { return p.groups[p.group(s)].rounds }
	byNeed := slices.Clone(slots)
	slices.SortStableFunc(byNeed, func(a, b bench.Slot) int { return cmp.Compare(rounds(a), rounds(b)) })
	chosen, sum := map[int]bool{}, units.Nanos(0)
	for _, s := range byNeed {
		if t := p.Expect(s); sum+t <= quota || len(chosen) == 0 && p.within(spent+t) {
			chosen[s.ID] = true
			sum += t
		}
	}
	if len(chosen) == 0 {
		return byNeed[:1] // a run that has nothing yet measures it all the same
	}
	return lists.Where(slots, func(s bench.Slot) bool { return chosen[s.ID] })
}

func (p *Pace) sum(slots []bench.Slot) (t units.Nanos) {
	for _, s := range slots {
		t += p.Expect(s)
	}
	return t
}

// leastFrom is how long the least rounds are expected to take from round r on.
func (p *Pace) leastFrom(r int) (t units.Nanos) {
	for ; r < p.schedule.Rounds; r++ {
		for i := range p.schedule.groups {
			if p.schedule.groups[i].due(r) {
				t += p.expect(i)
			}
		}
	}
	return t
}

// Fits reports whether a slot is expected to end within the budget and overtime, and, unless it is the first of its
// round, within the round's part of it.
func (p *Pace) Fits(s bench.Slot, spent units.Nanos) bool {
	if !p.schedule.Plan.timed() {
		return true
	}
	end := spent + p.Expect(s)
	fits := p.within(end) && (p.first || end <= p.until)
	p.first = p.first && !fits
	return fits
}

// within reports whether a slot that ends at a time ends within the budget and overtime.
func (p *Pace) within(end units.Nanos) bool {
	return float64(end) <= (1+overtime)*float64(p.schedule.Plan.Budget)
}

// Done is the share of the run that is done. Of round r the slots of rest are left; done is the share of its slots that
// is over.
func (p *Pace) Done(r int, rest []bench.Slot, done float64, spent units.Nanos) float64 {
	rounds, budget := p.schedule.MaxRounds(), p.schedule.Plan.Budget
	if spent > 0 && p.schedule.Limits.Path.Known() {
		left, round := float64(p.sum(rest)), 0.0
		for i := range p.schedule.groups {
			round += float64(p.expect(i)) / float64(p.schedule.groups[i].every)
		}
		if left += round * float64(rounds-r-1); budget > 0 {
			left = min(left, float64(max(0, budget-spent)))
		}
		return float64(spent) / (float64(spent) + left)
	}
	share := (float64(r) + done) / float64(rounds)
	if budget > 0 {
		share = max(share, float64(spent)/float64(budget))
	}
	return min(1, share)
}
