package plan

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

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
	// lightest is the share of the plan's effort that an experiment has at least.
	lightest = 0.25
	// thinEffort is that of a design with the essential points only (bench.Limits.Thin).
	thinEffort = 0.25
	// lengthy is the share of an experiment's time in a round from which one point takes long, notable that from which
	// it counts at all.
	lengthy, notable = 1.0 / 3, 0.1
	// minSizes and minCounts stay: both ends, and of sizes one in between, which shows whether a line is straight.
	minSizes, minCounts = 3, 2
	// affordablePart is the share of the budget that one point may take at all.
	affordablePart = 1.0 / 3
	// A point that takes long is measured in one of at most rarest rounds. Two or more of the least rounds have it.
	rarest = 3
	// A plan of many rounds measures every point in spreadMeasured of them or more.
	spreadMeasured = 6
)

// timed reports whether time bounds a run of the plan, and something is known of the time of slots.
func (p *Plan) timed(l bench.Limits) bool { return p.Budget > 0 && l.Path.Known() }

// LeftOut is what a budget has no room for.
type LeftOut struct {
	Experiment string `json:"experiment"`
	// What says how the experiment was made thinner; empty where it is left out as a whole.
	What []string `json:"what,omitempty"`
	// Time is what all of it would take in the least rounds, Kept what is planned of it.
	Time units.Nanos `json:"time_ns"`
	Kept units.Nanos `json:"kept_ns"`
}

// fit makes the drafts fit the budget. Repetitions go before points, points before experiments, and experiments before
// rounds; docs/MEASURING.md says in which order. Without a budget and a path that is known it changes nothing.
func (s *Schedule) fit(all []*draft) ([]*draft, error) {
	if !s.Plan.timed(s.Limits) {
		return all, nil
	}
	possible := make([]*draft, 0, len(all))
	for _, d := range all {
		if d = d.clone(); d.fewer(func(p *drafted) bool { // what the user named stays
			return float64(p.time) <= affordablePart*float64(s.Plan.Budget) || d.limits.Sizes != nil && p.point[names.FactorBytes] > 0
		}) && len(d.points) == 0 {
			continue
		}
		possible = append(possible, d)
	}
	kept, err := s.affordable(possible)
	if err != nil {
		return nil, err
	}
	for i, d := range kept {
		kept[i] = d.clone()
	}
	lighten(kept, s.perRound(s.aim()))
	many := s.spread(kept)
	if many == nil {
		if err := thin(kept, s.perRound(s.Rounds), s.Rounds); err != nil {
			return nil, err
		}
		many = s.spread(kept)
	}
	if many != nil {
		kept = many
	}
	s.account(all, kept)
	return kept, nil
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

// affordable sets how many rounds there are at least, and returns the drafts of which as many fit when they are as thin
// as they can be. It leaves out expendable experiments, unless the user named them, and takes back those for which
// there is room after all.
func (s *Schedule) affordable(all []*draft) ([]*draft, error) {
	var kept []*draft
	for s.Rounds = s.Plan.Rounds.Min; s.Rounds >= 1; s.Rounds-- {
		kept = slices.Clone(all)
		var out []*draft
		fits, err := s.fitsThinnest(kept)
		for ; !fits && err == nil && !s.Plan.Chosen; fits, err = s.fitsThinnest(kept) {
			i := slices.IndexFunc(expendable, func(name string) bool { return find(kept, name) >= 0 })
			if i < 0 {
				break
			}
			at := find(kept, expendable[i])
			out = append(out, kept[at])
			kept = slices.Delete(kept, at, at+1)
		}
		for _, d := range slices.Backward(out) {
			if !fits || err != nil {
				break
			}
			with := slices.DeleteFunc(slices.Clone(all), func(x *draft) bool { return x != d && !slices.Contains(kept, x) })
			var also bool
			if also, err = s.fitsThinnest(with); also {
				kept = with
			}
		}
		if err != nil || fits {
			return kept, err
		}
	}
	s.Rounds = 1 // not even one round: a run has of it what there is time for
	return kept, nil
}

// fitsThinnest reports whether the least rounds fit when every draft is as thin as its share asks for. A draft that
// needs half of its share keeps that much.
func (s *Schedule) fitsThinnest(drafts []*draft) (bool, error) {
	most, total := s.perRound(s.Rounds), units.Nanos(0)
	for i, share := range sharesOf(drafts, most, false) {
		d := drafts[i].clone()
		d.costs(d.effort.OrWhole() * lightest)
		half := min(d.time, share/2)
		for thinner := true; thinner; {
			var err error
			if thinner, err = d.thinner(share, s.Rounds); err != nil {
				return false, err
			}
		}
		total += max(half, d.time)
	}
	return total <= most, nil
}

// sharesOf divides the time of a round among drafts; what one does not need now is the others', where needs count.
func sharesOf(drafts []*draft, most units.Nanos, needs bool) []units.Nanos {
	type part struct{ need, weight float64 }
	parts, order, left := make([]part, len(drafts)), make([]int, len(drafts)), 0.0
	for i, d := range drafts {
		parts[i] = part{float64(most), cmp.Or(shares[d.exp.Name()], otherShare)}
		if needs {
			parts[i].need = float64(d.time)
		}
		order[i] = i
		left += parts[i].weight
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(parts[i].need/parts[i].weight, parts[j].need/parts[j].weight) })
	out, total := make([]units.Nanos, len(drafts)), float64(most)
	for _, i := range order {
		share := min(parts[i].need, total*parts[i].weight/left)
		out[i] = units.Nanos(share)
		total, left = total-share, left-parts[i].weight
	}
	return out
}

