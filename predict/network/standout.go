package network

import (
	"fmt"
	"slices"

	"calib/internal/params"
	"calib/internal/stats"
	"calib/internal/units"
)

// slow is a host, or the way between two, whose messages take longer than others by a ratio, at the smallest and at the
// largest size.
type slow struct {
	hosts []int
	ratio [2]float64
}

// differing is what a run says of hosts and pairs that stand out.
type differing struct {
	slow         []slow // hosts before pairs
	small, large int    // sizes of the messages that were compared [B]
	notes        []string
}

// measured is what was found between two hosts, the lower index first.
type measured struct {
	hosts [2]int
	times [2]float64 // of the smallest and of the largest message [s; s/B]; 0 where it was not measured
	slow  bool
}

// differences reads which hosts and pairs a run found to be slow, and by how much: a host by the median of its pairs
// with hosts that are not slow, over that of the pairs that do not stand out. Where these were not measured the finding
// says it. No ratio is below 1.
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
	between := map[[2]int]float64{}
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
			between[pair] = max(between[pair], f.Values["ratio"])
		}
	}
	pairs := measuredPairs(p, index)
	// beside reports a slow host of a pair, other than own.
	beside := func(q measured, own int) bool {
		return slices.ContainsFunc(q.hosts[:], func(h int) bool { _, slow := found[h]; return slow && h != own })
	}
	median := func(k int, over float64, of func(measured) bool) float64 {
		var v []float64
		for _, q := range pairs {
			if q.times[k] > 0 && over > 0 && of(q) {
				v = append(v, q.times[k]/over)
			}
		}
		if len(v) == 0 {
			return 0
		}
		return stats.Median(v)
	}
	ratios := func(own int, ratio float64, of func(hosts [2]int) bool) (out [2]float64) {
		for k := range out {
			normal := median(k, 1, func(q measured) bool { return !q.slow && !beside(q, -1) })
			if out[k] = median(k, normal, func(q measured) bool { return of(q.hosts) && !beside(q, own) }); out[k] == 0 {
				out[k] = ratio
			}
			out[k] = max(out[k], 1)
		}
		return out
	}
	for i := range p.Run.Hosts {
		if ratio, ok := found[i]; ok {
			d.slow = append(d.slow, slow{[]int{i}, ratios(i, ratio, func(h [2]int) bool { return h[0] == i || h[1] == i })})
		}
	}
	for _, q := range pairs {
		if q.slow && !beside(q, -1) && !slices.Contains(either, q.hosts) {
			either = append(either, q.hosts)
		}
	}
	for _, pair := range either {
		d.slow = append(d.slow, slow{pair[:], ratios(-1, between[pair], func(h [2]int) bool { return h == pair })})
	}
	if n := len(p.Run.Hosts); len(either) > 0 && len(pairs) < n*(n-1)/2 {
		d.notes = append(d.notes, fmt.Sprintf("%s standing out, with a link each; only %d of %d pairs were measured (--all-pairs measures all)",
			units.Plural(len(either), "pair"), len(pairs), n*(n-1)/2))
	}
	return d
}

func ordered(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }

// measuredPairs lists the pairs of a run, each once.
func measuredPairs(p *params.Params, index map[string]int) (out []measured) {
	for _, q := range p.Pairs {
		a, okA := index[q.From]
		b, okB := index[q.To]
		m := measured{hosts: ordered(a, b), slow: q.Slow != ""}
		if !okA || !okB || a == b || slices.ContainsFunc(out, func(o measured) bool { return o.hosts == m.hosts }) {
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
