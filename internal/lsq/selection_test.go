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
