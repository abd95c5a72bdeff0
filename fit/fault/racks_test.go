package fault

import (
	"math/rand/v2"
	"testing"
)

// seenRacks are the groups found on a cluster after some rounds.
func seenRacks(hosts, rounds int, seed uint64, c cluster) [][]int {
	c.rng = rand.New(rand.NewPCG(seed, 7))
	s := New(hosts, 0.02)
	for round := range rounds {
		var seen []Seen
		for _, p := range s.Next(c.rng) {
			seen = append(seen, c.see(p, round))
		}
		s.Add(seen, 0.5)
	}
	return members(s.racks(nil))
}

// Chance makes groups of hosts that are alike in at most 1% of clusters, also where few pairs were seen.
func TestGroupsByChance(t *testing.T) {
	for _, hosts := range []int{6, 8, 16, 64} {
		found, runs := 0, 200
		if hosts == 64 {
			runs = 40
		}
		for seed := range uint64(runs) {
			for _, c := range []cluster{{noise: 0.05}, {noise: 0.1}, {noise: 0.05, heavy: 0.1}} {
				if seenRacks(hosts, 3, seed, c) != nil {
					found++
				}
			}
		}
		if t.Logf("%d hosts: %d of %d", hosts, found, 3*runs); found > 3*runs/100 {
			t.Errorf("%d hosts: groups in %d of %d clusters without", hosts, found, 3*runs)
		}
	}
}

// Racks of two to four hosts are found by ways that are a tenth longer.
func TestSmallRacks(t *testing.T) {
	for _, sizes := range [][]int{{3, 3}, {4, 2}, {4, 4}, {14, 2}, {4, 4, 4, 4}} {
		var rack []int
		for g, n := range sizes {
			for range n {
				rack = append(rack, g)
			}
		}
		for seed := range uint64(5) {
			groups := seenRacks(len(rack), 30, seed, cluster{noise: 0.02,
				latency: func(a, b, _ int) float64 { return 1 + 0.1*one(rack[a] != rack[b]) }})
			if len(groups) != len(sizes) || len(groups[0]) != sizes[0] {
				t.Errorf("racks %v, seed %d: %v", sizes, seed, groups)
			}
		}
	}
}

// Racks are found where many looks are disturbed, and behind an uplink whose queue makes any look longer.
func TestDisturbedRacks(t *testing.T) {
	for seed := range uint64(5) {
		queue := rand.New(rand.NewPCG(seed, 9))
		groups := seenRacks(16, 75, seed, cluster{noise: 0.02, heavy: 0.2, latency: func(a, b, _ int) float64 {
			return 1 + 0.15*one(a/4 != b/4) + queue.Float64()*one((a/4 == 1) != (b/4 == 1))
		}})
		if len(groups) != 4 {
			t.Errorf("seed %d: %v", seed, groups)
		}
	}
}
