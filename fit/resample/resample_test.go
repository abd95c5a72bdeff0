package resample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// world is what a simulated point is made of, with standard deviations relative to its true value 1.
type world struct {
	rounds, pairs    int
	hosts            int     // the pairs of a round are drawn anew among so many hosts; 0: the same pairs every round
	round, pair      float64 // what a round does to all pairs, what a pair has of its own
	noise            float64 // of a pair in a round
	serial           float64 // correlation of rounds
	points, replicas int
}

// table draws one run: points that share pairs, and rounds that are correlated.
func (w world) table(rng *rand.Rand) *Table[int] {
	t := &Table[int]{}
	own := map[string]float64{}
	drift := make([]float64, w.points)
	for p := range drift {
		drift[p] = rng.NormFloat64()
	}
	for r := range w.rounds {
		for p := range drift {
			if r > 0 {
				drift[p] = w.serial*drift[p] + math.Sqrt(1-w.serial*w.serial)*rng.NormFloat64()
			}
		}
		order := rng.Perm(max(w.hosts, 2*w.pairs))
		for k := range w.pairs {
			hosts := []int{2 * k, 2*k + 1}
			if w.hosts > 0 {
				hosts = order[2*k : 2*k+2]
			}
			team := Team(hosts)
			if _, seen := own[team]; !seen {
				own[team] = w.pair * rng.NormFloat64()
			}
			for p := range drift {
				mean := 1 + w.round*drift[p] + own[team] + w.noise*rng.NormFloat64()
				var v []float64
				for range 9 {
					v = append(v, mean*(1+0.02*rng.NormFloat64()))
				}
				t.AddTeam(t.OneWay(p), team, 0, r, len(v), v...)
			}
		}
	}
	return t
}

// coverage counts how often the truth is in the interval of the first point, and the mean width.
func (w world) coverage(t *testing.T, runs int) (hit, width float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	for run := range uint64(runs) {
		m := w.table(rng).Medians()
		s := m.Draw(w.replicas, run)
		ci := s.Point(0)
		if ci[0] <= 1 && 1 <= ci[1] {
			hit += 1 / float64(runs)
		}
		width += (ci[1] - ci[0]) / float64(runs)
	}
	return hit, width
}

// The interval of a point holds the truth, whatever it scatters by: rounds, correlated rounds, pairs that stay, and
// pairs that are drawn anew in every round. Without the scatter of pairs, or without the correlation, 60 to 80% would
// be covered.
func TestIntervalCoverage(t *testing.T) {
	base := world{pairs: 1, points: 6, replicas: 200, round: 0.05}
	crossed, permuted, serial := base, base, base
	crossed.pairs, crossed.pair, crossed.noise, crossed.round = 4, 0.05, 0.02, 0.02
	permuted.pairs, permuted.hosts, permuted.pair, permuted.noise, permuted.round = 4, 8, 0.05, 0.02, 0.02
	serial.serial = 0.6
	both := crossed
	both.serial, both.round = 0.6, 0.05
	for _, c := range []struct {
		name   string
		w      world
		rounds []int
		least  float64
	}{
		{"rounds", base, []int{2, 3, 4, 5, 6, 8, 12, 20}, 0.92},
		{"pairs that stay", crossed, []int{3, 5, 8}, 0.92},
		{"pairs drawn in every round", permuted, []int{3, 5, 8}, 0.92},
		{"correlated rounds", serial, []int{6, 8, 12, 20}, 0.88},
		{"correlated rounds and pairs that stay", both, []int{6, 8, 12}, 0.88},
	} {
		for _, n := range c.rounds {
			c.w.rounds = n
			hit, width := c.w.coverage(t, 400)
			t.Logf("%s, %d rounds: coverage %.3f, mean width %.3f", c.name, n, hit, width)
			if hit < c.least {
				t.Errorf("%s, %d rounds: coverage %.3f, want at least %.2f", c.name, n, hit, c.least)
			}
		}
	}
}

// A point that few of the rounds measured knows its own spread badly, however many rounds the others have.
func TestPointOfFewRounds(t *testing.T) {
	const runs, rounds = 400, 6
	rng := rand.New(rand.NewPCG(5, 5))
	for _, every := range []int{2, 3} {
		hit := 0
		for run := range uint64(runs) {
			tab := &Table[int]{}
			for r := range rounds {
				for p := range 6 {
					if p > 0 || r%every == 1 {
						tab.Add(tab.Duration(p), 0, r, 1, 1+0.05*rng.NormFloat64())
					}
				}
			}
			m := tab.Medians()
			s := m.Draw(200, run)
			if ci := s.Point(tab.Index[0]); ci[0] <= 1 && 1 <= ci[1] {
				hit++
			}
		}
		t.Logf("in one of %d rounds: %d of %d", every, hit, runs)
		if hit < runs*92/100 {
			t.Errorf("in one of %d rounds: the interval holds the truth in %d of %d runs", every, hit, runs)
		}
	}
}

