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
	names.Load: 6, names.PRTT: 6, names.Copy: 2, names.Pattern: 10,
}

// otherShare is that of the experiments which only the full plan has.
const otherShare = 8

// expendable lists the experiments that a short budget leaves out, the first one first. The rest stay: without clocks,
// ping-pongs and pairs there is no model.
var expendable = []string{
	names.Remap, names.Overlap, names.NoDelay, names.Buffer, names.Fragment, names.Bcast, names.Flood, names.Pattern,
	names.PRTT, names.Copy, names.Load, names.Wakeup, names.Gather, names.Gap, names.Overhead,
}

const (
	// planned is the share of the budget that a forecast may fill: slots take longer than expected now and then.
	planned = 0.9
	// manyRounds is how many rounds a plan without a bound aims at.
	manyRounds = 30
	// A plan of many rounds measures every point in spreadMeasured of them or more.
	spreadMeasured = 6
)

// timed reports whether time bounds a run of the plan, and something is known of the time of slots.
func (p *Plan) timed(l bench.Limits) bool { return p.Budget > 0 && l.Path.Known() }

// fit makes the drafts fit the budget. Repetitions go before points, points before experiments, and experiments before
// rounds; docs/MEASURING.md says in which order. Without a budget and a path that is known it changes nothing.
func (s *Schedule) fit(all []*draft) []*draft {
	if !s.Plan.timed(s.Limits) {
		return all
	}
	possible := make([]*draft, 0, len(all))
	for _, d := range all {
		if d = d.clone(); !d.fewer(d.affordable) || len(d.points) > 0 {
			possible = append(possible, d)
		}
	}
	whole, thin := s.choose(possible)
	kept := s.often(whole) // all points, if there is room for many rounds of them
	if kept == nil {
		kept = s.often(thin)
	}
	if kept == nil {
		kept = thin
	}
	s.account(all, kept)
	return kept
}

// often returns copies of drafts with all their points, for as many rounds as there is room for; nil where these are no
// more than the least.
func (s *Schedule) often(drafts []*draft) []*draft {
	for n := s.aim(); n > max(s.Rounds, spreadMeasured); n-- {
		if many, fits := s.within(drafts, n, false); fits {
			return many
		}
	}
	return nil
}

// choose returns the drafts of which as many rounds as are wanted fit, whole and thin. An expendable experiment that
// takes more than its share when it is thin is left out, unless the user named it, and taken back where there is room
// after all. Where that is not enough, there are fewer rounds.
func (s *Schedule) choose(all []*draft) (kept, thin []*draft) {
	for s.Rounds = s.Plan.Rounds.Min; ; s.Rounds-- {
		var out []*draft
		kept = slices.Clone(all)
		for at := s.tooMuch(kept); at >= 0; at = s.tooMuch(kept) {
			out, kept = append(out, kept[at]), slices.Delete(kept, at, at+1)
		}
		for _, d := range slices.Backward(out) {
			with := slices.DeleteFunc(slices.Clone(all), func(x *draft) bool { return x != d && !slices.Contains(kept, x) })
			if s.tooMuch(with) < 0 {
				kept = with
			}
		}
		thin, fits := s.within(kept, s.Rounds, true)
		if fits || s.Rounds == 1 { // of one round a run has what there is time for
			return kept, thin
		}
	}
}

// tooMuch returns the index of the first expendable draft that takes more than its share when it is thin, or, where
// none does and the drafts do not fit, of the first that is expendable; -1 where there is none.
func (s *Schedule) tooMuch(drafts []*draft) int {
	if s.Plan.Chosen {
		return -1
	}
	shares := sharesOf(drafts, s.perRound(s.Rounds))
	first := -1
	for _, name := range expendable {
		i := find(drafts, name)
		if i < 0 {
			continue
		}
		d := drafts[i].clone()
		for d.time > shares[i] {
			if !d.less(shares[i], s.Rounds, true) {
				return i
			}
		}
		if first < 0 {
			first = i
		}
	}
	if _, fits := s.within(drafts, s.Rounds, true); fits {
		return -1
	}
	return first
}

// within makes copies of drafts take less until n rounds of them fit the budget. Those that take more than their share
// of a round take less first. Where points is true they may lose points. It reports whether n rounds fit.
func (s *Schedule) within(drafts []*draft, n int, points bool) (out []*draft, fits bool) {
	room := s.perRound(n)
	most := room
	for _, d := range drafts {
		out = append(out, d.clone())
	}
	for open := slices.Clone(out); timeOf(out) > most && len(open) > 0; {
		shares := sharesOf(open, room)
		for i, d := range slices.Clone(open) {
			if d.time > shares[i] && !d.less(shares[i], n, points) {
				room = max(0, room-d.time) // it takes what it takes
				open = slices.DeleteFunc(open, func(x *draft) bool { return x == d })
			}
		}
	}
	return out, timeOf(out) <= most
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

// roundsOf is how many rounds of a length the budget has room for.
func (s *Schedule) roundsOf(round units.Nanos) float64 {
	return float64(s.perRound(1)) / float64(max(1, round))
}

// sharesOf divides a time among drafts; what one does not need is the others'.
func sharesOf(drafts []*draft, room units.Nanos) []units.Nanos {
	order, out, weights := make([]int, len(drafts)), make([]units.Nanos, len(drafts)), make([]float64, len(drafts))
	left := 0.0
	for i, d := range drafts {
		order[i], weights[i] = i, cmp.Or(shares[d.exp.Name()], otherShare)
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

// timeOf is how long a round of the drafts takes.
func timeOf(drafts []*draft) (sum units.Nanos) {
	for _, d := range drafts {
		sum += d.time
	}
	return sum
}

// find returns the index of an experiment's draft; -1 where there is none.
func find(drafts []*draft, name string) int {
	return slices.IndexFunc(drafts, func(d *draft) bool { return d.exp.Name() == name })
}
