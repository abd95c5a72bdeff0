package fault

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"calib/internal/stats"
)

const (
	// clear is the share of the pairs within groups that must be near, and of those between groups that must be far.
	clear = 0.95
	// alone is the share of the hosts that may be in no group.
	alone = 0.1
	// limits is how many limits between near and far are tried.
	limits = 12
)

// racks parts the hosts, but some, into groups, such as racks, where the ways between groups take longer than those
// within. It returns the group of each host, -1 for none, and nil where there are no groups. Pairs are near or far on
// both sides of a limit; hosts that near pairs join are a group. Of the limits at the widest gaps that one counts which
// describes the pairs and sets the groups furthest apart.
func (s *Screen) racks(without map[int]bool) (best []int) {
	way := medians(s.logs(tests[0], without))
	var all []float64
	for _, v := range way {
		all = append(all, v)
	}
	slices.Sort(all)
	var gaps []int
	for i := range max(len(all)-1, 0) {
		gaps = append(gaps, i)
	}
	slices.SortStableFunc(gaps, func(i, k int) int { return cmp.Compare(all[k+1]-all[k], all[i+1]-all[i]) })
	least := 2 * s.margin
	for _, i := range gaps[:min(len(gaps), limits)] {
		if groups, apart := s.parted(way, all[i], s.hosts-len(without)); apart > least {
			best, least = groups, apart
		}
	}
	if best != nil {
		s.place(best, least/2)
	}
	return best
}

// medians are those of each pair.
func medians(all [][]reading) map[[2]int]float64 {
	seen := map[[2]int][]float64{}
	for _, r := range slices.Concat(all...) {
		if !r.Failed {
			seen[r.pair()] = append(seen[r.pair()], r.over)
		}
	}
	out := map[[2]int]float64{}
	for p, v := range seen {
		out[p] = stats.Median(v)
	}
	return out
}

// place puts each host of no group, such as a slow one, into the group to which its ways are shorter than to any other,
// by a margin.
func (s *Screen) place(group []int, margin float64) {
	way := medians(s.logs(tests[0], nil))
	for h := range group {
		if group[h] >= 0 {
			continue
		}
		to := map[int][]float64{}
		for o, g := range group {
			if v, ok := way[Pair(h, o)]; ok && g >= 0 {
				to[g] = append(to[g], v)
			}
		}
		nearest, best, next := -1, math.Inf(1), math.Inf(1)
		for _, g := range slices.Sorted(maps.Keys(to)) {
			switch v := stats.Median(to[g]); {
			case v < best:
				nearest, best, next = g, v, best
			case v < next:
				next = v
			}
		}
		if next-best > margin && !math.IsInf(next, 1) {
			group[h] = nearest
		}
	}
}

// parted groups the hosts that near pairs join, and says how much longer the ways between groups are; 0 where that does
// not describe the pairs.
func (s *Screen) parted(way map[[2]int]float64, limit float64, hosts int) (out []int, apart float64) {
	root := make([]int, s.hosts)
	for h := range root {
		root[h] = h
	}
	find := func(h int) int {
		for root[h] != h {
			root[h] = root[root[h]]
			h = root[h]
		}
		return h
	}
	for p, v := range way {
		if a, b := find(p[0]), find(p[1]); v <= limit && a != b {
			root[max(a, b)] = min(a, b)
		}
	}
	members := map[int]int{}
	for h := range root {
		members[find(h)]++
	}
	groups, placed := 0, 0
	out = slices.Repeat([]int{-1}, s.hosts)
	for h := range root {
		if members[find(h)] > 1 {
			out[h] = find(h)
			placed++
			if out[h] == h {
				groups++
			}
		}
	}
	if groups < 2 || float64(hosts-placed) > alone*float64(hosts) {
		return nil, 0
	}
	var within, between []float64
	near, far := 0., 0.
	for p, v := range way {
		switch a, b := out[p[0]], out[p[1]]; {
		case a < 0 || b < 0:
		case a == b:
			if within = append(within, v); v <= limit {
				near++
			}
		default:
			if between = append(between, v); v > limit {
				far++
			}
		}
	}
	if len(within) < placed || near < clear*float64(len(within)) || far < clear*float64(len(between)) {
		return nil, 0
	}
	return out, stats.Median(between) - stats.Median(within)
}

// between reports whether a pair is between two groups. A host of no group is compared with hosts of one.
func (s *Screen) between(r Seen) bool {
	return s.group != nil && s.group[r.From] >= 0 && s.group[r.To] >= 0 && s.group[r.From] != s.group[r.To]
}

// class numbers the pairs that are compared with each other: those of hosts of the same two kinds, within groups or
// between. A host of no kind is taken for one of the largest.
func (s *Screen) class(r Seen) [3]int {
	a, b := max(s.kindOf[r.From], 1), max(s.kindOf[r.To], 1)
	c := [3]int{min(a, b), max(a, b), 0}
	if s.between(r) {
		c[2] = 1
	}
	return c
}

// groups are the hosts of each group, and how many times as long a byte takes between groups as within; none where the
// hosts are one group.
func (s *Screen) groups() (groups [][]int, apart float64) {
	if s.group == nil {
		return nil, 1
	}
	at := map[int]int{}
	for h, g := range s.group {
		if g < 0 {
			continue
		}
		i, ok := at[g]
		if !ok {
			i = len(groups)
			at[g], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], h)
	}
	of := map[bool][]float64{}
	for _, r := range slices.Concat(s.logs(tests[0], nil)...) {
		if !r.Failed && s.group[r.From] >= 0 && s.group[r.To] >= 0 {
			of[s.between(r.Seen)] = append(of[s.between(r.Seen)], r.over)
		}
	}
	return groups, math.Exp(stats.Median(of[true]) - stats.Median(of[false]))
}
