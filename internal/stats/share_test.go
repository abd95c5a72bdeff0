package stats

import (
	"math"
	"testing"
)

// TestShareCI: values of Newcombe 1998 (Statistics in Medicine 17, table I, method 3), and what holds of all.
func TestShareCI(t *testing.T) {
	for _, c := range []struct{ hits, n, lo, hi float64 }{
		{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}, {29, 29, 0.8830, 1},
	} {
		if ci := ShareCI(c.hits, c.n); math.Abs(ci.Lo-c.lo) > 1e-4 || math.Abs(ci.Hi-c.hi) > 1e-4 {
			t.Errorf("%g of %g: %+v, want [%g, %g]", c.hits, c.n, ci, c.lo, c.hi)
		}
	}
}
