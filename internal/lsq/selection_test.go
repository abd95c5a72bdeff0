package lsq

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The median by selection is that of the sorted values to the last bit, whatever their order and however many are
// equal.
func TestMedianAbove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, 1e-3), rapid.SampledFrom([]float64{0, 1, 2})), 1, 200).Draw(t, "v")
		p := rapid.IntRange(0, min(3, len(v)-1)).Draw(t, "p")
		want := medianSorted(slices.Sorted(slices.Values(v))[p:])
		if got := medianAbove(v, p); got != want {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// medianSorted is the median of ascending values: the mean of the two middle ones for an even number. s must not be
// empty.
func medianSorted(s []float64) float64 {
	m := len(s)
	if m%2 == 1 {
		return s[m/2]
	}
	return s[m/2-1] + (s[m/2]-s[m/2-1])/2
}
