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

// A team waits where two of its hosts are one machine, and an agent there may have to wait for another's CPU.
func TestWaits(t *testing.T) {
	waits := Session{Peers: []Peer{
		{Host: 0, Machine: "two", CPU: "0"}, {Host: 1, Machine: "two", CPU: "1"},
		{Host: 2, Machine: "same", CPU: "1"}, {Host: 3, Machine: "same", CPU: "1"}, {Host: 4, Machine: "same", CPU: "0"},
		{Host: 5, Machine: "free", CPU: "1"}, {Host: 6, Machine: "free"}, {Host: 7, Machine: "alone"}, {Host: 8}, {Host: 9},
	}}.Waits()
	for _, c := range []struct {
		team []int
		want bool
	}{
		{[]int{0, 1}, false}, {[]int{2, 3}, true}, {[]int{2, 4}, true}, {[]int{5, 6}, true}, {[]int{2, 5}, false},
		{[]int{0, 1, 2}, true}, {[]int{7, 0}, false}, {[]int{8, 9}, false}, {[]int{20, 21}, false},
	} {
		if got := waits(c.team); got != c.want {
			t.Errorf("team %v waits: %t", c.team, got)
		}
	}
}
