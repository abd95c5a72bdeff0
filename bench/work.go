package bench

import (
	"hash/maphash"
	"maps"
	"slices"
)

// work is one point on one team.
type work struct {
	exp    string
	team   []int
	point  Point
	series *series // the first of a list
	next   int32   // the next of works with the same hash; 0 is none
	closed bool
}

// work finds a point on a team, and makes it where it is not there and is to be.
func (t *Stopper) work(exp string, team []int, p Point, create bool) *work {
	h := t.hash(exp, team, p)
	first := t.index[h]
	for i := first; i != 0; i = t.works[i].next {
		w := &t.works[i]
		if w.exp == exp && slices.Equal(w.team, team) && maps.Equal(w.point, p) {
			return w
		}
	}
	if !create {
		return nil
	}
	t.works = append(t.works, work{exp: exp, team: team, point: p, next: first})
	t.index[h] = int32(len(t.works) - 1)
	return &t.works[len(t.works)-1]
}

// hash is equal for equal points on equal teams; factors may come in any order.
func (t *Stopper) hash(exp string, team []int, p Point) uint64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	h.WriteString(exp)
	for _, host := range team {
		maphash.WriteComparable(&h, host)
	}
	sum := h.Sum64()
	for name, v := range p {
		h.Reset()
		h.WriteString(name)
		maphash.WriteComparable(&h, v)
		sum += h.Sum64()
	}
	return sum
}

// find returns the series of a phase and ranks, or nil.
func (w *work) find(phase string, ranks []int) *series {
	for s := w.series; s != nil; s = s.next {
		if s.phase == phase && slices.Equal(s.ranks, ranks) {
			return s
		}
	}
	return nil
}
