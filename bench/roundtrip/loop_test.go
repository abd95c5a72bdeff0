package roundtrip

import (
	"math"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/needs"
	"calib/transport/sim"
)

func TestTimedSectionsDoNotAllocate(t *testing.T) {
	needs.Allocations(t)
	err := sim.New(benchtest.Spec(2), sim.Options{Cost: sim.Cost{Now: 10}}).Run([]int{0, 1},
		func(rank int, g *sim.Group) error {
			const runs, each = 20, 10
			ns := make([]int64, each)
			y := loop{Team: bench.Team{Group: g}, e: Whole(1-rank, make([]byte, 10_000))}
			return bench.Caught(func() {
				if rank == 1 {
					for range runs + 2 {
						followAll(y.Team, y.e)
					}
					return
				}
				batch := func() {
					if got, _ := y.repeat(ns, math.MaxInt64); len(got) != each {
						t.Error(got)
					}
				}
				batch()
				if n := testing.AllocsPerRun(runs, batch); n != 0 {
					t.Errorf("a batch of messages allocates %g times", n)
				}
			})
		})
	if err != nil {
		t.Fatal(err)
	}
}

// slowing is an exchange that takes longer each time.
type slowing struct {
	took  []int64
	final int // the exchange that is Final; 0 is none
	n     int
	last  bool // what rank 1 was told in the end
}

func (x *slowing) Lead(_ bench.Team, last bool) Trip {
	x.last = last
	l := Trip{NS: 1, Took: x.took[min(x.n, len(x.took)-1)]}
	x.n++
	l.Final = x.n == x.final
	return l
}

func (x *slowing) Follow(bench.Team) bool { return x.last }

// A batch fills its buffer, unless its exchanges last longer than the limit in all, or one is Final. In each case rank
// 1 knows.
func TestRepeat(t *testing.T) {
	for _, tc := range []struct {
		name        string
		x           slowing
		least, want int
		last        bool
	}{
		{"full", slowing{took: []int64{1}}, 3, 10, true},
		{"slow from the first", slowing{took: []int64{500}}, 3, 3, true},
		{"slow in the end", slowing{took: []int64{10, 10, 10, 10, 50, 50, 50}}, 3, 7, true},
		{"final", slowing{took: []int64{1}, final: 4}, 3, 4, false},
	} {
		y := loop{e: &tc.x, b: Bounds{Least: tc.least}}
		ns, over := y.repeat(make([]int64, 10), 100)
		if n := len(ns); n != tc.want || tc.x.last != tc.last || over != (tc.x.final > 0) || tc.x.n != n {
			t.Errorf("%s: %d exchanges, final %t, last %t; want %d", tc.name, n, over, tc.x.last, tc.want)
		}
	}
}

// A batch is bounded by bytes, by sends and by the effort.
func TestBounds(t *testing.T) {
	const quick = bench.Effort(0.1)
	for _, tc := range []struct {
		b          Bounds
		reps, warm int
		quick      int
	}{
		{Bounds{Bytes: 1, Sends: 1, Most: 200, Least: 5}, 200, 10, 20},
		{Bounds{Bytes: 1 << 20, Sends: 1, Most: 200, Least: 5}, 16, 10, 5},
		{Bounds{Bytes: 1 << 24, Sends: 1, Most: 200, Least: 5}, 5, 2, 5},
		{Bounds{Bytes: 1 << 20, Sends: 4096, Most: 200, Least: 3}, 3, 2, 3},
		{Bounds{Bytes: 1 << 10, Sends: 1024, Most: 200, Least: 3}, 8, 8, 3},
	} {
		if a, b, c := tc.b.reps(0), tc.b.warm(), tc.b.reps(quick); a != tc.reps || b != tc.warm || c != tc.quick {
			t.Errorf("%+v: %d repetitions after %d, %d in a quick plan; want %d, %d, %d", tc.b, a, b, c, tc.reps, tc.warm,
				tc.quick)
		}
	}
}