// timeOf is how long a round of the drafts takes.
func timeOf(drafts []*draft) units.Nanos {
	var sum units.Nanos
	for _, d := range drafts {
		sum += d.time
	}
	return sum
}

// find returns the index of an experiment's draft; -1 where there is none.
func find(drafts []*draft, name string) int {
	return slices.IndexFunc(drafts, func(d *draft) bool { return d.exp.Name() == name })
}

// reduce takes a rung off one draft after the other, that which is furthest above its share first, until a round takes
// no longer than most or take can take off no more.
func reduce(drafts []*draft, most, of units.Nanos, take func(d *draft, share units.Nanos) (bool, error)) error {
	for timeOf(drafts) > most {
		share := sharesOf(drafts, of, true)
		order := make([]int, len(drafts))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int {
			return cmp.Compare(float64(drafts[j].time)*float64(share[i]), float64(drafts[i].time)*float64(share[j]))
		})
		taken := false
		for _, i := range order {
			var err error
			if taken, err = take(drafts[i], share[i]); err != nil {
				return err
			}
			if taken {
				break
			}
		}
		if !taken {
			return nil
		}
	}
	return nil
}

// lighten halves the effort of drafts until a round takes no longer than most.
func lighten(drafts []*draft, most units.Nanos) {
	_ = reduce(drafts, most, most, func(d *draft, _ units.Nanos) (bool, error) { // take has no error
		e := d.effort.OrWhole() / 2
		if e < d.plan.Limits.Effort.OrWhole()*lightest {
			return false, nil
		}
		d.costs(e)
		return true, nil
	})
}

// thin takes points from drafts until a round takes no longer than most.
func thin(drafts []*draft, most units.Nanos, rounds int) error {
	// A point takes long by the experiment's share. Where that takes too little off, smaller shares do.
	for of := most; of > most/4; of = of * 7 / 10 {
		err := reduce(drafts, most, of, func(d *draft, share units.Nanos) (bool, error) { return d.thinner(share, rounds) })
		if err != nil || timeOf(drafts) <= most {
			return err
		}
	}
	return nil
}

// spread makes rounds shorter without leaving out a point: teams, and points that take long, are measured in some of
// the rounds only, each in spreadMeasured or more. It returns the drafts of as many rounds as can be had; nil where
// they are no more than the least.
func (s *Schedule) spread(drafts []*draft) []*draft {
	for n := s.aim(); n > max(s.Rounds, spreadMeasured); n -= s.Rounds {
		out, most := make([]*draft, len(drafts)), s.perRound(n)
		for i, d := range drafts {
			out[i] = d.clone()
		}
		err := reduce(out, most, most, func(d *draft, share units.Nanos) (bool, error) {
			return d.fewerTeams(n/spreadMeasured) || d.rarer(lengthy*float64(most), n/spreadMeasured), nil
		})
		if err == nil && timeOf(out) <= most {
			return out
		}
	}
	return nil
}

