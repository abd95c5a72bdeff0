package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"calib/internal/dataset"
	"calib/internal/stats"
)

const (
	// slowShare and slowMADs are by how much a host's pairs must all exceed the median of the other pairs, in shares of it
	// and in scaled MADs, to be called slow; the larger counts.
	slowShare = 0.05
	slowMADs  = 3
	// minOthers is the number of other pairs without which nothing is called slow.
	minOthers = 2
)

// slowHosts are the hosts whose every pair is slower than the other hosts' pairs, and what to say of them.
type slowHosts struct {
	hosts map[int]bool
	said  []string
	why   map[[2]int]string // by pair, lower host first
}

// pairTime is what one pair needs for one size [s], alone on the network.
type pairTime struct {
	hosts  [2]int // lower first
	byLine []lineMedian
	value  float64
	ci     [2]float64
}

// lineMedian is the median of one line.
type lineMedian struct {
	round  int
	median float64
}

// findSlow compares pairs at their smallest and at their largest size. It uses pingpong; where that saw fewer than three
// pairs, the bursts of single pairs. Pairs that share the network with others say nothing about one host, since the last
// in the queue is slow whichever it is.
func findSlow(d *dataset.Dataset) slowHosts {
	out := slowHosts{hosts: map[int]bool{}, why: map[[2]int]string{}}
	lines, what := lineBatches(d, "pingpong", ""), "half round trip"
	if len(pairsOf(lines)) < minOthers+1 {
		lines, what = singles(lineBatches(d, "paired", "burst-pair")), "delivery time"
	}
	bySize := map[int64][]batch{}
	for _, b := range lines {
		if b.flag(spoiling[:]) == "" && len(b.lines[0].Ranks) == 2 && b.timings() > 0 {
			bySize[b.point["bytes"]] = append(bySize[b.point["bytes"]], b)
		}
	}
	var sizes []int64
	for x := range bySize {
		sizes = append(sizes, x)
	}
	slices.Sort(sizes)
	if len(sizes) == 0 {
		return out
	}
	for _, x := range slices.Compact([]int64{sizes[0], sizes[len(sizes)-1]}) {
		out.compare(d, pairTimes(bySize[x]), fmt.Sprintf("%s at %d B", what, x))
	}
	return out
}

// singles keeps the batches of one pair.
func singles(in []batch) []batch {
	return slices.DeleteFunc(in, func(b batch) bool { return b.point["pairs"] != 1 })
}

func pairsOf(in []batch) map[[2]int]bool {
	out := map[[2]int]bool{}
	for _, b := range in {
		if r := b.lines[0].Ranks; len(r) == 2 {
			out[[2]int{min(r[0], r[1]), max(r[0], r[1])}] = true
		}
	}
	return out
}

// pairTimes gathers lines by pair: value is the midmean of the rounds' medians, both directions averaged.
func pairTimes(lines []batch) []pairTime {
	index := map[[2]int]int{}
	var out []pairTime
	for _, b := range lines {
		r := b.lines[0].Ranks
		k := [2]int{min(r[0], r[1]), max(r[0], r[1])}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			out = append(out, pairTime{hosts: k})
		}
		out[i].byLine = append(out[i].byLine, lineMedian{b.round, stats.Median(stats.Floats(b.lines[0].NS)) * 1e-9})
	}
	for i := range out {
		p := &out[i]
		sum, n := map[int]float64{}, map[int]float64{}
		for _, l := range p.byLine {
			sum[l.round] += l.median
			n[l.round]++
		}
		var medians []float64
		for r := range sum {
			medians = append(medians, sum[r]/n[r])
		}
		p.value = midmean(medians) // sorts them: what follows does not depend on the order of the map
		p.ci = roundInterval(medians)
	}
	slices.SortFunc(out, func(a, b pairTime) int {
		return cmp.Or(cmp.Compare(a.hosts[0], b.hosts[0]), cmp.Compare(a.hosts[1], b.hosts[1]))
	})
	return out
}

// roundInterval is the 95% interval of the mean of rounds by Student's t; a point for a single round.
func roundInterval(medians []float64) [2]float64 {
	mean, ss := stats.Mean(medians), 0.0
	for _, m := range medians {
		ss += (m - mean) * (m - mean)
	}
	r := float64(len(medians))
	if r < 2 {
		return [2]float64{mean, mean}
	}
	half := tQuantile(r-1) * math.Sqrt(ss/(r-1)/r)
	return [2]float64{mean - half, mean + half}
}

