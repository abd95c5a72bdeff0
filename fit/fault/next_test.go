package fault

import (
	"math/rand/v2"
	"testing"
)

// Each pair is seen in both directions alike, also one that is suspected and seen often.
func TestPairsBothWays(t *testing.T) {
	for seed := range uint64(5) {
		c := cluster{rng: rand.New(rand.NewPCG(seed, 7)), noise: 0.05, perByte: func(a, b, _ int) float64 {
			return 1 + 0.3*one(Pair(a, b) == [2]int{3, 8})
		}}
		s, to := New(16, 0.02), map[[2]int]int{}
		for round := range 60 {
			var seen []Seen
			for _, p := range s.Next(c.rng) {
				seen = append(seen, c.see(p, round))
				to[p]++
			}
			s.Add(seen, 0.5)
		}
		for p, n := range to {
			if back := to[[2]int{p[1], p[0]}]; n > back+1 {
				t.Errorf("seed %d: pair %v %d times, and %d times in the other direction", seed, p, n, back)
			}
		}
	}
}
