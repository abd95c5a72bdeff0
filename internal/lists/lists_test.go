package lists

import (
	"slices"
	"testing"
)

func TestLists(t *testing.T) {
	half := func(v int) float64 { return float64(v) / 2 }
	if got := Map([]int{3, 1}, half); !slices.Equal(got, []float64{1.5, 0.5}) {
		t.Errorf("halves of 3 and 1: %v", got)
	}
	if got := Map(nil, half); got != nil {
		t.Errorf("of none: %v, want nil", got)
	}
	if got := Flat([]int{2, 0, 1}, Upto); !slices.Equal(got, []int{0, 1, 0}) {
		t.Errorf("up to 2, 0 and 1: %v", got)
	}
	if got := Sum([]int{3, 1}, half); got != 2 {
		t.Errorf("sum of the halves of 3 and 1: %v", got)
	}
}
