package network

import (
	"fmt"
	"slices"

	"calib/internal/params"
	"calib/internal/stats"
	"calib/internal/units"
)

// differences reads which hosts and pairs a run found to be slow, and by how much.
func differences(p *params.Params) *differing {
	d := &differing{}
	for _, r := range p.Times() {
		x := int(r.X)
		if d.small == 0 || x < d.small {
			d.small = max(x, 1)
		}
		d.large = max(d.large, x)
	}
	index := map[string]int{}
	for i, h := range p.Run.Hosts {
		index[h] = i
	}
	found := map[int]float64{}
	var either [][2]int // one of two hosts is slow, or the way between them
	ratios := map[[2]int]float64{}
	for _, f := range p.AllFindings(params.Warning) {
		if f.Code != params.SlowHost {
			continue
		}
		var at []int
		for _, h := range f.Hosts {
			if i, ok := index[h]; ok {
				at = append(at, i)
			}
		}
		switch len(at) {
		case 1:
			found[at[0]] = max(found[at[0]], f.Values["ratio"])
		case 2:
			pair := ordered(at[0], at[1])
			if !slices.Contains(either, pair) {
				either = append(either, pair)
			}
			ratios[pair] = max(ratios[pair], f.Values["ratio"])
		}
	}
	pairs := measuredPairs(p, index)
	normal := pairs.normal(found)
	for i := range p.Run.Hosts {
		if ratio, slow := found[i]; slow {
			d.hosts = append(d.hosts, slowHost{i, pairs.of(func(h [2]int) bool { return h[0] == i || h[1] == i }, found, i, normal, ratio)})
		}
	}
	for _, q := range pairs {
		_, a := found[q.hosts[0]]
		_, b := found[q.hosts[1]]
		if q.slow && !a && !b && !slices.Contains(either, q.hosts) {
			either = append(either, q.hosts)
		}
	}
	for _, hosts := range either {
		d.pairs = append(d.pairs, slowPair{hosts, pairs.of(func(h [2]int) bool { return h == hosts }, found, -1, normal, ratios[hosts])})
	}
	if n := len(p.Run.Hosts); len(d.pairs) > 0 && len(pairs) < n*(n-1)/2 {
		d.notes = append(d.notes, fmt.Sprintf("%s standing out, with a link each; only %d of %d pairs were measured (--all-pairs measures all)",
			units.Plural(int64(len(d.pairs)), "pair"), len(pairs), n*(n-1)/2))
	}
	return d
}

// measured is what was found between two hosts, the lower index first.
type measured struct {
	hosts [2]int
	times [2]float64 // of the smallest and of the largest message [s; s/B]; 0 where it was not measured
	slow  bool
}

type pairList []measured

func ordered(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }

// measuredPairs lists the pairs of a run, each once.
func measuredPairs(p *params.Params, index map[string]int) pairList {
	var out pairList
	for _, q := range p.Pairs {
		a, okA := index[q.From]
		b, okB := index[q.To]
		if !okA || !okB || a == b {
			continue
		}
		m := measured{hosts: ordered(a, b), slow: q.Slow != ""}
		if slices.ContainsFunc(out, func(o measured) bool { return o.hosts == m.hosts }) {
			continue
		}
		if q.Latency != nil && *q.Latency > 0 {
			m.times[0] = *q.Latency
		}
		if q.Rate != nil && *q.Rate > 0 {
			m.times[1] = 1 / *q.Rate
		}
		out = append(out, m)
	}
	return out
}

// normal is the median of the pairs that do not stand out and are of hosts that are not slow; 0 without any.
func (l pairList) normal(slowHosts map[int]float64) (out [2]float64) {
	for k := range out {
		var v []float64
		for _, q := range l {
			_, a := slowHosts[q.hosts[0]]
			_, b := slowHosts[q.hosts[1]]
			if !q.slow && !a && !b && q.times[k] > 0 {
				v = append(v, q.times[k])
			}
		}
		if len(v) > 0 {
			out[k] = stats.Median(v)
		}
	}
	return out
}

// of returns by how much the pairs that are chosen are slower than the normal ones, at least 1: the median over those
// without another slow host than own, or else ratio.
func (l pairList) of(chosen func(hosts [2]int) bool, slowHosts map[int]float64, own int, normal [2]float64, ratio float64) (out [2]float64) {
	for k := range out {
		var v []float64
		for _, q := range l {
			other := false
			for _, h := range q.hosts {
				_, slow := slowHosts[h]
				other = other || slow && h != own
			}
			if chosen(q.hosts) && !other && q.times[k] > 0 && normal[k] > 0 {
				v = append(v, q.times[k]/normal[k])
			}
		}
		out[k] = ratio
		if len(v) > 0 {
			out[k] = stats.Median(v)
		}
		out[k] = max(out[k], 1)
	}
	return out
}