// compare names slow hosts one at a time, the slowest first, and drops their pairs before it looks for the next.
func (o *slowHosts) compare(d *dataset.Dataset, pairs []pairTime, what string) {
	left := slices.DeleteFunc(slices.Clone(pairs), func(p pairTime) bool { return o.hosts[p.hosts[0]] || o.hosts[p.hosts[1]] })
	for {
		hosts, ratio := slowest(left)
		if hosts == nil {
			break
		}
		hosts = byProbes(d, hosts)
		for _, h := range hosts {
			o.hosts[h] = true
		}
		if len(hosts) == 1 {
			o.said = append(o.said, fmt.Sprintf("host %s is slow: its %s is %.2f times the median pair's",
				hostNames(d, hosts), what, ratio))
		} else {
			o.said = append(o.said, fmt.Sprintf("one of the hosts %s is slow: the %s between them is %.2f times the "+
				"median pair's, and neither was measured with another host", hostNames(d, hosts), what, ratio))
		}
		left = slices.DeleteFunc(left, func(p pairTime) bool { return slices.Contains(hosts, p.hosts[0]) || slices.Contains(hosts, p.hosts[1]) })
	}
	o.slowPairs(pairs, what)
}

// slowest returns the host whose pairs are all slow and by the largest ratio, or both hosts of a pair that neither host
// left; nil if there is none.
func slowest(pairs []pairTime) (hosts []int, ratio float64) {
	all := map[int]bool{}
	for _, p := range pairs {
		all[p.hosts[0]], all[p.hosts[1]] = true, true
	}
	order := make([]int, 0, len(all))
	for h := range all {
		order = append(order, h)
	}
	sort.Ints(order)
	for _, h := range order {
		own, others := split(pairs, h)
		if len(others) < minOthers || len(own) == 0 {
			continue
		}
		limit, mid := slowLimit(others)
		values := make([]float64, len(own))
		slow := true
		for i, p := range own {
			values[i] = p.value
			slow = slow && p.value > limit && p.ci[0] > mid
		}
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

// byProbes decides which of the two hosts of a pair is slow, where neither was measured with another host, by the round
// trips of the clock probes between host 0 and every other host: the one that stands out there; and if the other is host 0
// and none stands out, host 0, which is in all of them. It returns both where that does not decide.
func byProbes(d *dataset.Dataset, hosts []int) []int {
	if len(hosts) != 2 {
		return hosts
	}
	bounds := map[int][]float64{}
	for _, s := range d.Select("clock", phaseOffset) {
		if b := s.Aux["bound_ns"]; len(s.Ranks) == 2 && s.Ranks[0] == 0 && b > 0 {
			bounds[s.Ranks[1]] = append(bounds[s.Ranks[1]], b)
		}
	}
	var probes []pairTime
	for h, b := range bounds {
		probes = append(probes, pairTime{hosts: [2]int{0, h}, value: stats.Median(b)})
	}
	stands := func(h int) bool {
		own, others := split(probes, h)
		if h == 0 || len(own) == 0 || len(others) < minOthers {
			return false
		}
		limit, _ := slowLimit(others)
		return own[0].value > limit
	}
	first, second := stands(hosts[0]), stands(hosts[1])
	switch {
	case first && !second:
		return hosts[:1]
	case second && !first:
		return hosts[1:]
	case hosts[0] == 0 && !second && len(bounds[hosts[1]]) > 0 && len(probes) > minOthers:
		return hosts[:1]
	}
	return hosts
}

func split(pairs []pairTime, h int) (own, others []pairTime) {
	for _, p := range pairs {
		if p.hosts[0] == h || p.hosts[1] == h {
			own = append(own, p)
		} else {
			others = append(others, p)
		}
	}
	return own, others
}

// slowLimit returns the time [s] above which a pair is slow against the others, and their median.
func slowLimit(others []pairTime) (limit, mid float64) {
	values := make([]float64, len(others))
	for i, p := range others {
		values[i] = p.value
	}
	mid = stats.Median(values)
	return mid + math.Max(slowShare*mid, slowMADs*stats.MAD(values)), mid
}

// slowPairs marks each pair that is slow against all pairs, whether or not a host explains it.
func (o *slowHosts) slowPairs(pairs []pairTime, what string) {
	if len(pairs) < minOthers+1 {
		return
	}
	limit, mid := slowLimit(pairs)
	for _, p := range pairs {
		if p.value > limit && p.ci[0] > mid {
			if o.why[p.hosts] != "" {
				o.why[p.hosts] += "; "
			}
			o.why[p.hosts] += fmt.Sprintf("%s is %.2f times the median pair's", what, p.value/mid)
		}
	}
}
