package collective

import (
	"slices"
	"testing"

	"calib/internal/dataset/names"
)

// A time runs from when the first host began that sends first; how far apart those began is known.
func TestTimes(t *testing.T) {
	of := times{early: []int64{0, 100, 5}, late: []int64{40, 100, 15}, ended: []int64{1040, 1200, 1015}}
	if got := of.took(); !slices.Equal(got, []int64{1040, 1100, 1010}) {
		t.Errorf("%v", got)
	}
	if got := of.skews(); got[names.AuxStartSkew] != 40 || got[names.AuxStartSkewMedian] != 10 {
		t.Errorf("%v", got)
	}
}
