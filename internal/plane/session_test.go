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
		if got, _ := s.Sharing(c.team); got != c.shares {
			t.Errorf("team %v shares a machine: %v", c.team, got)
		}
		if got := s.OneClock(c.team); !slices.Equal(got, c.one) {
			t.Errorf("team %v reads one clock: %v, want %v", c.team, got, c.one)
		}
	}
}

// A team is crowded where an agent may have to wait for another's CPU, whether that is of the team or not.
func TestCrowded(t *testing.T) {
	s := Session{Peers: []Peer{
		{Machine: "two", CPU: "0"}, {Machine: "two", CPU: "1"}, {Machine: "same", CPU: "1"}, {Machine: "same", CPU: "1"},
		{Machine: "free", CPU: "1"}, {Machine: "free"}, {Machine: "alone"}, {}, {},
		{Machine: "late"}, {Machine: "late", CPU: "1"},
	}}
	for i := range s.Peers {
		s.Peers[i].Host = i
	}
	for _, c := range []struct {
		team []int
		want bool
	}{
		{[]int{0, 1}, false}, {[]int{2, 3}, true}, {[]int{4, 5}, true}, {[]int{9, 10}, true}, {[]int{6, 0}, false},
		{[]int{7, 8}, false}, {[]int{2, 0}, false}, {[]int{0, 1, 2}, true}, {[]int{0, 1, 6}, false},
	} {
		if _, got := s.Sharing(c.team); got != c.want {
			t.Errorf("team %v is crowded: %v, want %v", c.team, got, c.want)
		}
	}
}
