package bench

import (
	"maps"
	"slices"

	"calib/internal/units"
)

// room is what drafts are to fit into, and what they may give up for it.
type room struct {
	left  map[string]bool // experiments that are left out
	total units.Nanos     // of a round
	way
}

// way is what the essential experiments may give up. The others always give up points.
type way struct {
	rarest int   // points that take long are measured in one of so many rounds at least; up to 1: in every round
	drops  drops // which of the points that take longest are left out
}

// ways are those for so many rounds, the gentlest first.
func ways(rounds int) []way {
	out := []way{{}}
	for n := 2; n <= min(rarest, rounds/leastMeasured); n++ {
		out = append(out, way{rarest: n})
	}
	return append(out, way{len(out), dropSpare}, way{len(out), dropAny})
}

// fit makes drafts thinner until the least rounds of them fit into the plan's budget: each experiment within its share, then
// without some of the expendable ones, then in fewer rounds. It needs a budget and a path that is known; else it changes nothing.
func (s *Schedule) fit(drafts []*draft) ([]*draft, error) {
	if s.Plan.Budget <= 0 || !s.Limits.Path.Known() {
		return drafts, nil
	}
	least := s.Plan.Rounds.Min
	left := map[string]bool{}
	for s.Rounds = least; s.Rounds >= 1; s.Rounds-- {
		kept, by, err := s.gentlest(drafts, left)
		if err != nil {
			return nil, err
		}
		if kept == nil {
			continue
		}
		if s.Plan.Targeted && s.Rounds == least && by.way == (way{}) {
			if kept, err = s.shorter(drafts, kept, by); err != nil {
				return nil, err
			}
		}
		s.account(drafts, kept, least)
		return kept, nil
	}
	// Not even one round: a run has of it what there is time for.
	s.Rounds = 1
	kept := without(drafts, room{left: left, way: way{drops: dropAny}})
	if _, _, err := squeeze(kept, 0); err != nil {
		return nil, err
	}
	s.account(drafts, kept, least)
	return kept, nil
}

// perRound is what a round may take of a share of the budget.
func (s *Schedule) perRound(share float64) units.Nanos {
	return units.Nanos(share * float64(s.Plan.Budget) / float64(s.Rounds))
}

// gentlest makes drafts fit into the rounds in the gentlest way, but for points that the models of selective experiments need: for those it
// takes a harder one that leaves no point of an essential experiment out. It returns nil where they fit in no way; left is then what may be left
// out.
func (s *Schedule) gentlest(drafts []*draft, left map[string]bool) (kept []*draft, by room, err error) {
	for _, w := range ways(s.Rounds) {
		if kept != nil && (w.drops > dropNone || keptOf(drafts, kept) == keepAll) {
			break
		}
		r := room{maps.Clone(left), s.perRound(planned), w}
		fitting, err := s.fitted(drafts, r)
		if err != nil {
			return nil, by, err
		}
		if fitting != nil && (kept == nil || keptOf(drafts, fitting) < keptOf(drafts, kept)) {
			kept, by = fitting, r
		}
		if kept == nil {
			maps.Copy(left, r.left)
		}
	}
	return kept, by, nil
}

// keptOf is what stays of the selective drafts of all: keepAll where there are none, and keepAny where one is left out.
func keptOf(all, kept []*draft) keep {
	least := keepAll
	for _, d := range all {
		if !d.selective() {
			continue
		}
		i := find(kept, d.exp.Name())
		if i < 0 {
			return keepAny
		}
		least = max(least, kept[i].keep)
	}
	return least
}

// shorter makes the drafts of kept thinner still, so that the least rounds leave time to the rounds after them; not where that would cost
// more than such rounds give back.
func (s *Schedule) shorter(drafts, kept []*draft, r room) ([]*draft, error) {
	r.total = s.perRound(aimed)
	less, _, err := share(drafts, r)
	if err != nil || less == nil {
		return kept, err
	}
	for i := range less {
		if less[i].poorer(kept[i]) {
			return kept, nil
		}
	}
	return less, nil
}

// fitted leaves out expendable experiments until the others fit into the room, and takes back what there is room for after all. It
// returns nil where nothing fits; room.left is then what may be left out.
func (s *Schedule) fitted(drafts []*draft, r room) ([]*draft, error) {
	kept, stuck, err := share(drafts, r)
	for ; kept == nil; kept, stuck, err = share(drafts, r) {
		if err != nil {
			return nil, err
		}
		name := s.nextExpendable(drafts, r.left, stuck)
		if name == "" {
			return nil, nil
		}
		r.left[name] = true
	}
	for _, name := range slices.Backward(expendable) {
		if !r.left[name] {
			continue
		}
		delete(r.left, name)
		more, _, err := share(drafts, r)
		if err != nil {
			return nil, err
		}
		if r.left[name] = more == nil; more != nil {
			kept = more
		}
	}
	return kept, nil
}

// nextExpendable is what is left out next: an experiment that does not fit into its share, or the first one that there is.
func (s *Schedule) nextExpendable(drafts []*draft, left map[string]bool, stuck []string) string {
	if s.Plan.Chosen {
		return ""
	}
	first := ""
	for _, name := range expendable {
		if left[name] || find(drafts, name) < 0 {
			continue
		}
		if slices.Contains(stuck, name) {
			return name
		}
		if first == "" {
			first = name
		}
	}
	return first
}

// without are the drafts, whole, of what is not left out.
func without(drafts []*draft, r room) []*draft {
	var out []*draft
	for _, d := range drafts {
		if r.left[d.exp.Name()] {
			continue
		}
		n := d.whole()
		if n.drops = dropAny; d.essential() {
			n.way = r.way
		}
		out = append(out, n)
	}
	return out
}

// share makes the drafts of what is not left out fit into the room together, each into its share where it can; rather with the points that
// their models need than without. It returns nil where they do not fit, and the names of those that could not be made thin enough.
func share(drafts []*draft, r room) ([]*draft, []string, error) {
	poorest, stuck, err := keeping(keepAny, drafts, r)
	if err != nil || poorest == nil {
		return nil, stuck, err
	}
	if !slices.ContainsFunc(poorest, (*draft).selective) {
		return poorest, nil, nil // the others are the same
	}
	for least := keepAll; least < keepAny; least++ {
		if kept, _, err := keeping(least, drafts, r); err != nil || kept != nil {
			return kept, nil, err
		}
	}
	return poorest, nil, nil
}

// keeping is share where a given part of the selective drafts stays.
func keeping(least keep, drafts []*draft, r room) ([]*draft, []string, error) {
	kept := without(drafts, r)
	for _, d := range kept {
		d.keep = least
	}
	stuck, fits, err := squeeze(kept, r.total)
	if err != nil || !fits {
		return nil, stuck, err
	}
	return kept, nil, nil
}
