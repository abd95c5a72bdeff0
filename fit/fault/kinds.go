package fault

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"calib/fit/resample"
	"calib/internal/lists"
	"calib/internal/stats"
)

const (
	// apart is the share by which hosts of two kinds differ at least.
	apart = 0.05
	// minKind is the number of hosts that are a kind: fewer are odd. It is also the number of pairs without which a host
	// has no figure of its own: its partners' would be in it.
	minKind = 3
)

// kinds are hosts that are alike, where the hosts are of several kinds: the largest kind first, and nil where they are
// of one. Latency is taken as the sum of a part of each host, and time per byte as that of the slower host.
func (s *Screen) kinds() [][]int {
	latency, perByte := levels(s.parts()), levels(s.best())
	by := map[[2]int][]int{}
	for h := range s.hosts {
		k := [2]int{latency[h], perByte[h]}
		by[k] = append(by[k], h)
	}
	var keys, odd [][2]int
	for k := range by {
		if len(by[k]) >= minKind && k[0] >= 0 && k[1] >= 0 {
			keys = append(keys, k)
		} else {
			odd = append(odd, k)
		}
	}
	if len(keys) < 2 {
		return nil
	}
	for _, k := range odd { // who is odd in one quantity belongs to the only kind that is like it in the other
		like := lists.Where(keys, func(o [2]int) bool { return k[0] == o[0] || k[1] == o[1] })
		if len(like) == 1 {
			by[like[0]] = append(by[like[0]], by[k]...)
		}
	}
	slices.SortFunc(keys, func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(len(by[b]), len(by[a])), slices.Compare(a[:], b[:]))
	})
	return lists.Map(keys, func(k [2]int) []int { return slices.Sorted(slices.Values(by[k])) })
}

// levels puts values into levels, -1 for none: sorted, two neighbours that differ by more than apart, and by more than
// three scaled MADs of either side, are of different levels. A level has minKind values or more.
func levels(values []float64) []int {
	out := slices.Repeat([]int{-1}, len(values))
	var order []int
	for i, v := range values {
		if v > 0 && !math.IsInf(v, 0) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	var found [][]int
	for len(order) > 0 {
		n := 1
		for n < len(order) && values[order[n]] <= (1+apart)*values[order[n-1]] {
			n++
		}
		if n >= minKind {
			found = append(found, order[:n])
		}
		order = order[n:]
	}
	number := 0
	for k, level := range found {
		if k > 0 {
			below, above := resample.Pick(values, found[k-1]), resample.Pick(values, level)
			if above[0]-below[len(below)-1] > 3*max(stats.MAD(below), stats.MAD(above)) {
				number++
			}
		}
		for _, i := range level {
			out[i] = number
		}
	}
	return out
}

// partner is another host, and what was seen between the two.
type partner struct {
	host  int
	value float64
}

// near lists the partners of each host in its group, with the median of a quantity: ways between groups, or within
// machines that are no groups, say more of the ways than of the hosts. What slows all pairs of a batch is taken out,
// whichever pairs are in it.
func (s *Screen) near(t test) [][]partner {
	all, machines := s.logs(t, nil), s.group == nil && !s.oneMachine(lists.Upto(s.hosts)...)
	for i := range all {
		all[i] = slices.DeleteFunc(all[i], func(r reading) bool {
			return r.Failed || s.between(r.Seen) || machines && s.oneMachine(r.From, r.To)
		})
	}
	usual := quantiles(0.5, all, func(s Seen) int { return s.From }, func(s Seen) int { return s.To })
	for _, b := range all {
		over := stats.Median(lists.Map(b, func(r reading) float64 { return r.over - max(usual[r.From], usual[r.To]) }))
		for i := range b {
			b[i].over -= over
		}
	}
	seen := quantiles(0.5, all, Seen.pair)
	middle := stats.Median(slices.Collect(maps.Values(seen)))
	out := make([][]partner, s.hosts)
	for _, p := range Sorted(seen) {
		v := math.Exp(seen[p] - middle)
		out[p[0]] = append(out[p[0]], partner{p[1], v})
		out[p[1]] = append(out[p[1]], partner{p[0], v})
	}
	return out
}

// sweeps is how often parts are moved.
const sweeps = 50

// parts returns what each host adds to a latency. A host's part is the median over its pairs of what the other part
// leaves. Every sweep moves all parts half way there, so that neither host of a pair is preferred. It is NaN where a
// host's pairs are too few.
func (s *Screen) parts() []float64 {
	near := s.near(tests[0])
	part := slices.Repeat([]float64{0.5}, s.hosts)
	for range sweeps {
		next := slices.Clone(part)
		for h, partners := range near {
			left := lists.Map(partners, func(p partner) float64 { return p.value - part[p.host] })
			next[h] = (part[h] + stats.Median(left)) / 2
		}
		part = next
	}
	return known(part, near)
}

// best returns each host's time per byte: the least of its pairs. A pair is as slow as the slower of its hosts, and
// some partner is not slow.
func (s *Screen) best() []float64 {
	near := s.near(test{quantity: Rate, of: perByte, rounds: batch})
	out := make([]float64, s.hosts)
	for h, partners := range near {
		out[h] = stats.Quantile(lists.Map(partners, func(p partner) float64 { return p.value }), 0.1)
	}
	return known(out, near)
}

func known(values []float64, near [][]partner) []float64 {
	for h, partners := range near {
		if len(partners) < minKind {
			values[h] = math.NaN()
		}
	}
	return values
}
