package bench

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"calib/internal/dataset"
	"calib/internal/stats"
	"calib/internal/units"
)

// Stopper decides when a point has been measured often enough. A team's point stays open until every key it produces has
// had Plan.Rounds.Min rounds and an interval within the target, all at once; then it is closed for good. With six rounds or
// more the interval is that of the median of the rounds' medians, because timings within a round are not independent;
// below that it is that of all timings pooled, and says so. Where the plan permutes hosts, a team is its places of the layout:
// rounds are then rounds of several hosts, and how these differ is part of the interval. It is for one goroutine.
type Stopper struct {
	plan   *Schedule
	over   bool
	points []measured      // in the order in which they were first measured
	index  map[place]int32 // of points

	// Where the last slot's samples belong: they arrive slot by slot.
	round, slot int
	order       []int // of round
	placeOf     []int // of round: the place that each host takes; nil where hosts are not permuted
	team        []int // of slot: place to index in group.teams, or -1
	touched     []*timings
}

// measured is what is known of one point on one team.
type measured struct {
	at     place
	keys   []*timings
	closed bool
}

// NewStopper returns a stopper for the samples of a schedule.
func NewStopper(s *Schedule) *Stopper {
	return &Stopper{plan: s, index: map[place]int32{}, round: -1, slot: -1, team: make([]int, s.Limits.Hosts)}
}

// Add takes samples, of whole slots in the order they were measured; a resumed run feeds what it has read first.
// By-products, samples of no point of their slot, are left out, and so are samples of a closed point that was measured for
// other teams: they must not change the verdict.
func (t *Stopper) Add(samples []dataset.Sample) {
	for len(samples) > 0 {
		n := 1
		for n < len(samples) && samples[n].Slot == samples[0].Slot {
			n++
		}
		if i, ok := t.group(samples[0].Slot); ok {
			g := &t.plan.groups[i]
			slot := samples[:n]
			if g.permuted {
				slot = t.placed(slot)
			}
			t.add(slot)
			if d, ok := g.exp.(Derived); ok {
				t.add(d.Derive(slot))
			}
		}
		for _, s := range t.touched {
			s.close(t.round == t.plan.Plan.Rounds.Max-1)
		}
		t.touched = t.touched[:0]
		samples = samples[n:]
	}
}

// placed returns the samples with places for hosts.
func (t *Stopper) placed(samples []dataset.Sample) []dataset.Sample {
	out := slices.Clone(samples)
	for i := range out {
		places := make([]int, len(out[i].Ranks))
		for k, h := range out[i].Ranks {
			places[k] = -1
			if h >= 0 && h < len(t.placeOf) {
				places[k] = t.placeOf[h]
			}
		}
		out[i].Ranks = places
	}
	return out
}

// add takes samples of one slot, their ranks as places where hosts are permuted.
func (t *Stopper) add(samples []dataset.Sample) {
	for i := range samples {
		b := &samples[i]
		at, ok := t.locate(b)
		if !ok {
			continue
		}
		known, ok := t.index[at]
		if !ok {
			known = int32(len(t.points))
			t.index[at] = known
			t.points = append(t.points, measured{at: at})
		}
		w := &t.points[known]
		if w.closed {
			continue
		}
		var s *timings
		if k := slices.IndexFunc(w.keys, func(s *timings) bool { return s.phase == b.Phase && slices.Equal(s.ranks, b.Ranks) }); k >= 0 {
			s = w.keys[k]
		} else {
			s = &timings{phase: b.Phase, ranks: b.Ranks, width: math.Inf(1)}
			if e, ok := t.plan.groups[at.group].exp.(Steered); ok {
				s.free = !e.Steers(b.Phase)
			}
			s.pools = t.plan.Plan.Rounds.Min < stats.MinValues
			w.keys = append(w.keys, s)
		}
		if s.idle() {
			t.touched = append(t.touched, s)
		}
		s.add(b, t.round)
	}
}

// group finds the index of the group that a slot measures, if the schedule has such a slot.
func (t *Stopper) group(slot int) (index int, ok bool) {
	slots := t.plan.Slots()
	if slot < 0 || slot/slots >= t.plan.Plan.Rounds.Max {
		return 0, false
	}
	if r := slot / slots; r != t.round {
		t.round, t.order = r, t.plan.order(t.plan.rng(r))
		if places := t.plan.places(r); places != nil {
			t.placeOf = make([]int, len(places))
			for place, h := range places {
				t.placeOf[h] = place
			}
		}
	}
	return t.order[slot%slots], true
}

