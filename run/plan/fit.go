package plan

import (
	"cmp"
	"slices"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Every experiment has a share of a round's time, relative to those of the others in the plan. What one does not need
// is the others'. Bursts and streams of pairs have the largest, because a, b, a_c and b_c are from them.
var shares = map[string]float64{
	names.Clock: 3, names.Pingpong: 20, names.Wakeup: 4, names.Paired: 25, names.Overhead: 9, names.Gap: 12, names.Gather: 14,
	names.Load: 6, names.PRTT: 6, names.Copy: 2, names.Pattern: 10, names.Flood: 6, names.Fragment: 3, names.Buffer: 3,
}

// otherShare is that of the experiments which only the full plan has.
const otherShare = 8

// optional lists the experiments that a short budget may have no room for, the first one first. The others stay: without
// clocks, ping-pongs and pairs there is no model.
var optional = []string{
	names.PRTT, names.Overhead, names.Gap, names.Gather, names.Wakeup, names.Load, names.Copy, names.Pattern, names.Flood,
	names.Bcast, names.Fragment, names.Buffer, names.NoDelay, names.Overlap, names.Remap,
}

const (
	// recorded is how many optional experiments give numbers of record: up to gather.
	recorded = 4
	// planned is the share of the budget that a forecast may fill: slots take longer than expected now and then.
	planned = 0.9
	// manyRounds is how many rounds a plan without a bound aims at.
	manyRounds = 30
	// affordablePart is the share of the budget that one point may take at all.
	affordablePart = 1.0 / 3
)

// timed reports whether time bounds a run of the plan, and something is known of the time of slots.
func (p *Plan) timed(l bench.Limits) bool { return p.Budget > 0 && l.Path.Known() }

// fit makes the drafts fit the budget: in as many rounds as have all of the experiments of record that the least rounds
// have. Where not even the least rounds fit, there are fewer. Without a budget and a path that is known it changes nothing.
func (s *Schedule) fit(all []*draft) []*draft {
	if !s.Plan.timed(s.Limits) {
		return all
	}
	var possible []*draft
	for _, d := range all {
		d = d.clone()
		d.costs(d.lightest())
		d.points = slices.DeleteFunc(d.points, d.tooLong)
		if d.costs(d.limits.Effort); len(d.points) > 0 || d.core() {
			possible = append(possible, d)
		}
	}
	least := s.Plan.Rounds.Min
	var kept []*draft
	fits := false
	for need := needSizes; need >= needEnds && !fits; need-- {
		for _, d := range possible {
			d.need = need
		}
		kept, fits = s.divide(possible, least, 2)
	}
	for n := s.aim() / least * least; n > least && fits; n -= least {
		if more, fit := s.divide(possible, n, 2); fit && ofRecord(more) >= ofRecord(kept) {
			kept = more
			break
		}
	}
	for n := least; !fits && n >= 1; n-- {
		s.Rounds = n
		kept, fits = s.divide(possible, n, 1)
	}
	return kept
}

// ofRecord is how many of the experiments are among the first optional ones: numbers of record are read from them.
func ofRecord(drafts []*draft) (n int) {
	for _, d := range drafts {
		if slices.Contains(optional[:recorded], d.exp.Name) {
			n++
		}
	}
	return n
}

// tooLong reports whether one point takes too much of the budget even when it is measured once. What the user named stays.
func (d *draft) tooLong(p drafted) bool {
	named := d.limits.Sizes != nil && p.point[names.FactorBytes] > 0
	return float64(p.time) > affordablePart*float64(d.plan.Budget) && !named
}

// divide chooses what n rounds measure. What takes long is measured in so many of them at least (times). An optional
// experiment is part of them where what models need leaves a tenth of the rounds for more points. It reports whether n
// rounds fit.
func (s *Schedule) divide(all []*draft, n, times int) (kept []*draft, fits bool) {
	in := slices.DeleteFunc(slices.Clone(all), func(d *draft) bool { return !d.core() })
	for _, name := range optional {
		with := slices.DeleteFunc(slices.Clone(all), func(d *draft) bool { return d.exp.Name != name && !slices.Contains(in, d) })
		if _, _, room := s.needs(with, n, times); room >= s.perRound(n)/10 {
			in = with
		}
	}
	return s.filled(in, n, times)
}

// seldom says in which of n rounds a point is measured at first, one in every, and what takes long, one in rarest.
func (s *Schedule) seldom(n, times int) (every, rarest int) {
	return max(1, n/s.Plan.Rounds.Min), max(1, n/times)
}

// needs returns copies of drafts that have what models need in n rounds, the shares of the drafts, and the room that is
// left of a round.
func (s *Schedule) needs(all []*draft, n, times int) (out []*draft, shares []units.Nanos, room units.Nanos) {
	room = s.perRound(n)
	shares = sharesOf(all, room)
	every, rarest := s.seldom(n, times)
	for i, d := range all {
		d = d.clone()
		d.fill(shares[i], 0, every, rarest)
		out, room = append(out, d), room-d.time
	}
	return out, shares, room
}

// filled returns copies of drafts that take what models need in n rounds, then their shares, and then what others leave,
// those with the largest shares first. It reports whether n rounds fit.
func (s *Schedule) filled(all []*draft, n, times int) ([]*draft, bool) {
	out, shares, room := s.needs(all, n, times)
	every, rarest := s.seldom(n, times)
	open := make([]int, len(all))
	for i := range open {
		open[i] = i
	}
	slices.SortStableFunc(open, func(i, j int) int { return cmp.Compare(weight(all[j]), weight(all[i])) })
	more := func(i int, limit units.Nanos) {
		if was := out[i].time; was < limit && was < all[i].time && room > 0 {
			out[i] = all[i].clone()
			out[i].fill(shares[i], min(limit, was+room), every, rarest)
			room -= out[i].time - was
		}
	}
	for _, i := range open {
		more(i, shares[i])
	}
	for _, i := range open {
		more(i, out[i].time+room)
	}
	sum := units.Nanos(0)
	for _, d := range out {
		d.points = slices.DeleteFunc(d.points, func(p drafted) bool { return p.every == 0 })
		sum += d.time
	}
	return out, sum <= s.perRound(n)
}

// aim is how many rounds the plan aims at: many, as far as it allows them.
func (s *Schedule) aim() int {
	if limit := s.Plan.Rounds.Max; limit > 0 {
		return min(limit, manyRounds)
	}
	return manyRounds
}

// perRound is what a round may take where there are to be n.
func (s *Schedule) perRound(n int) units.Nanos {
	return units.Nanos(planned * float64(s.Plan.Budget) / float64(n))
}

// sharesOf divides a time among drafts; what one does not need is the others'.
func sharesOf(drafts []*draft, room units.Nanos) []units.Nanos {
	order, out, weights := make([]int, len(drafts)), make([]units.Nanos, len(drafts)), make([]float64, len(drafts))
	left := 0.0
	for i, d := range drafts {
		order[i], weights[i] = i, weight(d)
		left += weights[i]
	}
	slices.SortStableFunc(order, func(i, j int) int { // who needs least of its share first
		return cmp.Compare(float64(drafts[i].time)*weights[j], float64(drafts[j].time)*weights[i])
	})
	for _, i := range order {
		out[i] = min(drafts[i].time, units.Nanos(float64(room)*weights[i]/left))
		room, left = room-out[i], left-weights[i]
	}
	return out
}

// weight is the share of an experiment.
func weight(d *draft) float64 { return cmp.Or(shares[d.exp.Name], otherShare) }
