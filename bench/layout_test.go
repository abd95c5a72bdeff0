package bench

import (
	"fmt"
	"slices"
	"testing"
)

// checkSteps fails unless no host is twice in a step and every pair is listed as often as count says.
func checkSteps(t *testing.T, p int, steps []Step, count func(pair [2]int) bool) {
	t.Helper()
	seen := map[[2]int]int{}
	for i, step := range steps {
		busy := map[int]bool{}
		for _, team := range step {
			if len(team) != 2 || team[0] < 0 || team[0] >= team[1] || team[1] >= p {
				t.Fatalf("%d hosts, step %d: team %v is no pair", p, i, team)
			}
			for _, h := range team {
				if busy[h] {
					t.Fatalf("%d hosts, step %d: host %d is busy twice", p, i, h)
				}
				busy[h] = true
			}
			seen[[2]int(team)]++
		}
	}
	for a := range p {
		for b := a + 1; b < p; b++ {
			want := 0
			if count([2]int{a, b}) {
				want = 1
			}
			if pair := [2]int{a, b}; seen[pair] != want {
				t.Fatalf("%d hosts: pair %v occurs %d times, want %d", p, pair, seen[pair], want)
			}
		}
	}
}

func TestColouring(t *testing.T) {
	sizes := []int{256}
	for p := range 34 {
		sizes = append(sizes, p)
	}
	for _, p := range sizes {
		steps := Colouring(p)
		want := max(0, p-1+p%2)
		if p < 2 {
			want = 0
		}
		if len(steps) != want {
			t.Errorf("%d hosts: %d steps, want %d", p, len(steps), want)
		}
		for i, s := range steps {
			if len(s) != p/2 {
				t.Errorf("%d hosts, step %d: %d pairs, want %d", p, i, len(s), p/2)
			}
		}
		checkSteps(t, p, steps, func([2]int) bool { return true })
	}
}

func TestNeighbours(t *testing.T) {
	for p := range 10 {
		steps := Neighbours(p)
		checkSteps(t, p, steps, func(q [2]int) bool {
			return q[0]%2 == 0 && q[1] == q[0]+1 || p%2 == 1 && q == [2]int{0, p - 1}
		})
		for _, s := range steps {
			if len(s) != 1 {
				t.Errorf("%d hosts: step %v is not one pair", p, s)
			}
		}
	}
}

func ExampleColouring() {
	for _, step := range Colouring(4) {
		fmt.Println(step)
	}
	// Output:
	// [[0 3] [1 2]]
	// [[1 3] [0 2]]
	// [[2 3] [0 1]]
}

func TestGrowing(t *testing.T) {
	for _, c := range []struct {
		most, count int
		want        []int
	}{
		{0, 8, nil}, {1, 8, []int{1}}, {5, 8, []int{1, 2, 3, 4, 5}}, {7, 6, []int{1, 2, 3, 4, 5, 7}},
		{15, 8, []int{1, 2, 3, 4, 5, 7, 10, 15}}, {255, 8, []int{1, 2, 5, 11, 24, 52, 116, 255}},
	} {
		if got := Growing(c.most, c.count); !slices.Equal(got, c.want) {
			t.Errorf("up to %d in %d: %v, want %v", c.most, c.count, got, c.want)
		}
	}
}