// thinner takes the next rung off, and reports whether there was one.
func (d *draft) thinner(share units.Nanos, rounds int) (bool, error) {
	if done, err := d.essential(); done || err != nil {
		return done, err
	}
	return d.smaller(lengthy*float64(share), true) || d.fewerSizes() || d.fewerCounts() || d.fewerTeams(math.MaxInt) ||
		d.rarer(lengthy*float64(share), min(rarest, rounds-1)) || d.smaller(notable*float64(share), false) ||
		!slices.Contains(expendable, d.exp.Name()) && d.rarer(float64(share), rounds), nil
}

// essential goes over to the design with the essential points.
func (d *draft) essential() (bool, error) {
	if d.limits.Thin() || d.limits.Sizes != nil {
		return false, nil
	}
	l := d.limits
	l.Effort = min(thinEffort, l.Effort.OrWhole())
	n, err := newDraft(d.exp, d.plan, l)
	if err != nil {
		return false, err
	}
	n.fewer(func(p *drafted) bool { return float64(p.time) <= affordablePart*float64(d.plan.Budget) })
	if len(n.points) == 0 {
		return false, nil
	}
	n.costs(d.effort)
	*d = *n
	return true, nil
}

// kindOf is equal for points that differ in nothing but sizes and counts.
func kindOf(p bench.Point) string {
	p = maps.Clone(p)
	delete(p, names.FactorBytes)
	for _, factor := range counts {
		delete(p, factor)
	}
	return p.Key()
}

// counts are the factors that say how many hosts take part.
var counts = []string{names.FactorPairs, names.FactorSenders, names.FactorHosts, names.FactorWindow}

// smaller leaves out the points of the largest size of a kind where one takes longer than a time [ns]. What the user
// named stays, and, where long is set, the last size above a packet.
func (d *draft) smaller(longest float64, long bool) bool {
	if d.limits.Sizes != nil {
		return false
	}
	for i := range d.points {
		p := &d.points[i]
		size := p.point[names.FactorBytes]
		if float64(p.time) <= longest || size == 0 {
			continue
		}
		kind := p.kind
		sizes := d.values(names.FactorBytes, func(q *drafted) bool { return q.kind == kind })
		n := len(sizes)
		if n <= d.minSizes() || size < sizes[n-1] {
			continue
		}
		if packet := int64(d.limits.SegmentSize()); long && sizes[n-2] <= packet && size > packet {
			continue
		}
		d.keep(func(q *drafted) bool { return q.kind != kind || q.point[names.FactorBytes] != size })
		return true
	}
	return false
}

// minSizes is how many sizes stay. Bursts and patterns are compared by numbers of hosts: both ends do.
func (d *draft) minSizes() int {
	if name := d.exp.Name(); name == names.Paired || name == names.Pattern {
		return minCounts
	}
	return minSizes
}

// inner leaves out every second value between the ends; it returns nil where only min are left.
func inner(values []int64, min int) []int64 {
	if len(values) <= min {
		return nil
	}
	out := []int64{values[0]}
	for i := 2; i < len(values)-1; i += 2 {
		out = append(out, values[i])
	}
	return append(out, values[len(values)-1])
}

// fewerSizes leaves out every second size between the ends of each kind.
func (d *draft) fewerSizes() bool {
	return d.limits.Sizes == nil && d.fewerValues(names.FactorBytes, minSizes, func(*drafted) bool { return true })
}

// fewerCounts leaves out every second number of pairs, senders, hosts and windows between the ends of each kind.
// Senders without a window stay.
func (d *draft) fewerCounts() bool {
	done := false
	for _, factor := range counts {
		done = d.fewerValues(factor, minCounts, func(p *drafted) bool {
			return factor != names.FactorWindow || p.point[factor] < p.point[names.FactorSenders]
		}) || done
	}
	return done
}

