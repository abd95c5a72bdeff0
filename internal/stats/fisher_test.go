package stats

import (
	"math"
	"testing"
)

func TestFisher(t *testing.T) {
	for _, c := range []struct {
		k, n, j, m int
		want       float64
	}{
		{0, 3, 3, 3, 1.0 / 20},  // 1/C(6,3)
		{0, 6, 6, 6, 1.0 / 924}, // 1/C(12,6)
		{1, 4, 3, 4, 17.0 / 70}, // the lady tasting tea, the other way round
		{3, 3, 3, 3, 1},
		{0, 0, 5, 5, 1},
	} {
		if got := Fisher(c.k, c.n, c.j, c.m); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%d of %d against %d of %d: %g, want %g", c.k, c.n, c.j, c.m, got, c.want)
		}
	}
}
