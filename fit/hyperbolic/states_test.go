package hyperbolic

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Two states are found at their place, and scatter of any size is not taken for them.
func TestStates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	draw := func(n int, level, scatter float64) (out []float64) {
		for range n {
			out = append(out, level*(1+scatter*rng.NormFloat64()))
		}
		return out
	}
	for _, slow := range []int{4, 15, 26} {
		x := append(draw(30-slow, 9.2, 0.01), draw(slow, 13.6, 0.02)...)
		slices.Sort(x)
		if at, ok := states(x); !ok || at != 30-slow {
			t.Errorf("%d of 30 batches are slower: from %d on, %t", slow, at, ok)
		}
	}
	for n, most := range map[int]int{8: 40, 10: 40, 20: 6} {
		found := 0
		for range 2000 {
			x := draw(n, 10, 0.1)
			slices.Sort(x)
			if _, ok := states(x); ok {
				found++
			}
		}
		if found > most {
			t.Errorf("%d of 2,000 runs of %d batches have two states, where there is one", found, n)
		}
	}
}
