package fault

import (
	"fmt"
	"math/rand/v2"
	"strings"
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

// Groups and faults are found beside other faults, and among few hosts.
func TestBesideOthers(t *testing.T) {
	rack := func(n int) func(a, b, _ int) float64 {
		return func(a, b, _ int) float64 { return 1 + 0.3*one(a/n != b/n) }
	}
	uplink := func(a, b, n, of int) float64 { return one((a/n == of) != (b/n == of)) }
	for _, c := range []struct {
		name          string
		hosts, groups int
		want          string
		cluster
	}{
		{"a slow pair between racks", 16, 2, "[3 8]", cluster{latency: rack(8), perByte: func(a, b, _ int) float64 {
			return 1 + 0.3*one(Pair(a, b) == [2]int{3, 8})
		}}},
		{"a slow host and the uplink of another rack", 16, 4, "[0] [4 5 6 7]", cluster{latency: rack(4),
			perByte: func(a, b, _ int) float64 { return 1 + 0.3*one(a == 0) + uplink(a, b, 4, 1) }}},
		{"a dead pair over a slow uplink", 16, 4, "[4 12] [4 5 6 7]", cluster{latency: rack(4),
			perByte: func(a, b, _ int) float64 { return 1 + uplink(a, b, 4, 1) },
			fails:   func(a, b int) bool { return Pair(a, b) == [2]int{4, 12} }}},
		{"one of three hosts", 3, 0, "[2]", cluster{latency: func(a, b, _ int) float64 { return 1 + one(a == 2 || b == 2) }}},
	} {
		c.noise = 0.02
		for seed := range uint64(3) {
			j := screened(c.hosts, 149, 150, seed, c.cluster)
			var named []string
			for _, f := range j.Slow {
				named = append(named, fmt.Sprint(f.Hosts))
			}
			if got := strings.Join(named, " "); got != c.want || len(j.Groups) != c.groups {
				t.Errorf("%s, seed %d: %s named, want %s; groups %v", c.name, seed, got, c.want, j.Groups)
			}
		}
	}
}
