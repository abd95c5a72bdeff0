package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/bench"
)

// Every host is the root once in as many rounds as there are hosts, every two are a pair once in as many as there are
// steps, and the first pair, either of them the root, once before all repeats.
func TestPlacesAreBalanced(t *testing.T) {
	for hosts := 2; hosts <= 9; hosts++ {
		steps := bench.Colours(hosts)
		first, roots, pairs := map[[2]int]int{}, map[int]int{}, map[[2]int]int{}
		for r := range hosts * (hosts - 1) {
			p := Places(11, hosts, r)
			all := slices.Sorted(slices.Values(p))
			if want := bench.FirstHosts(hosts)[0][0]; !slices.Equal(all, want) {
				t.Fatalf("%d hosts, round %d: %v is not a permutation", hosts, r, p)
			}
			first[[2]int{p[0], p[1]}]++
			roots[p[0]]++
			for i := 0; i+1 < hosts; i += 2 {
				pairs[[2]int{min(p[i], p[i+1]), max(p[i], p[i+1])}]++
			}
			if (r+1)%hosts == 0 && len(roots) != hosts {
				t.Errorf("%d hosts: %d of them were the root in as many rounds up to %d", hosts, len(roots), r)
			}
			if (r+1)%hosts == 0 {
				clear(roots)
			}
			if (r+1)%steps == 0 && len(pairs) != hosts*(hosts-1)/2 {
				t.Errorf("%d hosts: %d pairs in %d rounds up to %d", hosts, len(pairs), steps, r)
			}
			if (r+1)%steps == 0 {
				clear(pairs)
			}
		}
		if len(first) != hosts*(hosts-1) {
			t.Errorf("%d hosts: %d of %d ordered pairs were first", hosts, len(first), hosts*(hosts-1))
		}
	}
	if slices.Equal(Places(1, 8, 0), Places(2, 8, 0)) || !slices.Equal(Places(1, 8, 5), Places(1, 8, 5)) {
		t.Error("places do not depend on the seed alone")
	}
}

func permutedPlan() Plan {
	p := testPlan()
	p.Permute = true
	return p
}

// Hosts change places from round to round, the same for all experiments of a round; what holds every host or every pair
// stays.
func TestSchedulePermutes(t *testing.T) {
	star := func(l bench.Limits, _ bench.Point) []bench.Step { return []bench.Step{{{0, 1}}, {{0, 2}}} }
	exps := made(
		fakeExp{name: "alone", points: sizePoints(1), teams: func(l bench.Limits,
			_ bench.Point) []bench.Step {
			return bench.EachAlone(l.Hosts)
		}},
		fakeExp{name: "matrix", points: sizePoints(1), teams: func(l bench.Limits,
			_ bench.Point) []bench.Step {
			return bench.Colouring(l.Hosts)
		}},
		fakeExp{name: "root", points: []bench.Point{{"hosts": 3}}, teams: firstHosts},
		fakeExp{name: "star", points: sizePoints(1), teams: star},
	)
	s := mustSchedule(t, permutedPlan(), 4, exps)
	fixed := mustSchedule(t, testPlan(), 4, exps)
	roots := map[int]bool{}
	for r := range 12 {
		places := Places(s.Plan.Seed, 4, r)
		before := fixed.Round(r, nil)
		for i, slot := range s.Round(r, nil) {
			want := before[i]
			switch slot.Exp {
			case "root", "star":
				team := slices.Clone(want.Teams[0])
				for k, p := range team {
					team[k] = places[p]
				}
				want.Teams = [][]int{team}
				roots[team[0]] = true
			}
			if d := cmp.Diff(want, slot); d != "" {
				t.Fatalf("round %d (-want +got):\n%s", r, d)
			}
		}
	}
	if len(roots) != 4 {
		t.Errorf("roots %v, want every host", roots)
	}
}

// A point that is measured in one of so many rounds has every host as its root in twice as many turns as there are
// hosts.
func TestRarePointsChangeHosts(t *testing.T) {
	for hosts := 2; hosts <= 10; hosts++ {
		for every := 1; every <= 5; every++ {
			s := mustSchedule(t, permutedPlan(), hosts, made(fakeExp{name: "x", points: []bench.Point{{"hosts": 2}},
				teams: firstHosts}))
			s.groups[0].every, s.groups[0].phase = every, every-1
			s.Plan.Rounds.Max = 2 * every * hosts
			roots := map[int]bool{}
			for r := range 2 * every * hosts {
				for _, slot := range s.Round(r, nil) {
					roots[slot.Teams[0][0]] = true
				}
			}
			if len(roots) != hosts {
				t.Errorf("%d hosts, one of %d rounds: the roots are %v", hosts, every, roots)
			}
		}
	}
}

