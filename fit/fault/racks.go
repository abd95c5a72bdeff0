package fault

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"calib/internal/lists"
	"calib/internal/stats"
)

const (
	// clear is the share of the pairs within groups that must be near.
	clear = 0.95
	// alone is the share of the hosts that may be in no group.
	alone = 0.1
	// limits is how many limits between near and far are tried.
	limits = 12
	// unlikely is the share of the clusters without groups in which chance may make some.
	unlikely = 0.01
	// The latencies of pairs are shuffled between leastShuffles and shuffles times. Within these limits, the number of
	// shuffles times that of pairs is shuffledPairs.
	shuffles, leastShuffles, shuffledPairs = 1999, 99, 50_000
)

// racks parts the hosts, but some, into groups, such as racks, where the ways between groups take longer than those
// within. It returns the group of each host, -1 for none, and nil where there are no groups. Pairs are near or far on
// both sides of a limit; hosts that near pairs join are a group. Of the limits at the widest gaps that describe the
// pairs, a clear one with the most groups counts, or else the one that sets the groups furthest apart.
func (s *Screen) racks(without map[int]bool) []int {
	best, apart := s.bestParted(s.ways(without), s.hosts-len(without))
	if best != nil {
		place(best, apart/2, s.ways(nil))
	}
	return best
}

// ways are the lower quartiles of the latencies of pairs, as logarithms: what disturbs a look makes it longer.
func (s *Screen) ways(without map[int]bool) map[[2]int]float64 {
	return quantiles(0.25, s.logs(tests[0], without), Seen.pair)
}

// oneMachine reports whether hosts are known to share a machine.
func (s *Screen) oneMachine(hosts ...int) bool {
	return s.Machine != nil && s.Machine[hosts[0]] != "" &&
		!slices.ContainsFunc(hosts, func(h int) bool { return s.Machine[h] != s.Machine[hosts[0]] })
}

// unsure says why it is open whether the hosts are in groups; "" where it is not. A host is likely to have met one of
// its group if it has met as many as there are hosts to each of a group, times the logarithm of their number.
func (s *Screen) unsure() string {
	n, met := float64(s.hosts), 2*float64(len(s.seen))/float64(s.hosts)
	switch {
	case s.group != nil || len(s.seen) == 0:
	case s.hosts < 6: // whatever the groups, chance makes some like them too often
		return "fewer than 6 hosts are too few to tell groups from chance"
	case s.hosts > wholeHosts && met < n-1:
		return fmt.Sprintf("too few pairs were seen to tell groups of fewer than %.0f hosts", min(n, 1+n*math.Log(n)/met))
	}
	return ""
}

// Groups parts hosts likewise, by the logarithm of each pair's latency. Ways between groups are longer by twice the
// margin at least.
func Groups(hosts int, margin float64, way map[[2]int]float64) [][]int {
	s := &Screen{hosts: hosts, margin: margin}
	best, apart := s.bestParted(way, hosts)
	place(best, apart/2, way)
	return members(best)
}

// bestParted is the best of partings of so many hosts, and how far apart its groups are. It is none where a permutation
// test does not exclude that all pairs are alike: shuffled, their latencies part the hosts as far too often.
func (s *Screen) bestParted(way map[[2]int]float64, hosts int) (best []int, furthest float64) {
	pairs := Sorted(way)
	values := lists.Map(pairs, func(p [2]int) float64 { return way[p] })
	all, gaps := slices.Sorted(slices.Values(values)), lists.Upto(max(len(values)-1, 0))
	slices.SortStableFunc(gaps, func(i, k int) int { return cmp.Compare(all[k+1]-all[k], all[i+1]-all[i]) })
	parted := func() (best []int, furthest float64) {
		most := 0
		for _, i := range gaps[:min(len(gaps), limits)] {
			groups, apart := s.parted(pairs, values, all[i], hosts)
			n := 0
			if all[i+1]-all[i] > 2*s.margin { // a gap as narrow as this may be within a group
				n = len(members(groups))
			}
			if apart > 2*s.margin && (n > most || n == most && apart > furthest) {
				best, most, furthest = groups, n, apart
			}
		}
		return best, furthest
	}
	best, furthest = parted()
	rng, tries := rand.New(rand.NewPCG(1, 1)), max(leastShuffles, min(shuffles, shuffledPairs/(len(pairs)+1)))
	for i, chance := 0, 1.; best != nil && i < tries; i++ {
		rng.Shuffle(len(values), func(i, k int) { values[i], values[k] = values[k], values[i] })
		if _, apart := parted(); apart >= furthest {
			chance++
		}
		if chance > unlikely*float64(tries+1) {
			return nil, 0
		}
	}
	return best, furthest
}

// members are the hosts of each group, by their first.
func members(group []int) (out [][]int) {
	at := map[int]int{}
	for h, g := range group {
		if g < 0 {
			continue
		}
		i, ok := at[g]
		if !ok {
			i = len(out)
			at[g], out = i, append(out, nil)
		}
		out[i] = append(out[i], h)
	}
	return out
}

