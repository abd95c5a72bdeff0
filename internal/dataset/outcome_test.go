package dataset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestThinStops(t *testing.T) {
	width := func(v float64) *float64 { return &v }
	all := []Stop{
		{Experiment: "pingpong", Point: "bytes=1", Ranks: []int{0, 1}, Reason: StopTarget, Width: width(0.01), Rounds: 6},
		{Experiment: "pingpong", Point: "bytes=1", Ranks: []int{2, 3}, Reason: StopTarget, Width: width(0.02), Rounds: 8},
		{Experiment: "pingpong", Point: "bytes=1", Ranks: []int{4, 5}, Reason: StopTarget, Width: width(0.015), Rounds: 7},
		{Experiment: "pingpong", Point: "bytes=1", Ranks: []int{6, 7}, Reason: StopBudget, Rounds: 3},
		{Experiment: "pingpong", Point: "bytes=1", Ranks: []int{8, 9}, Reason: StopBudget, Rounds: 2},
		{Experiment: "pingpong", Point: "bytes=64", Ranks: []int{0, 1}, Reason: StopTarget, Width: width(0.01), Rounds: 6},
	}
	if diff := cmp.Diff(all, ThinStops(all, len(all))); diff != "" {
		t.Errorf("few stops are changed: %s", diff)
	}
	want := []Stop{all[1], all[4], all[5]}
	want[0].Keys, want[1].Keys, want[2].Keys = 3, 2, 1
	if diff := cmp.Diff(want, ThinStops(all, len(all)-1)); diff != "" {
		t.Error(diff)
	}
}
