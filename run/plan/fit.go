package plan

import (
	"cmp"
	"slices"

	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/units"
)

// weights are the shares of experiments in a round, relative to each other. What one does not need is the others'.
// Bursts and streams of pairs have the largest, because a, b, a_c and b_c are from them.
var weights = map[string]float64{
	names.Clock: 3, names.Pingpong: 20, names.Wakeup: 4, names.Paired: 25, names.Overhead: 9, names.Gap: 12,
	names.Gather: 14, names.Load: 6, names.PRTT: 6, names.Copy: 2, names.Pattern: 10, names.Flood: 6,
	names.Fragment: 3, names.Buffer: 3,
}

// otherWeight is that of the experiments which only the full plan has.
const otherWeight = 8

// optional lists the experiments that a short budget may have no room for, the first one first. The others stay:
// without clocks, ping-pongs and pairs there is no model.
var optional = []string{
	names.PRTT, names.Overhead, names.Gap, names.Gather, names.Wakeup, names.Load, names.Copy, names.Pattern, names.Flood,
	names.Fragment, names.Buffer, names.NoDelay, names.Overlap, names.Remap,
}

const (
	// recorded is how many of the first optional experiments are worth fewer rounds: numbers of record are read from them.
	recorded = 4
	// filled is the share of the budget that a forecast may fill: slots take longer than expected now and then.
	filled = 0.9
	// manyRounds is how many rounds a plan aims at.
	manyRounds = 30
	// affordablePart is the share of the budget that one point may take at all.
	affordablePart = 1.0 / 3
)

// timed reports whether time bounds a run of the plan, and something is known of the time of slots.
func (p *Plan) timed() bool { return p.Budget > 0 && p.Limits.Path.Known() }

// fit makes the drafts fit the budget. It aims at the most rounds that leave out no experiment of record. Where not
// even the least rounds fit, models get less of what they need, and at last there are fewer rounds. Without a budget,
// or where the path is not known, it changes nothing.
func (s *Schedule) fit(all []*draft) []*draft {
	if !s.Plan.timed() {
		return all
	}
	for _, d := range all {
		d.points = slices.DeleteFunc(d.points, d.tooLong)
		d.sum()
	}
	all = slices.DeleteFunc(all, func(d *draft) bool { return len(d.points) == 0 })
	least := s.Plan.Rounds.Min
	for level := needSizes; level >= needEnds; level-- {
		kept, fits := s.divide(all, level, least, 2)
		for n := s.aim() / least * least; n > least && fits; n -= least {
			if more, fit := s.divide(all, level, n, 2); fit && ofRecord(more) >= ofRecord(kept) {
				return more
			}
		}
		if fits {
			return kept
		}
	}
	for ; ; s.Rounds-- {
		if kept, fits := s.divide(all, needEnds, s.Rounds, 1); fits || s.Rounds == 1 {
			return kept
		}
	}
}

// ofRecord is how many of the experiments are among the first optional ones (recorded).
func ofRecord(drafts []*draft) int {
	return lists.Count(drafts, func(d *draft) bool { return slices.Contains(optional[:recorded], d.exp.Name) })
}

// tooLong reports whether one point takes too much of the budget even when it is measured once. What the user named
// stays.
func (d *draft) tooLong(p drafted) bool {
	named := d.limits.Sizes != nil && p.point[names.FactorBytes] > 0
	return float64(p.times[0]) > affordablePart*float64(d.plan.Budget) && !named
}

// divide chooses what n rounds measure: first the needed points of the core experiments; then those of the others, one
// experiment after the other, if a tenth of a round is still free with them and, unless numbers of record are read from
// them, they take no more than a tenth; then, step by step, more of that experiment which has least of its share. Long
// points are measured in leastTimes rounds at least. It reports whether n rounds fit.
func (s *Schedule) divide(all []*draft, level, n, leastTimes int) (kept []*draft, fits bool) {
	every, rarest := max(1, n/s.Plan.Rounds.Min), max(1, n/leastTimes)
	needs := func(in []*draft) (out []*draft, room units.Nanos) {
		room = s.perRound(n)
		sum := lists.Sum(in, (*draft).weight)
		for _, d := range in {
			d = d.needs(level, units.Nanos(float64(s.perRound(n))*d.weight()/sum), every, rarest)
			out, room = append(out, d), room-d.time
		}
		return out, room
	}
	in := lists.Where(all, (*draft).core)
	kept, room := needs(in)
	tenth := s.perRound(n) / 10
	for i, name := range optional {
		with := lists.Where(all, func(d *draft) bool { return d.exp.Name == name || slices.Contains(in, d) })
		if more, left := needs(with); left >= tenth && (i < recorded || room-left <= tenth) {
			in, kept, room = with, more, left
		}
	}
	fits = room >= 0
	leastOfShare := func(a, b *draft) int {
		return cmp.Compare(float64(a.time)*b.weight(), float64(b.time)*a.weight())
	}
	for kind := range kinds {
		open := slices.Clone(kept)
		for len(open) > 0 {
			if d := slices.MinFunc(open, leastOfShare); len(d.steps[kind]) > 0 {
				room -= d.grow(kind, room)
			} else {
				open = slices.DeleteFunc(open, func(x *draft) bool { return x == d })
			}
		}
	}
	return kept, fits
}

// aim is how many rounds the plan aims at: manyRounds, or its largest number where that is less.
func (s *Schedule) aim() int {
	return min(cmp.Or(s.Plan.Rounds.Max, manyRounds), manyRounds)
}

// perRound is what a round may take where there are to be n.
func (s *Schedule) perRound(n int) units.Nanos {
	return units.Nanos(filled * float64(s.Plan.Budget) / float64(n))
}

// weight is the share of the experiment.
func (d *draft) weight() float64 { return cmp.Or(weights[d.exp.Name], otherWeight) }