// fewerValues leaves out every second value of a factor between the ends, of the points of each kind for which it
// counts.
func (d *draft) fewerValues(factor string, min int, counted func(*drafted) bool) bool {
	keep := map[string][]int64{}
	for i := range d.points {
		kind := d.points[i].kind
		if _, had := keep[kind]; !had {
			keep[kind] = inner(d.values(factor, func(q *drafted) bool { return q.kind == kind && counted(q) }), min)
		}
	}
	return d.fewer(func(p *drafted) bool {
		v := p.point[factor]
		return v == 0 || keep[p.kind] == nil || !counted(p) || slices.Contains(keep[p.kind], v)
	})
}

// fewer keeps the points of which f reports true, and reports whether there were others.
func (d *draft) fewer(f func(*drafted) bool) bool {
	before := len(d.points)
	d.keep(f)
	return len(d.points) < before
}

// fewerTeams halves the number of sets that a point is measured on in a round, where other hosts are part of them in
// every round. As many rounds measure as many sets as there are at least.
func (d *draft) fewerTeams(rounds int) bool {
	done := false
	for i := range d.points {
		p := &d.points[i]
		if n := len(p.sets) / 2; n >= 1 && n >= p.teams/rounds && d.sets[p.sets[0]].permuted {
			p.sets, done = p.sets[:n], true
		}
	}
	if done {
		d.sum()
	}
	return done
}

// rarer has the point that takes most of a round measured in fewer of the rounds, if it takes longer than a time [ns].
// What takes long, such as a stream on a slow network, varies less from round to round than what is short.
func (d *draft) rarer(long float64, limit int) bool {
	var longest *drafted
	for i := range d.points {
		if p := &d.points[i]; p.every < limit && float64(p.time) > long && (longest == nil || p.perRound() > longest.perRound()) {
			longest = p
		}
	}
	if longest == nil {
		return false
	}
	longest.every++
	d.sum()
	return true
}

// account keeps what was left out.
func (s *Schedule) account(all, kept []*draft) {
	rounds := s.roundsOf(timeOf(kept))
	for _, d := range all {
		l := LeftOut{Experiment: d.exp.Name(), Time: d.time * units.Nanos(s.Plan.Rounds.Min)}
		if i := find(kept, l.Experiment); i >= 0 {
			if l.What = kept[i].lost(d, rounds); len(l.What) == 0 {
				continue
			}
			l.Kept = min(l.Time, kept[i].time*units.Nanos(s.Rounds))
		}
		s.Left = append(s.Left, l)
	}
}

// lost says what the draft has less of than whole has, in so many rounds.
func (d *draft) lost(whole *draft, rounds float64) []string {
	var out []string
	everything := func(*drafted) bool { return true }
	before, now := whole.values(names.FactorBytes, everything), d.values(names.FactorBytes, everything)
	if len(now) > 0 && now[len(now)-1] < before[len(before)-1] {
		out = append(out, "messages to "+units.Bytes(now[len(now)-1]).String())
	}
	if len(now) < len(before) {
		out = append(out, fmt.Sprintf("%d of %d sizes", len(now), len(before)))
	}
	for _, factor := range counts {
		if before, now := whole.values(factor, everything), d.values(factor, everything); len(now) < len(before) {
			out = append(out, fmt.Sprintf("%s %s of %d", factor, strings.Trim(fmt.Sprint(now), "[]"), len(before)))
		}
	}
	if len(out) == 0 && len(d.points) < len(whole.points) {
		out = append(out, fmt.Sprintf("%d of %d points", len(d.points), len(whole.points)))
	}
	rare, teams := 0, 1.0
	for i := range d.points {
		p := &d.points[i]
		if rounds/float64(p.every) < float64(d.plan.Rounds.Min) {
			rare++
		}
		teams = min(teams, float64(len(p.sets))/float64(p.teams))
	}
	if teams*rounds < float64(d.plan.Rounds.Min) && teams < 1 {
		out = append(out, fmt.Sprintf("%.2g%% of the teams in a round, others in each", 100*teams))
	}
	if rare > 0 && rounds >= float64(d.plan.Rounds.Min) {
		out = append(out, fmt.Sprintf("%s in fewer than %d rounds", units.Plural(rare, "point"), d.plan.Rounds.Min))
	}
	return out
}
