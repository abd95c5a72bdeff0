package lsq

import (
	"math"
	"slices"
	"testing"
)

// Every inner point is predicted once, by a fit that has not seen it; above 100 points by ten fits in all.
func TestLeaveOneOut(t *testing.T) {
	for _, c := range []struct{ n, fits int }{{2, 0}, {4, 2}, {102, 100}, {103, 10}, {490, 10}} {
		var x, y []float64
		for i := range c.n {
			x, y = append(x, float64(i)), append(y, float64(i+1))
		}
		fits, predicted := 0, make([]int, c.n)
		e, ok := LeaveOneOut(x, y, func(xs, _ []float64) (Func, error) {
			fits++
			seen := slices.Clone(xs)
			return func(v float64) float64 {
				if slices.Contains(seen, v) {
					t.Errorf("%d points: %g is predicted by a fit that has seen it", c.n, v)
				}
				predicted[int(v)]++
				return 1.1 * (v + 1)
			}, nil
		})
		if ends := predicted[0] + predicted[c.n-1]; ends != 0 {
			t.Errorf("%d points: the ends were left out", c.n)
		}
		inner := predicted[1 : c.n-1]
		if c.fits == 0 {
			if ok {
				t.Errorf("%d points: error %g, want none", c.n, e)
			}
			continue
		}
		if !ok || math.Abs(e-0.1) > 1e-12 || fits != c.fits || slices.Min(inner) != 1 || slices.Max(inner) != 1 {
			t.Errorf("%d points: error %g, %v; %d fits, want %d", c.n, e, ok, fits, c.fits)
		}
	}
}
