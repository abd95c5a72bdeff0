package bench

import (
	"cmp"
	"hash/maphash"
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
// below that it is that of all timings pooled, and says so. It is for one goroutine.
type Stopper struct {
	plan   *Schedule
	over   bool
	points []teamPoint
	index  map[uint64]int32 // hash of experiment, team and point → the first of points that has it
	seed   maphash.Seed     // for lookup, orders nothing

	// Where the last slot's samples belong: they arrive slot by slot.
	round, slot int
	order       []int // of round
	team        []int // of slot: host index to index in group.teams, or -1
	touched     []*timings
}

// NewStopper returns a stopper for the samples of a schedule.
func NewStopper(s *Schedule) *Stopper {
	return &Stopper{
		plan: s, points: make([]teamPoint, 1), index: map[uint64]int32{}, seed: maphash.MakeSeed(), // points[0] is none
		round: -1, slot: -1, team: make([]int, s.Limits.Hosts),
	}
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
		t.add(samples[:n])
		if g := t.group(samples[0].Slot); g != nil {
			if d, ok := g.exp.(Derived); ok {
				t.add(d.Derive(samples[:n]))
			}
		}
		for _, s := range t.touched {
			s.close(t.round == t.plan.Plan.Rounds.Max-1)
		}
		t.touched = t.touched[:0]
		samples = samples[n:]
	}
}

func (t *Stopper) add(samples []dataset.Sample) {
	for i := range samples {
		b := &samples[i]
		g, team, ok := t.locate(b)
		if !ok {
			continue
		}
		w := t.find(b.Exp, team, b.Point, true)
		if w.closed {
			continue
		}
		s := w.find(b.Phase, b.Ranks)
		if s == nil {
			s = &timings{next: w.keys, phase: b.Phase, ranks: b.Ranks, width: math.Inf(1)}
			if e, ok := g.exp.(Steered); ok {
				s.free = !e.Steers(b.Phase)
			}
			s.pools = t.plan.Plan.Rounds.Min < stats.MinValues
			w.keys = s
		}
		if s.idle() {
			t.touched = append(t.touched, s)
		}
		s.add(b, t.round)
	}
}

// group finds the group that a slot measures; nil where the schedule has no such slot.
func (t *Stopper) group(slot int) *group {
	slots := t.plan.Slots()
	if slot < 0 || slot/slots >= t.plan.Plan.Rounds.Max {
		return nil
	}
	if r := slot / slots; r != t.round {
		t.round, t.order = r, t.plan.order(t.plan.rng(r))
	}
	return &t.plan.groups[t.order[slot%slots]]
}

// locate finds the group and team of a sample by its slot.
func (t *Stopper) locate(b *dataset.Sample) (g *group, team []int, ok bool) {
	g = t.group(b.Slot)
	if g == nil || len(b.Ranks) == 0 {
		return nil, nil, false
	}
	if b.Slot != t.slot {
		t.slot = b.Slot
		for i := range t.team {
			t.team[i] = -1
		}
		for i, hosts := range g.teams {
			for _, h := range hosts {
				t.team[h] = i
			}
		}
	}
	if b.Exp != g.exp.Name() || !slices.Contains(g.keys, b.Point.Key()) {
		return nil, nil, false
	}
	at := -1
	for i, h := range b.Ranks {
		if h < 0 || h >= len(t.team) || t.team[h] < 0 || i > 0 && t.team[h] != at {
			return nil, nil, false
		}
		at = t.team[h]
	}
	return g, g.teams[at], true
}

// Open reports whether a team's point is to be measured again. It is what Schedule.Round asks for.
func (t *Stopper) Open(exp string, team []int, p Point) bool {
	if t.over {
		return false
	}
	w := t.find(exp, team, p, false)
	if w == nil {
		return true
	}
	if w.closed {
		return false
	}
	deciding := 0
	for s := w.keys; s != nil; s = s.next {
		if s.free {
			continue
		}
		deciding++
		s.update()
		if !t.reached(s) {
			return true
		}
	}
	w.closed = deciding > 0
	return !w.closed
}

// reached reports whether s, up to date, is within the target.
func (t *Stopper) reached(s *timings) bool {
	return s.rounds() >= t.plan.Plan.Rounds.Min && s.width <= t.plan.Plan.target()
}

// Spent tells the stopper how long has been measured in all. When that reaches the plan's budget, every point closes.
func (t *Stopper) Spent(total units.Nanos) {
	t.over = t.over || t.plan.Plan.Budget > 0 && total >= t.plan.Plan.Budget
}

// Over reports whether the budget has ended: ask between slots.
func (t *Stopper) Over() bool { return t.over }

// Summary lists every key that was measured, by experiment, phase, point and ranks.
func (t *Stopper) Summary() []dataset.Stop {
	type key struct {
		w *teamPoint
		s *timings
	}
	keys := make([]key, 0, len(t.points))
	for i := range t.points {
		for s := t.points[i].keys; s != nil; s = s.next {
			keys = append(keys, key{&t.points[i], s})
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.w.exp, b.w.exp), cmp.Compare(a.s.phase, b.s.phase), comparePoints(a.w.point, b.w.point),
			slices.Compare(a.s.ranks, b.s.ranks))
	})
	out := make([]dataset.Stop, len(keys))
	for i, k := range keys {
		out[i] = t.summary(k.w, k.s)
	}
	return out
}

func (t *Stopper) summary(w *teamPoint, s *timings) dataset.Stop {
	s.update()
	stop := dataset.Stop{
		Experiment: w.exp, Phase: s.phase, Point: w.point.Key(), Ranks: s.ranks, Reason: t.reason(s),
		Rounds: s.rounds(), N: int(s.n), LeftOut: int(s.out), Median: s.median,
	}
	if width := s.width; !math.IsInf(width, 0) {
		stop.Width, stop.Basis = &width, s.basis()
	}
	return stop
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
