package reports

import (
	"cmp"
	"math"
	"slices"

	"calib/internal/stats"
	"calib/params"
)

// ManyHosts is the number of hosts above which a report describes their distribution, and a heat map blocks of them.
const ManyHosts = 64

const (
	// apart is the share by which two neighbours in a sorted list differ that are of different levels. A slow host is
	// slow by as much.
	apart    = 0.05
	minGroup = 3 // the number of hosts that make a group: fewer are odd
	minPairs = 3 // the number of pairs without which a host has no figure of its own: its partners' would be in it
)

type alikeHost struct {
	Name    string
	Latency float64 // s, of a message between it and a typical host; NaN where its pairs are too few
	Rate    float64 // B/s, the best of its pairs; NaN where its pairs are too few
	// LatencyRatio and RateRatio are an odd host's figures divided by those of the largest group; NaN where there is
	// none.
	LatencyRatio, RateRatio float64
}

type hostGroup struct {
	Hosts         []string // in rank order
	Latency, Rate float64  // medians of the hosts' figures
}

type Alike struct {
	All []alikeHost // in rank order
	// Latencies and Rates are those of the hosts that are known.
	Latencies, Rates []float64
	Groups           []hostGroup // the largest first
	Odd              []alikeHost // in no group, the oddest first
	Unknown          []string    // with too few pairs
	// Near are groups of hosts with shorter ways within than between, the largest first; none where that is not seen.
	Near [][]string
}

func AlikeOf(p *params.Params) *Alike {
	t := pairTableOf(p)
	parts, rates := t.parts(), t.best()
	typical := stats.Median(known(parts))
	latencies := make([]float64, len(parts))
	out := &Alike{}
	for i, name := range t.names {
		latencies[i] = parts[i] + typical
		out.All = append(out.All, alikeHost{name, latencies[i], rates[i], math.NaN(), math.NaN()})
		if math.IsNaN(latencies[i]) && math.IsNaN(rates[i]) {
			out.Unknown = append(out.Unknown, name)
		}
	}
	out.Latencies, out.Rates = known(latencies), known(rates)
	out.group(levels(latencies), levels(rates))
	out.Near = t.neighbourhoods(parts)
	return out
}

func known(all []float64) []float64 { return slices.DeleteFunc(slices.Clone(all), math.IsNaN) }

// Levels of a value that is far from all others, and of one that is not known.
const (
	odd     = -1
	unknown = -2
)

// levels puts values into levels: sorted, two neighbours more than apart from each other are of different levels. A
// level has minGroup values or more. What is left is odd where it is farther from the nearest level than three of
// that level's scaled MADs; else it belongs to it.
func levels(values []float64) []int {
	out := slices.Repeat([]int{unknown}, len(values))
	var order []int
	for i, v := range values {
		if v > 0 {
			out[i] = odd
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	type level struct{ middle, spread float64 }
	var found []level
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] <= (1+apart)*values[order[to-1]] {
			to++
		}
		if to-from >= minGroup {
			var own []float64
			for _, i := range order[from:to] {
				out[i] = len(found)
				own = append(own, values[i])
			}
			found = append(found, level{stats.Median(own), stats.MAD(own)})
		}
		from = to
	}
	for _, i := range order {
		if out[i] != odd {
			continue
		}
		for k, l := range found {
			if math.Abs(values[i]-l.middle) <= 3*l.spread {
				out[i] = k
			}
		}
	}
	return out
}

// group makes groups of the hosts with equal levels of both figures.
func (h *Alike) group(latency, rate []int) {
	by := map[[2]int][]int{}
	var keys [][2]int
	for i := range h.All {
		k := [2]int{latency[i], rate[i]}
		if k == [2]int{unknown, unknown} {
			continue
		}
		if by[k] == nil {
			keys = append(keys, k)
		}
		by[k] = append(by[k], i)
	}
	slices.SortStableFunc(keys, func(a, b [2]int) int { return cmp.Compare(len(by[b]), len(by[a])) })
	var left []int
	for _, k := range keys {
		if k[0] == odd || k[1] == odd || len(by[k]) < minGroup {
			left = append(left, by[k]...)
			continue
		}
		var g hostGroup
		var latencies, rates []float64
		for _, i := range by[k] {
			g.Hosts = append(g.Hosts, h.All[i].Name)
			latencies, rates = append(latencies, h.All[i].Latency), append(rates, h.All[i].Rate)
		}
		g.Latency, g.Rate = stats.Median(latencies), stats.Median(rates)
		h.Groups = append(h.Groups, g)
	}
	slices.Sort(left)
	for _, i := range left {
		q := &h.All[i]
		if len(h.Groups) > 0 {
			q.LatencyRatio, q.RateRatio = q.Latency/h.Groups[0].Latency, q.Rate/h.Groups[0].Rate
		}
		h.Odd = append(h.Odd, *q)
	}
	slices.SortStableFunc(h.Odd, func(a, b alikeHost) int { return cmp.Compare(b.oddness(), a.oddness()) })
}

