package fault

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// judgedOn is what a screen says of hosts on machines, each of so many, where a way within one takes so many times as
// long as between two.
func judgedOn(sizes []int, within float64, seed uint64) Judgement {
	var machines []string
	for m, n := range sizes {
		machines = append(machines, slices.Repeat([]string{fmt.Sprint(m)}, n)...)
	}
	way := func(a, b, _ int) float64 {
		if machines[a] == machines[b] {
			return within
		}
		return 1
	}
	s := New(len(machines), 0.02)
	s.Machine = machines
	c := cluster{noise: 0.02, latency: way, perByte: way, rng: rand.New(rand.NewPCG(seed, 7))}
	for round := range 48 {
		var seen []Seen
		for _, p := range s.Next(c.rng) {
			seen = append(seen, c.see(p, round))
		}
		s.Add(seen, 0.5)
	}
	return s.Judge()
}

// No host or pair is slow for the way within a machine, however fast or slow it is, and no kind is made of it.
func TestMachines(t *testing.T) {
	for _, sizes := range [][]int{{5, 1, 1, 1}, {6, 1, 1}, {3, 3, 1, 1}, {2, 2, 2, 2}, {4, 4}} {
		for _, within := range []float64{0.2, 3} {
			for seed := range uint64(3) {
				j := judgedOn(sizes, within, seed)
				if len(j.Slow) > 0 || j.Kinds != nil {
					t.Errorf("%v, %g times within, seed %d: slow %+v, kinds %v", sizes, within, seed, j.Slow, j.Kinds)
				}
				if faster := within < 1 && len(sizes) == 2; j.Machines != faster || (j.Groups != nil) != faster {
					t.Errorf("%v, %g times within, seed %d: groups %v, machines %v", sizes, within, seed, j.Groups, j.Machines)
				}
			}
		}
	}
}

// Kinds and groups of hosts on one and the same machine are found as if nobody knew.
func TestOneMachineOnly(t *testing.T) {
	part := func(h int) float64 { return 0.5 * (1 + 0.3*one(h < 4)) }
	s, c := New(12, 0.02), cluster{noise: 0.02, rng: rand.New(rand.NewPCG(1, 7)),
		latency: func(a, b, _ int) float64 { return part(a) + part(b) }}
	s.Machine = slices.Repeat([]string{"m"}, 12)
	for round := range 60 {
		var seen []Seen
		for _, p := range s.Next(c.rng) {
			seen = append(seen, c.see(p, round))
		}
		s.Add(seen, 0.5)
	}
	if j := s.Judge(); len(j.Kinds) != 2 || len(j.Slow) > 0 {
		t.Errorf("kinds %v, slow %+v", j.Kinds, j.Slow)
	}
}

// Where nobody can say whether there are groups, the screen says why. Where there are some or none, it says nothing.
func TestUnsure(t *testing.T) {
	rack := func(size int) func(a, b, _ int) float64 {
		return func(a, b, _ int) float64 { return 1 + 0.3*one(a/size != b/size) }
	}
	for _, c := range []struct {
		name          string
		hosts, rounds int
		latency       func(a, b, round int) float64
		want          string
	}{
		{"nothing seen", 16, 0, nil, ""},
		{"too few hosts", 4, 24, rack(2), "fewer than 6 hosts"},
		{"alike", 16, 30, nil, ""},
		{"two racks", 16, 30, rack(8), ""},
		{"racks of many", 200, 30, rack(100), ""},
		{"few pairs", 200, 12, nil, "groups of fewer than 99 hosts"},
	} {
		if j := screened(c.hosts, c.rounds, c.rounds, 1, cluster{noise: 0.02, latency: c.latency}); c.want == "" &&
			j.Unsure != "" || !strings.Contains(j.Unsure, c.want) {
			t.Errorf("%s: %q, want %q; groups %v, slow %v", c.name, j.Unsure, c.want, j.Groups, j.Slow)
		}
	}
}