// What is asked about a team's point names the hosts of that round.
func TestScheduleAsksForHosts(t *testing.T) {
	s := mustSchedule(t, permutedPlan(), 6, made(fakeExp{name: "x", points: []bench.Point{{"hosts": 4}},
		teams: firstHosts}))
	for r := range 10 {
		var asked []int
		slots := s.Round(r, func(_ string, team []int) bool { asked = team; return true })
		if want := Places(s.Plan.Seed, 6, r)[:4]; !slices.Equal(asked, want) || !slices.Equal(slots[0].Teams[0], want) {
			t.Fatalf("round %d: asked for %v, slot %v, want %v", r, asked, slots[0].Teams, want)
		}
	}
}

// Hosts that share a CPU are no pair of a layout, and no team of two, where they can have other partners. Every two
// others still meet.
func TestCrowdedHostsAreNoPair(t *testing.T) {
	every := func(l bench.Limits, _ bench.Point) []bench.Step { return bench.Colouring(l.Hosts) }
	crowded := func(a, b int) bool { return a%2 == b%2 }
	for hosts := 3; hosts <= 9; hosts++ {
		s := mustSchedule(t, permutedPlan(), hosts, made(fakeExp{name: "matrix", points: sizePoints(1), teams: every}))
		s.Crowded = crowded
		met := map[[2]int]bool{}
		for r := range 60 {
			p := s.places(r)
			if all := slices.Sorted(slices.Values(p)); !slices.Equal(all, bench.FirstHosts(hosts)[0][0]) {
				t.Fatalf("%d hosts, round %d: %v is not a permutation", hosts, r, p)
			}
			for i := 0; i+1 < hosts; i += 2 {
				if crowded(p[i], p[i+1]) {
					t.Errorf("%d hosts, round %d: %v has a pair on one CPU", hosts, r, p)
				}
				met[[2]int{min(p[i], p[i+1]), max(p[i], p[i+1])}] = true
			}
			for _, slot := range s.Round(r, nil) {
				for _, team := range slot.Teams {
					if len(team) == 2 && crowded(team[0], team[1]) {
						t.Errorf("%d hosts, round %d: team %v is on one CPU", hosts, r, team)
					}
				}
			}
		}
		if want := (hosts / 2) * ((hosts + 1) / 2); len(met) != want {
			t.Errorf("%d hosts: %d of %d pairs were measured", hosts, len(met), want)
		}
	}
}

// With groups, the pairs of a round are within them or between them, the senders all of half of the groups, and the
// root stays. Of rounds that are powers of two apart, some are of either sort.
func TestArranged(t *testing.T) {
	for _, groups := range [][][]int{{{0, 2, 4, 6}, {1, 3, 5, 7}}, {{0, 1}, {2, 3}, {4, 5}, {6, 7}}} {
		of := map[int]int{}
		for i, g := range groups {
			for _, h := range g {
				of[h] = i
			}
		}
		for every := 1; every <= 4; every *= 2 {
			sorts := map[int]int{}
			for r := 0; r < 8*every; r += every {
				plain := Places(11, 8, r)
				p := arranged(slices.Clone(plain), groups, r)
				if all := slices.Sorted(slices.Values(p)); p[0] != plain[0] || !slices.Equal(all, []int{0, 1, 2, 3, 4, 5, 6, 7}) {
					t.Fatalf("round %d: %v of %v", r, p, plain)
				}
				crossing, senders := 0, map[int]bool{}
				for i := 0; i < len(p); i += 2 {
					if of[p[i]] != of[p[i+1]] {
						crossing++
						senders[of[p[i]]] = true
					}
				}
				if sorts[crossing]++; crossing == 4 && len(senders) != len(groups)/2 {
					t.Errorf("round %d: senders of %d groups", r, len(senders))
				}
			}
			if len(sorts) != 2 || sorts[0] != 4 || sorts[4] != 4 {
				t.Errorf("%v, every %d: rounds by pairs between groups: %v", groups, every, sorts)
			}
		}
	}
	if p := arranged([]int{2, 0, 1}, nil, 1); !slices.Equal(p, []int{2, 0, 1}) {
		t.Errorf("without groups: %v", p)
	}
}
