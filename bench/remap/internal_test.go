package remap

import (
	"slices"
	"testing"

	"calib/bench"
	"calib/internal/dataset/names"
)

func at(hosts, kind, span int64) bench.Point {
	return bench.Point{names.FactorHosts: hosts, names.FactorInjecting: hosts, names.FactorDestinations: kind,
		names.FactorSpan: span}
}

// No rank sends to itself or beyond the span; hosts in turn go through permutations; drawn destinations are all that
// may be, and others in every round.
func TestDestinations(t *testing.T) {
	for _, hosts := range []int64{2, 3, 4, 7, 8} {
		for span := range hosts {
			for _, kind := range []int64{names.DestinationsDrawn, names.DestinationsRound, names.DestinationsNext} {
				const n = 400
				p := at(hosts, kind, span)
				all := make([][]int, hosts)
				for rank := range all {
					all[rank] = destinations(p, 5, rank, make([]int, n))
					seen := map[int]bool{}
					for _, to := range all[rank] {
						up := (to - rank + int(hosts)) % int(hosts)
						if up == 0 || span > 0 && min(up, int(hosts)-up) > int(span) {
							t.Fatalf("%s: rank %d sends to %d", p.Key(), rank, to)
						}
						seen[to] = true
					}
					want := len(offsets(int(hosts), int(span)))
					if kind == names.DestinationsNext {
						want = 1
					}
					if len(seen) != want {
						t.Errorf("%s: rank %d sends to %d ranks, want %d", p.Key(), rank, len(seen), want)
					}
				}
				for i := range n {
					var to []int
					for rank := range all {
						to = append(to, all[rank][i])
					}
					slices.Sort(to)
					if kind != names.DestinationsDrawn && len(slices.Compact(to)) != int(hosts) {
						t.Fatalf("%s: injection %d is no permutation", p.Key(), i)
					}
				}
			}
		}
	}
	p := at(8, names.DestinationsDrawn, 0)
	if slices.Equal(destinations(p, 1, 0, make([]int, 50)), destinations(p, 2, 0, make([]int, 50))) ||
		slices.Equal(destinations(p, 1, 0, make([]int, 50)), destinations(p, 1, 1, make([]int, 50))) {
		t.Error("rounds or ranks draw the same destinations")
	}
	p[names.FactorInjecting] = 1
	if destinations(p, 1, 1, make([]int, 50)) != nil {
		t.Error("a rank that does not inject has destinations")
	}
}

func TestArrivals(t *testing.T) {
	a := newArrivals(bench.NewRecorder(bench.Task{}), 3)
	for i, n := range []int64{10, 20, 30, 40} { // one more than there is room for
		a.add(int64(100*(i+1)), n)
	}
	for _, c := range []struct{ lo, hi, want int64 }{{0, 99, 0}, {0, 100, 10}, {100, 200, 20}, {100, 399, 20},
		{0, 1000, 100}, {150, 400, 90}, {500, 400, 0}} {
		if got := a.between(c.lo, c.hi); got != c.want {
			t.Errorf("from %d to %d came %d bytes, want %d", c.lo, c.hi, got, c.want)
		}
	}
}

// What comes is cut into messages wherever reads end, and what is no message is an error.
func FuzzTake(f *testing.F) {
	f.Add([]byte{0, 9, 9, 1, 9, 9, 2, 0, 9, 9}, 3, 2)
	f.Add([]byte{7}, 1, 1)
	f.Fuzz(func(t *testing.T, b []byte, size, piece int) {
		if size < 1 || size > 1<<12 || piece < 1 {
			return
		}
		take := func(piece int) (job, error) {
			e := &engine{size: size, from: make([]arriving, 2)}
			e.job.log = newArrivals(bench.NewRecorder(bench.Task{}), len(b))
			err := bench.Caught(func() {
				for from := 0; from < len(b); from += piece {
					e.take(1, b[from:min(from+piece, len(b))], 0)
				}
			})
			return e.job, err
		}
		whole, errWhole := take(max(1, len(b)))
		parts, errParts := take(piece)
		if (errWhole == nil) != (errParts == nil) || errWhole == nil &&
			(whole.received != parts.received || whole.others != parts.others) {
			t.Errorf("in one piece %+v, %v; in pieces of %d %+v, %v", whole, errWhole, piece, parts, errParts)
		}
	})
}
