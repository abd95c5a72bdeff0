package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"calib/bench"
	"calib/bench/experiments"
	"calib/internal/dataset/names"
	"calib/internal/units"
	"calib/run/plan"
)

// TestEndsStay: whatever is left out, bursts keep one pair and the most at once, and so do streams where one takes no
// more than a third of the budget; pingpong keeps three sizes; the least rounds fit, and are six where they can be.
func TestEndsStay(t *testing.T) {
	speeds := append(slices.Clone(speeds), speed{"sparc1994",
		bench.Path{Latency: 1100 * units.Microsecond, PerByte: 1420, Slot: 20 * units.Millisecond}})
	for _, name := range []string{plan.Quick, plan.Standard} {
		for _, speed := range speeds {
			for _, hosts := range []int{2, 8, 64} {
				for _, budget := range []units.Nanos{30, 120, 300} {
					t.Run(fmt.Sprintf("%s/%s/%d/%ds", name, speed.Name, hosts, budget), func(t *testing.T) {
						p, err := plan.Builtin(name)
						if err != nil {
							t.Fatal(err)
						}
						p.Limits.Path, p.Budget = speed.Path, budget*units.Second
						s := mustSchedule(t, p, hosts)
						checkFits(t, s)
						checkEnds(t, s)
						f := s.Estimate()
						if speed.PerByte < 1000 && hosts <= 8 && s.Rounds < 6 {
							t.Errorf("%d rounds", s.Rounds)
						}
						if speed.PerByte < 10 && name == plan.Quick && hosts == 2 && 26*f.Round > p.Budget {
							t.Errorf("rounds of %v", f.Round.Seconds())
						}
					})
				}
			}
		}
	}
}

func checkEnds(t *testing.T, s *plan.Schedule) {
	t.Helper()
	pairs, sizes := map[bool]map[int64]bool{true: {}, false: {}}, map[int64]bool{}
	for r := range 6 {
		for _, slot := range s.Round(r, nil) {
			for _, p := range slot.Points {
				switch slot.Exp {
				case names.Paired:
					pairs[p[names.FactorStream] != 0][p[names.FactorPairs]] = true
				case names.Pingpong:
					sizes[p[names.FactorBytes]] = true
				}
			}
		}
	}
	e, _ := bench.Find(experiments.All, names.Paired)
	for stream, have := range pairs {
		want := []int64{}
		for _, p := range e.Design(s.Limits) {
			l := s.Limits
			l.Effort *= 0.25
			if p[names.FactorStream] != 0 == stream && p[names.FactorBytes] <= 1 && p[names.FactorConnections] == 0 &&
				e.Cost(l, p).Time <= s.Plan.Budget/3 {
				want = append(want, p[names.FactorPairs])
			}
		}
		if len(want) > 0 && (!have[slices.Min(want)] || !have[slices.Max(want)]) {
			t.Errorf("streams %t: numbers of pairs %v, want the ends of %v", stream, have, want)
		}
	}
	if len(sizes) < 3 {
		t.Errorf("sizes of pingpong: %v", sizes)
	}
}

// TestConnections: streams over 2, 4 and 8 connections of a pair come with the time there is for them, fewer first, and
// cost no rounds. A thin plan has none.
func TestConnections(t *testing.T) {
	for _, c := range []struct {
		name    string
		seconds units.Nanos
		enough  bool
	}{
		{plan.Quick, 45, false}, {plan.Quick, 3600, false}, {plan.Standard, 45, false}, {plan.Standard, 120, false},
		{plan.Standard, 300, true}, {plan.Full, 3600, true},
	} {
		for _, speed := range speeds {
			p, err := plan.Builtin(c.name)
			if err != nil {
				t.Fatal(err)
			}
			p.Limits.Path, p.Budget = speed.Path, c.seconds*units.Second
			s, have := mustSchedule(t, p, 2), ""
			for _, k := range []int64{2, 4, 8, 16} {
				has := func(p bench.Point) bool { return p[names.FactorConnections] == k }
				for r := range 6 {
					if slices.ContainsFunc(s.Round(r, nil), func(x bench.Slot) bool { return slices.ContainsFunc(x.Points, has) }) {
						have += fmt.Sprint(" ", k)
						break
					}
				}
			}
			fast := speed.PerByte < 1000
			if !strings.HasPrefix(" 2 4 8", have) || c.name == plan.Quick && have != "" ||
				c.enough && fast && have != " 2 4 8" || fast && s.Rounds < 6 {
				t.Errorf("%s, %s, %d s: %d rounds, connections%s", c.name, speed.Name, c.seconds, s.Rounds, have)
			}
		}
	}
}

// TestSizesBeforeRounds: on a slow network a byte is measured in every round, and more sizes than a line needs come
// before the largest one in more rounds.
func TestSizesBeforeRounds(t *testing.T) {
	for _, c := range []struct {
		name    string
		hosts   int
		seconds units.Nanos
	}{{plan.Quick, 4, 45}, {plan.Quick, 2, 45}, {plan.Standard, 2, 30}} {
		p, err := plan.Builtin(c.name)
		if err != nil {
			t.Fatal(err)
		}
		p.Limits.Path = bench.Path{Latency: 2080 * units.Microsecond, PerByte: 1463, Slot: 14 * units.Millisecond}
		p.Limits.Segment, p.Budget, p.Seed = bench.EthernetSegment, c.seconds*units.Second, 1
		if c.hosts > 2 {
			p.Limits.Path.AtOnce, p.Limits.Path.Slower = c.hosts/2, max(1, float64(c.hosts/2)*0.92/1.42)
		}
		s, rounds := mustSchedule(t, p, c.hosts), map[int64]int{}
		for r := range 30 {
			for _, slot := range s.Round(r, nil) {
				for _, x := range slot.Points {
					if slot.Exp == names.Pingpong {
						rounds[x[names.FactorBytes]]++
					}
				}
			}
		}
		if len(rounds) < 4 || rounds[1] < 30 || rounds[slices.Max(slices.Collect(maps.Keys(rounds)))] > rounds[1] {
			t.Errorf("%s, %d hosts: rounds of sizes %v", c.name, c.hosts, rounds)
		}
	}
}
