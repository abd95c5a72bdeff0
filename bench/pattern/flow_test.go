package pattern

import (
	"fmt"
	"slices"
	"testing"
)

// eachSchedule calls f with every pattern, written down for teams of many sizes.
func eachSchedule(t *testing.T, f func(t *testing.T, p Pattern, s Schedule)) {
	for _, p := range All {
		for _, size := range []int{2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 16, 17} {
			if !p.Defined(size) {
				continue
			}
			for _, m := range []int{1, 7, 1 << 10, 100 << 10} {
				t.Run(fmt.Sprintf("%s/%d/%d", p.Name(), size, m), func(t *testing.T) {
					s, err := Of(p, size, m)
					if err != nil {
						t.Fatal(err)
					}
					f(t, p, s)
				})
			}
		}
	}
}

// TestBalanced: what a rank sends to another is what that receives from it, message by message.
func TestBalanced(t *testing.T) {
	eachSchedule(t, func(t *testing.T, _ Pattern, s Schedule) {
		for from := range s {
			for to := range s {
				out := between(s[from], to, func(s Step) []Part { return s.Out })
				in := between(s[to], from, func(s Step) []Part { return s.In })
				if !slices.Equal(out, in) {
					t.Errorf("rank %d sends %v to %d, which receives %v", from, out, to, in)
				}
			}
		}
	})
}

func between(steps []Step, peer int, of func(Step) []Part) (sizes []int) {
	for _, step := range steps {
		for _, p := range of(step) {
			if p.Peer == peer {
				sizes = append(sizes, p.Bytes)
			}
		}
	}
	return sizes
}

// TestWithoutBuffers: a message passes only while its receiver receives, and both sides of an exchange keep their
// order. Still every pattern ends, and then every rank knows of those it must have heard of, directly or through
// others.
func TestWithoutBuffers(t *testing.T) {
	eachSchedule(t, func(t *testing.T, p Pattern, s Schedule) {
		knows := play(t, s)
		size := len(s)
		for rank := range s {
			for of := range s {
				if must := mustKnow(p.Operation, rank, of, size); must && !knows[rank][of] {
					t.Errorf("rank %d has nothing of rank %d", rank, of)
				}
			}
		}
	})
}

// mustKnow says whose data a rank must have in the end.
func mustKnow(operation string, rank, of, size int) bool {
	switch operation {
	case "p2p", "bcast", "scatter":
		return of == 0
	case "allreduce", "globalop", "barrier", "alltoall":
		return true
	case "gather", "incast":
		return rank == 0
	case "neighbour":
		d := (rank - of + size) % size
		return min(d, size-d) <= 2 && (size > 3 || d > 0 || rank == of)
	case "dd":
		g := squareGrid(size)
		rows, columns := rank/g.columns-of/g.columns, rank%g.columns-of%g.columns
		return max(rows*rows, columns*columns) <= 1
	}
	g := planes(size, 0)
	rows, columns := rank/g.columns-of/g.columns, rank%g.columns-of%g.columns
	return rows == 1 && columns == 0 || rows == 0 && columns*columns <= 1
}

// play lets messages pass, each while its receiver waits for it, and returns whose data each rank has in the end. A
// message carries what its sender had when its step began.
func play(t *testing.T, s Schedule) [][]bool {
	t.Helper()
	type state struct {
		step, out, in int
		has, began    []bool
	}
	all := make([]state, len(s))
	for r := range all {
		all[r].has = make([]bool, len(s))
		all[r].has[r] = true
		all[r].began = slices.Clone(all[r].has)
	}
	next := func(r int) { // goes on to the step in which there is something left
		x := &all[r]
		for x.step < len(s[r]) && x.out == len(s[r][x.step].Out) && x.in == len(s[r][x.step].In) {
			*x = state{x.step + 1, 0, 0, x.has, slices.Clone(x.has)}
		}
	}
	for moved := true; moved; {
		moved = false
		for from := range all {
			next(from)
			a := &all[from]
			if a.step == len(s[from]) || a.out == len(s[from][a.step].Out) {
				continue
			}
			to := s[from][a.step].Out[a.out].Peer
			next(to)
			b := &all[to]
			if b.step == len(s[to]) || b.in == len(s[to][b.step].In) || s[to][b.step].In[b.in].Peer != from {
				continue
			}
			for k, has := range a.began {
				b.has[k] = b.has[k] || has
			}
			a.out, b.in, moved = a.out+1, b.in+1, true
		}
	}
	out := make([][]bool, len(s))
	for r := range all {
		next(r)
		if all[r].step < len(s[r]) {
			t.Fatalf("rank %d is stuck in step %d of %d", r, all[r].step, len(s[r]))
		}
		out[r] = all[r].has
	}
	return out
}
