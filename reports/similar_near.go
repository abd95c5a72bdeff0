package reports

import (
	"cmp"
	"math"
	"slices"
)

const (
	// nearShare is the share of the measured pairs within a group that must be short ways.
	nearShare = 0.95
	// aloneShare is the share of hosts that may be in no group.
	aloneShare = 0.1
)

// neighbourhoods returns groups of hosts such as racks: the ways within are shorter than those between. What the hosts
// add to a latency is divided out first. Ways are short or long on both sides of the threshold that separates them best
// (Otsu 1979, A threshold selection method from gray-level histograms, IEEE Trans. SMC 9, 62-66); hosts that short ways
// join are a group. Nothing is returned unless that describes the pairs: nearly all pairs within the groups are short,
// nearly all hosts are in a group, and there are more pairs within the groups than it takes to join their hosts.
func (t *pairTable) neighbourhoods(parts []float64) [][]string {
	var ways []float64
	excess := make([]float64, len(t.pairs))
	for i, q := range t.pairs {
		excess[i] = q.latency / (parts[q.a] + parts[q.b])
		if excess[i] > 0 {
			ways = append(ways, excess[i])
		}
	}
	slices.Sort(ways)
	limit, parted := threshold(ways)
	if !parted {
		return nil
	}
	group := make([]int, len(t.names)) // of each host: the least host of its group, found by following
	for h := range group {
		group[h] = h
	}
	find := func(h int) int {
		for group[h] != h {
			group[h] = group[group[h]]
			h = group[h]
		}
		return h
	}
	for i, q := range t.pairs {
		if a, b := find(q.a), find(q.b); excess[i] <= limit && a != b {
			group[max(a, b)] = min(a, b)
		}
	}
	within, short := 0, 0
	for i, q := range t.pairs {
		if excess[i] > 0 && find(q.a) == find(q.b) {
			within++
			if excess[i] <= limit {
				short++
			}
		}
	}
	members := map[int][]string{}
	for h, name := range t.names {
		members[find(h)] = append(members[find(h)], name)
	}
	var out [][]string
	placed := 0
	for h := range t.names { // in rank order
		if m := members[h]; len(m) > 1 {
			out = append(out, m)
			placed += len(m)
		}
	}
	if len(out) < 2 || within < placed || float64(short) < nearShare*float64(within) ||
		float64(len(t.names)-placed) > aloneShare*float64(len(t.names)) {
		return nil
	}
	slices.SortStableFunc(out, func(a, b []string) int { return cmp.Compare(len(b), len(a)) })
	return out
}

// threshold parts ascending values in two, so that the variance between the two sides is the largest. It is parted
// where the mean below is smaller than that above by more than apart of it.
func threshold(v []float64) (limit float64, parted bool) {
	total := 0.0
	for _, x := range v {
		total += x
	}
	sum, best, below, above := 0.0, -1.0, 0.0, 0.0
	for i, x := range v[:max(len(v)-1, 0)] {
		sum += x
		n, m := float64(i+1), float64(len(v)-i-1)
		lo, hi := sum/n, (total-sum)/m
		if d := n * m * (hi - lo) * (hi - lo); d > best && v[i+1] > x {
			best, limit, below, above = d, x, lo, hi
		}
	}
	return limit, best >= 0 && below < (1-apart)*above && !math.IsInf(above, 0)
}
