package bench

import (
	"cmp"
	"slices"

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

// essential reports whether the experiment stays.
func (d *draft) essential() bool { return !slices.Contains(expendable, d.exp.Name()) }

// planned is the share of the budget that a forecast may fill: slots take longer than expected now and then.
const planned = 0.9

// aimed is that share in a plan with targets: the rest is for what their intervals need, which is known after the least rounds.
const aimed = 0.5

// LeftOut is what a budget has no room for.
type LeftOut struct {
	Experiment string `json:"experiment"`
	// What says how the experiment was made thinner; empty where it is left out as a whole.
	What []string `json:"what,omitempty"`
	// Time is what all of it would take in the least rounds, Kept what is planned of it.
	Time units.Nanos `json:"time_ns"`
	Kept units.Nanos `json:"kept_ns"`
}

// squeeze makes every draft fit into its share of a time. It reports which could not be made so thin, and whether all fit together, as they
// may where others need less than their share. What stays in any case is on top of a draft's share at first. Where that is too much, the
// shares are of the time that it leaves, and that essential drafts leave which cannot be made thin enough.
func squeeze(drafts []*draft, total units.Nanos) (stuck []string, fits bool, err error) {
	if stuck, err = allotted(drafts, total); err != nil || timeOf(drafts) <= total {
		return stuck, err == nil, err
	}
	free, still := slices.Clone(drafts), stuck
	for rest := total; ; {
		free = slices.DeleteFunc(free, func(d *draft) bool { return d.essential() && slices.Contains(still, d.exp.Name()) })
		left := total - (timeOf(drafts) - timeOf(free))
		for _, d := range free {
			left -= d.staying()
		}
		if left <= 0 || left == rest {
			return stuck, false, nil
		}
		rest = left
		if still, err = allotted(free, rest); err != nil || timeOf(drafts) <= total {
			return stuck, err == nil, err
		}
	}
}

// allotted makes every draft fit into its share of a time, beside what stays of it, and lists those that could not be made so thin.
func allotted(drafts []*draft, total units.Nanos) (stuck []string, err error) {
	need, weight := make([]float64, len(drafts)), make([]float64, len(drafts))
	for i, d := range drafts {
		need[i], weight[i] = float64(d.time()-d.staying()), shareOf(d.exp.Name())
	}
	for i, most := range allot(float64(total), need, weight) {
		if most >= need[i] {
			continue
		}
		ok, err := drafts[i].within(units.Nanos(most))
		if err != nil {
			return nil, err
		}
		if !ok {
			stuck = append(stuck, drafts[i].exp.Name())
		}
	}
	return stuck, nil
}

// timeOf is how long a round of the drafts takes.
func timeOf(drafts []*draft) units.Nanos {
	var sum units.Nanos
	for _, d := range drafts {
		sum += d.time()
	}
	return sum
}

// find returns the index of an experiment's draft; -1 where there is none.
func find(drafts []*draft, name string) int {
	return slices.IndexFunc(drafts, func(d *draft) bool { return d.exp.Name() == name })
}

// allot divides a total among needs by their weights. Who needs less than its part leaves the rest to the others.
func allot(total float64, need, weight []float64) []float64 {
	order, left := make([]int, len(need)), 0.0
	for i := range need {
		order[i] = i
		left += weight[i]
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(need[i]*weight[j], need[j]*weight[i]) })
	out := make([]float64, len(need))
	for _, i := range order {
		out[i] = min(need[i], total*weight[i]/left)
		total, left = total-out[i], left-weight[i]
	}
	return out
}

// account keeps what was left out.
func (s *Schedule) account(all, kept []*draft, least int) {
	s.Left = nil
	for _, d := range all {
		i := find(kept, d.exp.Name())
		l := LeftOut{Experiment: d.exp.Name(), Time: d.full * units.Nanos(least)}
		if i >= 0 {
			if len(kept[i].thin) == 0 {
				continue
			}
			for _, t := range kept[i].thin {
				l.What = append(l.What, t.text)
			}
			l.Kept = kept[i].time() * units.Nanos(s.Rounds)
		}
		s.Left = append(s.Left, l)
	}
}
