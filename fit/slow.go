package fit

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/stats"
	"calib/params"
)

const (
	// A host is slow if each of its pairs exceeds the median of the other pairs by slowShare of it and by slowMADs
	// scaled MADs.
	slowShare = 0.05
	slowMADs  = 3
	// minOthers is the number of other pairs without which nothing is called slow.
	minOthers = 2
)

// SlowHosts are the hosts whose every pair is slower than the other hosts' pairs, the pairs that are slow without such
// a host, and the findings about them.
type SlowHosts struct {
	Hosts    map[int]bool
	Pairs    map[[2]int]bool // in two rounds or more; lower host first
	Findings []params.Finding
	Why      map[[2]int]string // by pair, lower host first
	// Undecided: the pairs that were measured differ, and are too few to say which host is slow.
	Undecided bool
}

// Line reports whether the hosts of a line, one pair, are slow.
func (o *SlowHosts) Line(l *dataset.Sample) bool {
	if len(l.Ranks) != 2 {
		return slices.ContainsFunc(l.Ranks, func(h int) bool { return o.Hosts[h] })
	}
	a, b := l.Ranks[0], l.Ranks[1]
	return o.Hosts[a] || o.Hosts[b] || o.Pairs[[2]int{min(a, b), max(a, b)}]
}

// findSlow compares pairs at their smallest and at their largest size. It uses pingpong; where that saw fewer than
// three pairs, the bursts of single pairs. Pairs that share the network with others say nothing about one host, since
// the last in the queue is slow whichever it is.
func (p *Prepared) findSlow() *SlowHosts {
	out := &SlowHosts{Hosts: map[int]bool{}, Pairs: map[[2]int]bool{}, Why: map[[2]int]string{}}
	lines, what := p.LineBatches(names.Pingpong, ""), "half round trip"
	if len(pairsOf(lines)) < minOthers+1 {
		bursts := slices.DeleteFunc(p.LineBatches(names.Paired, names.PhaseBurst),
			func(b *Batch) bool { return b.Point[names.FactorPairs] != 1 })
		if len(pairsOf(bursts)) > len(pairsOf(lines)) {
			lines, what = bursts, "delivery time"
		}
	}
	bySize := map[int64][]*Batch{}
	for _, b := range lines {
		if !b.Spoiled() && len(b.Lines[0].Ranks) == 2 && b.Timings() > 0 {
			bySize[b.Point[names.FactorBytes]] = append(bySize[b.Point[names.FactorBytes]], b)
		}
	}
	sizes := slices.Sorted(maps.Keys(bySize))
	if len(sizes) == 0 {
		return out
	}
	for _, x := range slices.Compact([]int64{sizes[0], sizes[len(sizes)-1]}) {
		pairs := PairTimes(bySize[x])
		out.compare(p, pairs, fmt.Sprintf("%s at %d B", what, x))
		out.undecided(p, pairs, what, x)
	}
	return out
}

// undecided warns where two pairs differ and no other was measured: which of their hosts is slow cannot be told, nor
// slowness from contention where both take part.
func (o *SlowHosts) undecided(p *Prepared, pairs []PairTime, what string, bytes int64) {
	if o.Undecided || len(pairs) != 2 || len(p.hosts) < 4 {
		return
	}
	fast, slow := pairs[0], pairs[1]
	if fast.Value > slow.Value {
		fast, slow = slow, fast
	}
	if slow.Value <= (1+slowShare)*fast.Value || slow.CI[0] <= fast.CI[1] {
		return
	}
	o.Undecided = true
	name := func(q PairTime) string { return strings.Join(p.hostNames(q.Hosts[:]), ", ") }
	o.Findings = append(o.Findings, params.Warnf(params.PairsDiffer, "the pairs (%s) and (%s) differ: the %s at %d B of "+
		"the first is %.2f times that of the second. No other pairs were measured, so that neither the slow host can be "+
		"named nor slowness told from contention: --pairs all would tell, or rounds in which other hosts form the pairs",
		name(slow), name(fast), what, bytes, slow.Value/fast.Value).
		With("ratio", slow.Value/fast.Value).With("bytes", float64(bytes)).About(p.hostNames(slow.Hosts[:])...))
}

func pairsOf(in []*Batch) map[[2]int]bool {
	out := map[[2]int]bool{}
	for _, b := range in {
		if r := b.Lines[0].Ranks; len(r) == 2 {
			out[[2]int{min(r[0], r[1]), max(r[0], r[1])}] = true
		}
	}
	return out
}

