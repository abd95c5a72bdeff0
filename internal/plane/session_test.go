package plane

import (
	"slices"
	"testing"
)

func TestSessionTeams(t *testing.T) {
	s := Session{Peers: []Peer{
		{Host: 3, Machine: "m", Clock: "m 1"}, {Host: 0, Machine: "m", Clock: "m 1"}, {Host: 1, Machine: "m", Clock: "m 2"},
		{Host: 2, Machine: "n", Clock: "n 1"}, {Host: 4}, {Host: 5},
	}}
	for _, c := range []struct {
		team   []int
		shares bool
		one    []bool
	}{
		{[]int{0, 3}, true, []bool{true, true}},
		{[]int{0, 1}, true, []bool{true, false}}, // a time namespace of its own
		{[]int{0, 2}, false, []bool{true, false}},
		{[]int{2, 0, 3}, true, []bool{true, false, false}}, // each is compared with rank 0
		{[]int{4, 5}, false, []bool{true, false}},          // unknown
		{[]int{8, 9}, false, []bool{true, false}},
	} {
		if got := s.SharesMachine(c.team); got != c.shares {
			t.Errorf("team %v shares a machine: %v", c.team, got)
		}
		if got := s.OneClock(c.team); !slices.Equal(got, c.one) {
			t.Errorf("team %v reads one clock: %v, want %v", c.team, got, c.one)
		}
	}
}

// A machine is crowded where an agent may have to wait for another's CPU.
func TestCrowded(t *testing.T) {
	got := Session{Peers: []Peer{
		{Machine: "two", CPU: "0"}, {Machine: "two", CPU: "1"}, {Machine: "same", CPU: "1"}, {Machine: "same", CPU: "1"},
		{Machine: "free", CPU: "1"}, {Machine: "free"}, {Machine: "alone"}, {}, {},
	}}.Crowded()
	if got["two"] || !got["same"] || !got["free"] || got["alone"] || got[""] {
		t.Error(got)
	}
}