// oddness is how many times a host's figures are those of the largest group, or the other way round.
func (h alikeHost) oddness() (most float64) {
	for _, r := range []float64{h.LatencyRatio, h.RateRatio} {
		if d := math.Abs(math.Log(r)); d > most {
			most = d
		}
	}
	return most
}

const (
	nearShare  = 0.95 // the share of the measured pairs within a group that must be short ways
	aloneShare = 0.1  // the share of hosts that may be in no group
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

type pairTable struct {
	names []string
	pairs []pair
	near  [][]int // by host: its pairs
}

// pair is two hosts, and what was measured between them; NaN where it was not.
type pair struct {
	a, b          int
	latency, rate float64
}

// PairHosts lists the hosts that are in a pair: in rank order, then those that the run does not know.
func PairHosts(p *params.Params) []string {
	left := map[string]bool{} // to be listed
	all := slices.Clone(p.Run.Hosts)
	for _, q := range p.Pairs {
		left[q.From], left[q.To] = true, true
		all = append(all, q.From, q.To)
	}
	return slices.DeleteFunc(all, func(h string) bool {
		list := left[h]
		delete(left, h)
		return !list
	})
}

// pairTableOf numbers the hosts of p that are in a pair.
func pairTableOf(p *params.Params) *pairTable {
	t := &pairTable{names: PairHosts(p)}
	index := map[string]int{}
	for i, name := range t.names {
		index[name] = i
	}
	t.near = make([][]int, len(t.names))
	for _, q := range p.Pairs {
		a, b := index[q.From], index[q.To]
		if a == b {
			continue
		}
		t.near[a], t.near[b] = append(t.near[a], len(t.pairs)), append(t.near[b], len(t.pairs))
		t.pairs = append(t.pairs, pair{a, b, positive(q.Latency), positive(q.Rate)})
	}
	return t
}

// positive is a number that can be compared with others by its logarithm; NaN where v is none.
func positive(v *float64) float64 {
	if v == nil || !(*v > 0) || math.IsInf(*v, 0) {
		return math.NaN()
	}
	return *v
}

// Sweeps of parts: they end when no part moves by more than settled of it.
const (
	sweeps  = 50
	settled = 1e-6
)

// parts returns what each host adds to a latency: that of a pair is taken as the sum of a part of each of its hosts. A
// host's part is the median over its pairs of what the other part leaves. Every sweep moves all parts half way there,
// so that neither host of a pair is preferred. It is NaN where a host's pairs are too few.
func (t *pairTable) parts() []float64 {
	var all []float64
	for _, q := range t.pairs {
		if !math.IsNaN(q.latency) {
			all = append(all, q.latency)
		}
	}
	part := slices.Repeat([]float64{stats.Median(all) / 2}, len(t.names))
	next, n := slices.Clone(part), make([]int, len(part)) // pairs of each host
	var left []float64
	for range sweeps {
		moved := 0.0
		for h, pairs := range t.near {
			left = left[:0]
			for _, i := range pairs {
				if q := t.pairs[i]; !math.IsNaN(q.latency) {
					left = append(left, q.latency-part[q.a+q.b-h])
				}
			}
			if n[h] = len(left); n[h] > 0 {
				slices.Sort(left)
				next[h] = (part[h] + stats.SortedQuantile(left, 0.5)) / 2
				moved = math.Max(moved, math.Abs(next[h]-part[h])/part[h])
			}
		}
		part, next = next, part
		if moved < settled {
			break
		}
	}
	for h := range part {
		if n[h] < minPairs {
			part[h] = math.NaN()
		}
	}
	return part
}

// best returns each host's rate: the best of its pairs. A pair is as slow as the slower of its hosts, and some partner
// is not slow.
func (t *pairTable) best() []float64 {
	out := slices.Repeat([]float64{math.NaN()}, len(t.names))
	for h, pairs := range t.near {
		if len(pairs) < minPairs {
			continue
		}
		for _, i := range pairs {
			if r := t.pairs[i].rate; !(r <= out[h]) && !math.IsNaN(r) {
				out[h] = r
			}
		}
	}
	return out
}