// compare names slow hosts one at a time, the slowest first, and drops their pairs before it looks for the next.
func (o *SlowHosts) compare(p *Prepared, pairs []PairTime, what string) {
	left := slices.DeleteFunc(slices.Clone(pairs),
		func(q PairTime) bool { return o.Hosts[q.Hosts[0]] || o.Hosts[q.Hosts[1]] })
	for {
		hosts, ratio := slowest(left)
		if hosts == nil {
			break
		}
		hosts = p.byProbes(hosts)
		for _, h := range hosts {
			o.Hosts[h] = true
		}
		list := strings.Join(p.hostNames(hosts), ", ")
		slow := params.Warnf(params.SlowHost, "host %s is slow: its %s is %.2f times the median pair's", list, what, ratio)
		if len(hosts) > 1 {
			slow = params.Warnf(params.SlowHost, "one of the hosts %s is slow, or the way between them: their %s is %.2f "+
				"times the median pair's, and neither was measured with another host", list, what, ratio)
		}
		o.Findings = append(o.Findings, slow.With("ratio", ratio).About(p.hostNames(hosts)...))
		left = slices.DeleteFunc(left, func(q PairTime) bool {
			return slices.Contains(hosts, q.Hosts[0]) || slices.Contains(hosts, q.Hosts[1])
		})
	}
	o.slowPairs(pairs, what)
}

// slowest returns the host whose pairs are all slow, the one of the largest ratio. Where two hosts were measured with
// each other only, it returns both. It returns nil if no host is slow.
func slowest(pairs []PairTime) (hosts []int, ratio float64) {
	all := rank(pairs)
	for _, h := range slices.Sorted(maps.Keys(all.own)) {
		own := all.own[h]
		if len(pairs)-len(own) < minOthers {
			continue
		}
		mid, least := all.medianWithout(h), all.values[own[0]]
		if !(least > mid+slowShare*mid) { // the limit is not below that
			continue
		}
		if !(least > limitAbove(mid, all.madWithout(h, mid))) {
			continue
		}
		var values, rounds []float64 // a pair may have few rounds of its own
		for _, p := range pairs {
			if p.Hosts[0] == h || p.Hosts[1] == h {
				values, rounds = append(values, p.Value), append(rounds, p.Rounds...)
			}
		}
		slow := roundInterval(rounds)[0] > mid
		r := stats.Median(values) / mid
		switch {
		case !slow || r < ratio:
		case r > ratio:
			hosts, ratio = []int{h}, r
		case len(own) == 1: // the same pair, seen from its other host
			hosts = append(hosts, h)
		}
	}
	return hosts, ratio
}

// byProbes decides which of two hosts is slow, where they were measured with each other only. The clock probes tell,
// which go between the first host of a team and every other: the slow host is the one whose probes stand out. If one of
// the two was never such another, and that other does not stand out, it is that one, which took part in all probes.
// Where that does not decide, it returns both.
func (p *Prepared) byProbes(hosts []int) []int {
	if len(hosts) != 2 {
		return hosts
	}
	bounds := map[int][]float64{}
	for _, s := range p.Samples(names.Clock, names.PhaseOffset) {
		b, ok := s.Aux[names.AuxRoundTrip]
		if !ok {
			b = 2 * s.Aux[names.AuxBound] // of an older build
		}
		if len(s.Ranks) == 2 && b > 0 {
			bounds[s.Ranks[1]] = append(bounds[s.Ranks[1]], b)
		}
	}
	stands := func(h int) bool {
		var others []float64
		for host, b := range bounds {
			if host != h {
				others = append(others, stats.Median(b))
			}
		}
		limit, _ := slowLimit(others)
		return len(others) >= minOthers && stats.Median(bounds[h]) > limit // NaN of none is not above
	}
	first, second := stands(hosts[0]), stands(hosts[1])
	always := func(h, other int) bool {
		return len(bounds[h]) == 0 && len(bounds[other]) > 0 && len(bounds) > minOthers
	}
	switch {
	case first && !second, !second && always(hosts[0], hosts[1]):
		return hosts[:1]
	case second && !first, !first && always(hosts[1], hosts[0]):
		return hosts[1:]
	}
	return hosts
}

// slowLimit returns the time [s] above which one is slow against others, and their median.
func slowLimit(others []float64) (limit, mid float64) {
	mid = stats.Median(others)
	return limitAbove(mid, stats.MAD(others)), mid
}

// limitAbove is the time [s] above which a pair is slow, by the median of the others and their scaled MAD.
func limitAbove(mid, mad float64) float64 { return mid + math.Max(slowShare*mid, slowMADs*mad) }

// slowPairs marks each pair that is slow against all pairs, whether or not a host explains it.
func (o *SlowHosts) slowPairs(pairs []PairTime, what string) {
	if len(pairs) < minOthers+1 {
		return
	}
	values := make([]float64, len(pairs))
	for i, p := range pairs {
		values[i] = p.Value
	}
	limit, mid := slowLimit(values)
	for _, p := range pairs {
		if p.Value > limit && p.CI[0] > mid {
			if o.Why[p.Hosts] != "" {
				o.Why[p.Hosts] += "; "
			}
			o.Why[p.Hosts] += fmt.Sprintf("%s is %.2f times the median pair's", what, p.Value/mid)
			if len(p.Rounds) > 1 && !o.Hosts[p.Hosts[0]] && !o.Hosts[p.Hosts[1]] {
				o.Pairs[p.Hosts] = true
			}
		}
	}
}
