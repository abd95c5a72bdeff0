package kernel

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// Every CPU is one rank's, or, of fewer than ranks, several ranks'.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		cpus []int
		size int
		want [][]int
	}{
		{[]int{0, 1}, 2, [][]int{{0}, {1}}},
		{[]int{2, 3, 5, 7, 8}, 2, [][]int{{2, 5, 8}, {3, 7}}},
		{[]int{4, 6}, 3, [][]int{{4}, {6}, {4}}},
	} {
		var all unix.CPUSet
		for _, cpu := range c.cpus {
			all.Set(cpu)
		}
		for rank, want := range c.want {
			if got := shareOf(&all, rank, c.size); !slices.Equal(got, want) {
				t.Errorf("CPUs %v, rank %d of %d: %v, want %v", c.cpus, rank, c.size, got, want)
			}
		}
	}
}
