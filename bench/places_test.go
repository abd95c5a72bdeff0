package bench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/internal/dataset"
)

// Every host is the root once in as many rounds as there are hosts, every two are a pair once in as many as there are steps, and
// the first pair, either of them the root, once before all repeats.
func TestPlacesAreBalanced(t *testing.T) {
	for hosts := 2; hosts <= 9; hosts++ {
		steps := colours(hosts)
		first, roots, pairs := map[[2]int]int{}, map[int]int{}, map[[2]int]int{}
		for r := range hosts * (hosts - 1) {
			p := Places(11, hosts, r)
			all := slices.Sorted(slices.Values(p))
			if want := FirstHosts(hosts)[0][0]; !slices.Equal(all, want) {
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
	star := func(l Limits, _ Point) []Step { return []Step{{{0, 1}}, {{0, 2}}} }
	exps := []Experiment{
		fakeExp{name: "alone", points: sizePoints(1), teams: func(l Limits, _ Point) []Step { return EachAlone(l.Hosts) }},
		fakeExp{name: "matrix", points: sizePoints(1), teams: func(l Limits, _ Point) []Step { return Colouring(l.Hosts) }},
		fakeExp{name: "root", points: []Point{{"hosts": 3}}, teams: firstHosts},
		fakeExp{name: "star", points: sizePoints(1), teams: star},
	}
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

// What is asked about a team's point names the hosts of that round.
func TestScheduleAsksForHosts(t *testing.T) {
	s := mustSchedule(t, permutedPlan(), 6, []Experiment{fakeExp{name: "x", points: []Point{{"hosts": 4}}, teams: firstHosts}})
	for r := range 10 {
		var asked []int
		slots := s.Round(r, func(p TeamPoint) bool { asked = p.Team; return true })
		if want := Places(s.Plan.Seed, 6, r)[:4]; !slices.Equal(asked, want) || !slices.Equal(slots[0].Teams[0], want) {
			t.Fatalf("round %d: asked for %v, slot %v, want %v", r, asked, slots[0].Teams, want)
		}
	}
}

// A point's rounds count whichever hosts measured them, and how these differ widens its interval.
func TestStopperPermuted(t *testing.T) {
	exps := []Experiment{fakeExp{name: "x", quiet: "kept", points: sizePoints(1), teams: func(Limits, Point) []Step { return []Step{{{0, 1}, {2, 3}}} }}}
	for _, slow := range []int64{1, 2} {
		s := mustSchedule(t, permutedPlan(), 4, exps)
		stop := NewStopper(s)
		rng := rand.New(rand.NewPCG(5, 5))
		_, rounds := run(s, stop, func(team []int, _ Point) []int64 {
			ns := noisy(rng, 20, 0.01, 0)
			if slices.Contains(team, 2) {
				for i := range ns {
					ns[i] *= slow
				}
			}
			return ns
		})
		if want := map[int64]int{1: 6, 2: s.Plan.Rounds.Max}[slow]; rounds != want {
			t.Errorf("a host %d times as slow: %d rounds, want %d", slow, rounds, want)
		}
		var got []string
		for _, x := range stop.Summary() {
			got = append(got, fmt.Sprint(x.Ranks, x.Permuted, x.Rounds))
		}
		if want := []string{fmt.Sprint([]int{0, 1}, true, rounds), fmt.Sprint([]int{2, 3}, true, rounds)}; !slices.Equal(got, want) {
			t.Errorf("stops %q, want %q", got, want)
		}
	}
	s := mustSchedule(t, permutedPlan(), 4, exps)
	stop := NewStopper(s)
	for _, slot := range s.Round(0, nil) {
		got := measure(slot, constant(5, 1))
		got[0].Ranks = []int{4, -1} // hosts that do not exist
		stop.Add(got)
	}
	if n := len(stop.Summary()); n != 1 {
		t.Errorf("%d stops, want 1: a sample of no host is left out", n)
	}
}

// Derived lines are of places too.
func TestStopperPermutedDerived(t *testing.T) {
	e := derivedExp{fakeExp{name: "x", points: []Point{{"hosts": 2}}, teams: firstHosts, quiet: "raw"}}
	s := mustSchedule(t, permutedPlan(), 4, []Experiment{e})
	stop := NewStopper(s)
	for r := range 6 {
		for _, slot := range s.Round(r, nil) {
			got := measure(slot, constant(9, 1))
			for i := range got {
				got[i].Phase = "raw"
			}
			stop.Add(got)
		}
	}
	sum := stop.Summary()
	if len(sum) != 2 || sum[0].Phase != "made" || sum[0].Rounds != 6 || !slices.Equal(sum[0].Ranks, []int{0, 1}) {
		t.Errorf("%+v", sum)
	}
}

type derivedExp struct{ fakeExp }

func (derivedExp) Derive(slot []dataset.Sample) []dataset.Sample {
	made := slot[0]
	made.Phase = "made"
	return []dataset.Sample{made}
}