// locate finds the place of a sample by its slot.
func (t *Stopper) locate(b *dataset.Sample) (at place, ok bool) {
	i, ok := t.group(b.Slot)
	if !ok || len(b.Ranks) == 0 {
		return at, false
	}
	g := &t.plan.groups[i]
	if b.Slot != t.slot {
		t.slot = b.Slot
		for h := range t.team {
			t.team[h] = -1
		}
		for team, hosts := range g.teams {
			for _, h := range hosts {
				t.team[h] = team
			}
		}
	}
	point := slices.IndexFunc(g.points, func(p Point) bool { return maps.Equal(p, b.Point) })
	if b.Exp != g.exp.Name() || point < 0 {
		return at, false
	}
	team := -1
	for i, h := range b.Ranks {
		if h < 0 || h >= len(t.team) || t.team[h] < 0 || i > 0 && t.team[h] != team {
			return at, false
		}
		team = t.team[h]
	}
	return place{int32(i), int32(team), int32(point)}, true
}

// Open reports whether a team's point is to be measured again. It is what Schedule.Round asks for.
func (t *Stopper) Open(p TeamPoint) bool {
	if t.over {
		return false
	}
	i, ok := t.index[p.at]
	if !ok {
		return true
	}
	w := &t.points[i]
	if w.closed {
		return false
	}
	decided := false
	for _, s := range w.keys {
		if s.free {
			continue
		}
		if !t.reached(s) {
			return true
		}
		decided = true
	}
	w.closed = decided
	return !decided
}

// reached reports whether s is within the target.
func (t *Stopper) reached(s *timings) bool {
	return s.rounds() >= t.plan.Plan.Rounds.Min && s.width <= t.plan.Plan.target()
}

// Spent tells the stopper how long has been measured in all. When that reaches the plan's budget, every point closes.
func (t *Stopper) Spent(total units.Nanos) {
	t.over = t.over || t.plan.Plan.Budget > 0 && total >= t.plan.Plan.Budget
}

// Over reports whether the budget has ended: ask between slots.
func (t *Stopper) Over() bool { return t.over }

// Summary lists every key that was measured, by experiment, phase, point and ranks or places.
func (t *Stopper) Summary() []dataset.Stop {
	type key struct {
		exp      string
		at       place
		order    int // of the point
		permuted bool
		*timings
	}
	var keys []key
	order := t.orderOfPoints()
	for _, w := range t.points {
		g := &t.plan.groups[w.at.group]
		for _, s := range slices.Backward(w.keys) {
			keys = append(keys, key{g.exp.Name(), w.at, order[w.at.ofAnyTeam()], g.permuted, s})
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.exp, b.exp), cmp.Compare(a.phase, b.phase), cmp.Compare(a.order, b.order), slices.Compare(a.ranks, b.ranks))
	})
	out := make([]dataset.Stop, len(keys))
	for i, k := range keys {
		out[i] = dataset.Stop{
			Experiment: k.exp, Phase: k.phase, Point: t.pointAt(k.at).Key(), Ranks: k.ranks, Permuted: k.permuted, Reason: t.reason(k.timings),
			Rounds: k.rounds(), N: int(k.n), LeftOut: int(k.out), Median: k.median,
		}
		if width := k.width; !math.IsInf(width, 0) {
			out[i].Width, out[i].Basis = &width, k.basis()
		}
	}
	return out
}

// pointAt is the point that was measured at a place.
func (t *Stopper) pointAt(p place) Point { return t.plan.groups[p.group].points[p.point] }

// ofAnyTeam is the place of a point whichever team measured it.
func (p place) ofAnyTeam() place { return place{p.group, -1, p.point} }

// orderOfPoints numbers the points that were measured in ascending order; equal ones have one number. Many teams measure few points, and
// to compare two is slow.
func (t *Stopper) orderOfPoints() map[place]int {
	order := map[place]int{}
	for _, w := range t.points {
		order[w.at.ofAnyTeam()] = 0
	}
	compare := func(a, b place) int { return comparePoints(t.pointAt(a), t.pointAt(b)) }
	all := slices.SortedFunc(maps.Keys(order), compare)
	for i, at := range all {
		if order[at] = i; i > 0 && compare(all[i-1], at) == 0 {
			order[at] = order[all[i-1]]
		}
	}
	return order
}

func (t *Stopper) reason(s *timings) string {
	switch {
	case s.free:
		return dataset.StopFree
	case t.reached(s):
		return dataset.StopTarget
	case t.over || int(s.round) >= t.plan.Plan.Rounds.Max-1:
		return dataset.StopBudget
	}
	return dataset.StopOpen
}

// comparePoints orders points by their factors' values, names in order.
func comparePoints(a, b Point) int {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if c := cmp.Compare(a[name], b[name]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}