// What is independent from round to round says nothing of a kind that is not.
func TestKindsOfCorrelation(t *testing.T) {
	table := func(kind func(int) int) *Table[int] {
		rng := rand.New(rand.NewPCG(3, 3))
		tab := &Table[int]{Kind: kind}
		drift := make([]float64, 8)
		for r := range 30 {
			for p := range drift {
				drift[p] = 0.7*drift[p] + rng.NormFloat64()
				if p >= 4 {
					drift[p] = rng.NormFloat64()
				}
				tab.Add(tab.OneWay(p), 0, r, 1, 100+drift[p])
			}
		}
		return tab
	}
	width := map[string][2]float64{}
	for name, kind := range map[string]func(int) int{"one kind": nil, "two kinds": func(p int) int { return p / 4 }} {
		m := table(kind).Medians()
		s := m.Draw(400, 1)
		correlated, independent := s.Point(0), s.Point(7)
		width[name] = [2]float64{correlated[1] - correlated[0], independent[1] - independent[0]}
	}
	if one, two := width["one kind"], width["two kinds"]; two[0] < 1.2*one[0] || two[1] > 0.9*one[1] {
		t.Errorf("widths of a correlated and an independent point: %.2f as one kind, %.2f as two", one, two)
	}
}

// Pairs that do not differ do not widen the interval by much.
func TestEqualPairs(t *testing.T) {
	w := world{rounds: 8, pairs: 4, points: 6, replicas: 200, noise: 0.05}
	alone := w
	alone.pairs, alone.noise = 1, w.noise/2 // the noise of the mean of four
	_, width := w.coverage(t, 200)
	_, want := alone.coverage(t, 200)
	if width > 1.4*want {
		t.Errorf("mean width %.4f with pairs that are alike, %.4f of their mean alone", width, want)
	}
}

func TestTeamNames(t *testing.T) {
	if a, b := Team([]int{3, 12}), Team([]int{12, 3}); a != b || a == Team([]int{3, 1, 2}) {
		t.Errorf("teams %q and %q", a, b)
	}
}

// One round says nothing of what changes between rounds.
func TestOneRound(t *testing.T) {
	tab := &Table[string]{}
	tab.Add(tab.OneWay("T"), 0, 3, 4, 1, 1.1, 0.9, 1.2)
	m := tab.Medians()
	s := m.Draw(200, 1)
	if ci := s.Point(0); ci[0] != ci[1] {
		t.Errorf("interval %v of one round", ci)
	}
	if ci := s.PointScatter(0); !(ci[0] < ci[1]) {
		t.Errorf("scatter %v within one round", ci)
	}
}

func TestSerial(t *testing.T) {
	alternating, drifting := []float64{1, 2, 1, 2, 1, 2, 1, 2}, []float64{1, 2, 3, 4, 5, 6, 7, 8}
	for _, c := range []struct {
		series [][]float64
		want   float64
	}{
		{nil, 0},
		{[][]float64{{1, 1, 1, 1, 1, 1}}, 0},
		{[][]float64{{1, 2, 3}}, fewSerial},
		{[][]float64{alternating}, 0.5 * 2 / math.Sqrt(8)}, // none, with its guard
		{[][]float64{drifting}, maxSerial},
		{[][]float64{drifting, alternating, drifting}, 0.5 + 0.5*2*math.Sqrt(0.75/24)}, // r 0.625 and −0.875
	} {
		if got := serial(c.series); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", fmt.Sprint(c.series), got, c.want)
		}
	}
}

// What is positive has an interval above zero, however far rounds scatter, also with what else makes it uncertain. What
// may be zero has one that tells.
func TestPositive(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := &Estimates{Rounds: 4}
	for range 400 {
		s.Replicates = append(s.Replicates, []float64{math.Exp(0.8 * rng.NormFloat64())})
	}
	ci := s.Interval(1, s.Replicates, 0)
	if ci[0] <= 0 || math.Abs(math.Log(ci[0]*ci[1])) > 0.5 {
		t.Errorf("%v, want as far below as above on the log scale", ci)
	}
	if wide := Widen(1, ci, 3); wide[0] <= 0 || wide[0] >= ci[0] || wide[1] <= ci[1] {
		t.Errorf("%v with ± 3 is %v", ci, wide)
	}
	if ci := DifferenceOf(s, 1, s.Replicates, func(r []float64) float64 { return r[0] }); ci[0] >= 0 {
		t.Errorf("a difference: %v, want one that holds zero", ci)
	}
}
