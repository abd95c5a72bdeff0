package reports

import (
	"math"
	"slices"

	"calib/internal/params"
	"calib/internal/stats"
)

// pairTable is the pairs of a run by host.
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

// pairTableOf numbers the hosts of p that are in a pair: those of the run in rank order, then others.
func pairTableOf(p *params.Params) *pairTable {
	t := &pairTable{}
	in := map[string]bool{}
	for _, q := range p.Pairs {
		in[q.From], in[q.To] = true, true
	}
	index := map[string]int{}
	number := func(name string) int {
		i, ok := index[name]
		if !ok {
			i = len(t.names)
			index[name] = i
			t.names = append(t.names, name)
			t.near = append(t.near, nil)
		}
		return i
	}
	for _, name := range p.Run.Hosts {
		if in[name] {
			number(name)
		}
	}
	for _, q := range p.Pairs {
		a, b := number(q.From), number(q.To)
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
	next := slices.Clone(part)
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
			if len(left) > 0 {
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
	for h, pairs := range t.near {
		n := 0
		for _, i := range pairs {
			if !math.IsNaN(t.pairs[i].latency) {
				n++
			}
		}
		if n < minPairs {
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
