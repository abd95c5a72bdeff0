package plan

import (
	"math/rand/v2"
	"testing"

	"calib/internal/dataset/names"
	"calib/internal/units"

	"calib/bench"
)

// paced plays a run whose slots take off times what the plan expects, give or take noise, and returns when it ended,
// how many rounds it began, and the slots of each experiment.
func paced(t *testing.T, s *Schedule, off float64) (spent units.Nanos, rounds int, slots map[string]int) {
	t.Helper()
	p := NewPace(s)
	rng := rand.New(rand.NewPCG(1, 2))
	slots = map[string]int{}
	for r := range s.MaxRounds() {
		list := p.Begin(r, p.Round(r, nil), spent)
		did := false
		for _, slot := range list {
			if !p.Fits(slot, spent+1) { // a clock goes on
				continue
			}
			took := units.Nanos(off * float64(s.groups[p.group(slot)].expected) * (0.9 + 0.2*rng.Float64()))
			spent += took
			p.Took(slot, took)
			p.Measured(slot)
			slots[slot.Exp]++
			did = true
		}
		if !did {
			return spent, rounds, slots
		}
		rounds++
	}
	return spent, rounds, slots
}

// slow is a schedule of two experiments on a known path, a round of which takes about 12 s.
func slow(t *testing.T, budget units.Nanos) *Schedule {
	t.Helper()
	p := testPlan()
	p.Rounds, p.Budget, p.Permute = Rounds{Min: 6, Max: 30}, budget, true
	p.Limits.Path = bench.Path{Latency: units.Millisecond, PerByte: 800, Slot: 50 * units.Millisecond}
	exps := made(
		fakeExp{name: names.Pingpong, points: sizePoints(1, 64, 1024),
			teams: func(l bench.Limits, _ bench.Point) []bench.Step { return bench.Neighbours(l.Hosts) },
			cost:  bench.Cost{Bytes: 1000, Time: 300 * units.Millisecond}},
		fakeExp{name: names.Paired, points: sizePoints(1, 64, 1024, 4096),
			teams: func(bench.Limits, bench.Point) []bench.Step { return bench.FirstHosts(4) },
			cost:  bench.Cost{Bytes: 500, Time: units.Second}},
	)
	return mustSchedule(t, p, 8, exps)
}

// TestPacerKeepsBudget: a run ends within 5% of its budget, also where slots take much more or less than expected, and
// every experiment is measured; there are six rounds at least, unless slots take far longer than expected.
func TestPacerKeepsBudget(t *testing.T) {
	for _, off := range []float64{0.3, 1, 1.5, 4} {
		for _, budget := range []units.Nanos{60 * units.Second, 300 * units.Second} {
			s := slow(t, budget)
			spent, rounds, slots := paced(t, s, off)
			if float64(spent) > 1.05*float64(budget) {
				t.Errorf("off %g: %v of %v", off, spent.Seconds(), budget.Seconds())
			}
			if least := map[bool]int{true: 6, false: 4}[off < 2]; rounds < least {
				t.Errorf("off %g, budget %v: %d rounds", off, budget.Seconds(), rounds)
			}
			if slots[names.Pingpong] == 0 || slots[names.Paired] == 0 {
				t.Errorf("off %g, budget %v: slots %v: one starves", off, budget.Seconds(), slots)
			}
		}
	}
}

// TestOneSlowSlot: a slot that once took as long as many rounds keeps the others from nothing.
func TestOneSlowSlot(t *testing.T) {
	for i := range 40 {
		budget, part := []units.Nanos{60, 90, 120, 200, 300}[i%5]*units.Second, 2+units.Nanos(i/5)
		s := slow(t, budget)
		p, spent := NewPace(s), units.Nanos(0)
		empty := 0 // rounds in a row
		for r := 0; empty <= s.MaxEmpty() && r < s.MaxRounds(); r++ {
			empty++
			for _, slot := range p.Begin(r, p.Round(r, nil), spent) {
				if !p.Fits(slot, spent+1) {
					continue
				}
				took := s.groups[p.group(slot)].expected
				if r == 0 && p.group(slot) == 0 {
					took = budget / part
				}
				spent, empty = spent+took, 0
				p.Took(slot, took)
				p.Measured(slot)
			}
		}
		if float64(spent) < 0.85*float64(budget) {
			t.Errorf("a slot of %v: %v of %v are used", (budget / part).Seconds(), spent.Seconds(), budget.Seconds())
		}
	}
}

// TestDoneIsRight: after the first round, the share that is done and the time spent give the time of the whole within a
// fifth, with a budget and without.
func TestDoneIsRight(t *testing.T) {
	for i := range 6 {
		off, budget := []float64{0.5, 1, 2}[i%3], []units.Nanos{120 * units.Second, 0}[i/3]
		s := slow(t, budget)
		end, _, _ := paced(t, s, off)
		p := NewPace(s)
		var spent units.Nanos
		for r := range 3 {
			list := p.Begin(r, s.Round(r, nil), spent)
			for i, slot := range list {
				if done := p.Done(r, list[i:], 0, spent); r > 0 {
					if whole := float64(spent) / done; whole < 0.8*float64(end) || whole > 1.2*float64(end) {
						t.Fatalf("off %g, budget %v, round %d: says %v, takes %v", off, budget.Seconds(), r, whole/1e9, end.Seconds())
					}
				}
				took := units.Nanos(off * float64(s.groups[p.group(slot)].expected))
				spent += took
				p.Took(slot, took)
			}
		}
	}
}

// TestUnboundedPacer: without a budget, or a path, every slot is measured at full effort.
func TestUnboundedPacer(t *testing.T) {
	s := slow(t, 0)
	p := NewPace(s)
	all := s.Round(0, nil)
	p.Measured(all[0])
	p.Measured(all[0]) // the teams that an earlier run had, and the others
	if n := p.groups[p.group(all[0])].rounds; n != 1 {
		t.Errorf("one slot counts for %d rounds", n)
	}
	p = NewPace(s)
	if list := p.Begin(0, all, 1e15); len(list) != len(all) || !p.Fits(all[0], 1e15) {
		t.Errorf("%d of %d slots", len(list), len(all))
	}
}

// TestRareSlotsWait: what is due in a round that leaves its experiment out is measured in the experiment's next round.
func TestRareSlotsWait(t *testing.T) {
	s := slow(t, 0)
	const every, chosen, rounds = 4, 3, 30
	for i := range s.groups {
		s.groups[i].every, s.groups[i].phase = every, i%every
	}
	p, count := NewPace(s), make([]int, len(s.groups))
	for r := range rounds {
		for _, slot := range p.Round(r, func(string, []int) bool { return r%chosen == 0 }) {
			count[p.group(slot)]++
			p.Measured(slot)
		}
	}
	for i, n := range count {
		if n < rounds/every-1 {
			t.Errorf("group %d, due in one of %d rounds, was measured in %d of %d", i, every, n, rounds)
		}
	}
	if n := len(NewPace(s).Round(0, nil)); n != len(s.Round(0, nil)) {
		t.Errorf("first round: %d slots", n)
	}
}