// place puts each host of no group, such as a slow one, into the group to which its ways are shorter than to any other,
// by a margin.
func place(group []int, margin float64, way map[[2]int]float64) {
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
func (s *Screen) parted(pairs [][2]int, values []float64, limit float64, hosts int) (out []int, apart float64) {
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
	left := hosts
	for i, p := range pairs {
		if values[i] > limit {
			continue
		}
		if a, b := find(p[0]), find(p[1]); a != b {
			root[max(a, b)] = min(a, b)
			if left--; left == 1 {
				return nil, 0
			}
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
	near := 0.
	for i, p := range pairs {
		v := values[i]
		switch a, b := out[p[0]], out[p[1]]; {
		case a < 0 || b < 0:
		case a != b:
			between = append(between, v) // all far
		default:
			if within = append(within, v); v <= limit {
				near++
			}
		}
	}
	if len(within) < placed || near < clear*float64(len(within)) || !s.eachApart(out, pairs, values) {
		return nil, 0
	}
	return out, stats.Median(between) - stats.Median(within)
}

// eachApart reports whether the ways from each group take longer than those within it, by twice the margin.
func (s *Screen) eachApart(group []int, pairs [][2]int, values []float64) bool {
	within, from := map[int][]float64{}, map[int][]float64{}
	for i, p := range pairs {
		switch a, b := group[p[0]], group[p[1]]; {
		case a < 0 || b < 0:
		case a == b:
			within[a] = append(within[a], values[i])
		default:
			from[a], from[b] = append(from[a], values[i]), append(from[b], values[i])
		}
	}
	for g, ways := range within {
		if stats.Median(from[g])-stats.Median(ways) <= 2*s.margin {
			return false
		}
	}
	return true
}

// uplinks adds what a quantity says of the ways from each of three groups or more to the others. Only of a group whose
// uplink is slow they all are, so that its fastest counts. Ways over an uplink that is slow, or suspected, say nothing
// of hosts and pairs.
func (s *Screen) uplinks(j *Judgement, t test) {
	if s.group == nil {
		return
	}
	seen, all := map[int]*record{}, s.compared(s.logs(t, nil))
	for i, b := range all {
		b = slices.DeleteFunc(b, func(r reading) bool {
			return !s.between(r.Seen) || min(s.group[r.From], s.group[r.To]) < 0
		})
		all[i] = b
		own, ways, values := map[int][]reading{}, map[[2]int][]reading{}, map[int]float64{}
		for _, r := range b {
			for _, h := range []int{r.From, r.To} {
				if g, to := s.group[h], s.group[r.From+r.To-h]; t.role(r.Seen, h) {
					own[g], ways[[2]int{g, to}] = append(own[g], r), append(ways[[2]int{g, to}], r)
				}
			}
		}
		for w, list := range ways {
			v, ok := values[w[0]]
			if m := medianOf(list); !ok || m < v {
				values[w[0]] = m
			}
		}
		score(s, t, seen, values, own)
	}
	for i, hosts := range members(s.group) {
		r := seen[s.group[hosts[0]]]
		if r == nil {
			continue
		}
		f := r.found(hosts, t.quantity)
		f.Uplink, f.Direction = true, ""
		if f.Evidence < suspect {
			continue
		}
		if f.against(all); !s.matters(f) {
			continue
		}
		s.enter(j, f)
		for _, h := range hosts {
			s.behind[h] = i + 1
		}
	}
}

// between reports whether a pair is between two groups. So is one of a host of no group, which has no near partner: it
// may not have met its neighbours yet.
func (s *Screen) between(r Seen) bool {
	return s.group != nil && (s.group[r.From] != s.group[r.To] || s.group[r.From] < 0)
}

// congested reports whether a pair is over an uplink that is slow, or may be: how long it takes depends on who else is.
func (s *Screen) congested(r Seen) bool {
	return s.behind[r.From] != s.behind[r.To]
}

// pods groups the groups likewise, by the median latency between them: it numbers the pod of each host. There is none
// where groups are equally far from each other.
func (s *Screen) pods() map[int]int {
	groups := members(s.group)
	number := Numbers(groups)
	ways := quantiles(0.5, s.logs(tests[0], nil), func(r Seen) [2]int { return Pair(number[r.From]-1, number[r.To]-1) })
	maps.DeleteFunc(ways, func(p [2]int, _ float64) bool { return p[0] < 0 || p[0] == p[1] })
	out := map[int]int{}
	for g, pod := range Numbers(Groups(len(groups), s.margin, ways)) {
		for _, h := range groups[g] {
			out[h] = pod
		}
	}
	return out
}

// class numbers the pairs that are compared with each other: those of hosts of the same two kinds, within groups or
// between, within pods or between, or on one machine. A host of no kind is taken for one of the largest.
func (s *Screen) class(r Seen) [4]int {
	a, b := max(s.kindOf[r.From], 1), max(s.kindOf[r.To], 1)
	c := [4]int{min(a, b), max(a, b), 0, 0}
	if s.pod[r.From] != s.pod[r.To] {
		c[3] = 1
	} else if s.oneMachine(r.From, r.To) {
		c[3] = 2
	}
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
	of := quantiles(0.5, s.logs(tests[0], nil), func(r Seen) [2]bool {
		return [2]bool{s.between(r), min(s.group[r.From], s.group[r.To]) < 0}
	})
	return members(s.group), math.Exp(of[[2]bool{true, false}] - of[[2]bool{}])
}
