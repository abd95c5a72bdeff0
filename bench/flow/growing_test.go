package flow

import (
	"math/rand/v2"
	"testing"
)

// A rate that still grows in the window is seen, and scatter of any size is not taken for it.
func TestGrowing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	seen := func(first, scatter float64) bool {
		var c counted
		for i := range slices {
			v := 1000 * (1 + scatter*rng.NormFloat64())
			if i < slices/2 {
				v *= first
			}
			c.bytes[i+1] = c.bytes[i] + v
		}
		return c.growing()
	}
	if !seen(0.977, 0.005) || seen(0.995, 0.0001) || seen(1.02, 0.0001) {
		t.Error("want a rate that grows by 2.3%, and none that grows by 0.5% or falls")
	}
	wrong := 0
	for range 1000 {
		if seen(1, 0.15) {
			wrong++
		}
	}
	if wrong > 50 {
		t.Errorf("%d of 1,000 steady streams grow", wrong)
	}
}
