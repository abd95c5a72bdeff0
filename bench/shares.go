package bench

import (
	"slices"
	"strings"

	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Every experiment has a share of the measuring time, relative to those of the others in the plan. What one does not need is
// the others'. Bursts and streams of pairs have the largest, because a, b, a_c and b_c are from them.
var shares = map[string]float64{
	names.Clock: 3, names.Pingpong: 20, names.Wakeup: 4, names.Paired: 25, names.Overhead: 9, names.Gap: 12, names.Gather: 14,
	names.Load: 6, names.PRTT: 6, names.Copy: 2, names.Pattern: 10,
}

// otherShare is that of the experiments which only the full plan has.
const otherShare = 8

func shareOf(name string) float64 {
	if s, ok := shares[name]; ok {
		return s
	}
	return otherShare
}

// expendable lists the experiments that a short budget leaves out, the first one first. The rest stay: without clocks, ping-pongs
// and pairs there is no model.
var expendable = []string{
	names.Stamps, names.Remap, names.Overlap, names.NoDelay, names.Buffer, names.Fragment, names.Bcast, names.Flood, names.Pattern,
	names.PRTT, names.Copy, names.Load, names.Wakeup, names.Gather, names.Gap, names.Overhead,
}

// planned is the share of the budget that a forecast may fill: slots take longer than expected now and then.
const planned = 0.9

// LeftOut is what a budget has no room for.
type LeftOut struct {
	Experiment string `json:"experiment"`
	// What says how the experiment was made thinner; empty where it is left out as a whole.
	What []string `json:"what,omitempty"`
	// Time is what all of it would take in the least rounds, Kept what is planned of it.
	Time units.Nanos `json:"time_ns"`
	Kept units.Nanos `json:"kept_ns"`
}

// fit makes drafts thinner until the least rounds of them fit into the plan's budget: each experiment within its share, then
// without the expendable ones, then in fewer rounds. It needs a budget and a path that is known; else it changes nothing.
func (s *Schedule) fit(drafts []*draft) ([]*draft, error) {
	if s.Plan.Budget <= 0 || !s.Limits.Path.Known() {
		return drafts, nil
	}
	least := s.Plan.Rounds.Min
	left := map[string]bool{}
	for rounds := least; ; {
		kept, err := s.fresh(drafts, left)
		if err != nil {
			return nil, err
		}
		perRound := units.Nanos(planned * float64(s.Plan.Budget) / float64(rounds))
		fits, err := share(kept, perRound)
		if err != nil {
			return nil, err
		}
		next := slices.IndexFunc(expendable, func(name string) bool {
			return !s.Plan.Chosen && slices.ContainsFunc(kept, func(d *draft) bool { return d.exp.Name() == name })
		})
		switch {
		case !fits && next >= 0:
			left[expendable[next]] = true
			continue
		case !fits && rounds > 1:
			rounds--
			continue
		}
		s.Rounds = rounds
		s.account(drafts, kept, least)
		return kept, nil
	}
}

// fresh drafts again what is not left out.
func (s *Schedule) fresh(drafts []*draft, left map[string]bool) ([]*draft, error) {
	var out []*draft
	for _, d := range drafts {
		if left[d.exp.Name()] {
			continue
		}
		n, err := newDraft(d.exp, s.Plan, s.Limits)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// share gives every draft its share of a time: those that need less than theirs give the rest to the others. It reports
// whether all could be made to fit.
func share(drafts []*draft, total units.Nanos) (bool, error) {
	open, rest, weight := slices.Clone(drafts), float64(total), 0.0
	for _, d := range open {
		weight += shareOf(d.exp.Name())
	}
	for done := false; !done; {
		done = true
		for i := 0; i < len(open); i++ {
			own := shareOf(open[i].exp.Name())
			if need := float64(open[i].time()); need <= rest*own/weight {
				rest, weight = rest-need, weight-own
				open = slices.Delete(open, i, i+1)
				done = false
				break
			}
		}
	}
	for _, d := range open {
		if _, err := d.within(units.Nanos(rest * shareOf(d.exp.Name()) / weight)); err != nil {
			return false, err
		}
	}
	// What cannot be as thin as its share may still fit where others need less.
	var sum units.Nanos
	for _, d := range drafts {
		sum += d.time()
	}
	return sum <= total, nil
}

// account keeps what was left out.
func (s *Schedule) account(all, kept []*draft, least int) {
	s.Left = nil
	for _, d := range all {
		i := slices.IndexFunc(kept, func(k *draft) bool { return k.exp.Name() == d.exp.Name() })
		l := LeftOut{Experiment: d.exp.Name(), Time: d.full * units.Nanos(least)}
		if i >= 0 {
			if len(kept[i].thin) == 0 {
				continue
			}
			for _, t := range kept[i].thin {
				_, what, _ := strings.Cut(t, "\x00")
				l.What = append(l.What, what)
			}
			l.Kept = kept[i].time() * units.Nanos(s.Rounds)
		}
		s.Left = append(s.Left, l)
	}
}
