package fit

import (
	"cmp"
	"math"
	"slices"

	"calib/fit/fault"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/stats"
	"calib/params"
)

// SlowMargin is by how much slower a host or pair may be and stay in the fits.
const SlowMargin = 0.05

// SlowHosts are the hosts and pairs that package fault names, and the findings about them.
type SlowHosts struct {
	Hosts    map[int]bool
	Pairs    map[[2]int]bool // of hosts that are not slow; lower host first
	Findings []params.Finding
	why      map[[2]int]string // of Pairs
	judged   fault.Judgement
	group    map[int]int // of each host, as fault.Numbers
	kind     map[int]int
}

// Why says why a pair is slow, the lower host first; "" where it is not.
func (o *SlowHosts) Why(p *Prepared, pair [2]int) string {
	for _, h := range pair {
		if o.Hosts[h] {
			return "host " + p.HostName(h) + " is slow"
		}
	}
	return o.why[pair]
}

// Group is the number, from 1, of the group of a host, such as its rack; 0 where it is in none.
func (o *SlowHosts) Group(host int) int { return o.group[host] }

// LargestGroup is how many hosts the largest group has; 0 where there is none.
func (o *SlowHosts) LargestGroup() (most int) {
	for _, hosts := range o.judged.Groups {
		most = max(most, len(hosts))
	}
	return most
}

// Odd reports whether a host is slow, or of another kind than most.
func (o *SlowHosts) Odd(host int) bool { return o.Hosts[host] || o.kind[host] > 1 }

// Out says why the fits leave out a line, one pair; "" where they do not.
func (o *SlowHosts) Out(l *dataset.Sample) string {
	if slices.ContainsFunc(l.Ranks, func(h int) bool { return o.Hosts[h] }) {
		return WhySlowHost
	}
	if len(l.Ranks) != 2 {
		return ""
	}
	a, b := l.Ranks[0], l.Ranks[1]
	switch {
	case o.Pairs[fault.Pair(a, b)]:
		return WhySlowHost
	case o.Odd(a), o.Odd(b), o.group[a] > 0 && o.group[b] > 0 && o.group[a] != o.group[b]:
		return WhyOtherClass
	}
	return ""
}

// OutOf says why the fits leave out a batch, by the first of its lines that they do; "" where there is none.
func (o *SlowHosts) OutOf(b *Batch) string { return cmp.Or(lists.Map(b.Lines, o.Out)...) }

// Line reports whether the fits leave out a line.
func (o *SlowHosts) Line(l *dataset.Sample) bool { return o.Out(l) != "" }

// findSlow judges hosts and pairs by all looks at single pairs: those of the check that opens a run, and pingpong.
// Pairs that share the network with others say nothing about one host, since the last in the queue is slow whichever it
// is, and neither do hosts that share a CPU.
func (p *Prepared) findSlow() *SlowHosts {
	screen := fault.New(len(p.hosts), SlowMargin)
	screen.Machine = lists.Map(p.hosts, dataset.Host.Machine)
	for _, round := range Runs(p.looks(), func(a, b fault.Look) bool { return a.Round == b.Round }) {
		for _, apart := range fault.Disjoint(round, func(l fault.Look) [2]int { return [2]int{l.From, l.To} }) {
			took := 0.
			var seen []fault.Seen
			for _, l := range apart {
				seen, took = append(seen, l.Seen), max(took, l.Took)
			}
			screen.Add(seen, took)
		}
	}
	all := p.hostNames(lists.Upto(len(p.hosts)))
	j := screen.Judge()
	out := &SlowHosts{Hosts: map[int]bool{}, Pairs: map[[2]int]bool{}, why: map[[2]int]string{}, judged: j,
		group: fault.Numbers(j.Groups), kind: fault.Numbers(j.Kinds)}
	for _, f := range j.Slow {
		out.name(p, f, all)
	}
	for _, f := range j.Doubtful() {
		out.Findings = append(out.Findings, params.Warnf(params.Undecided, "%s may be slow, which is not decided: %s",
			subject(f, all), f.Why(all)).About(p.hostNames(f.Hosts)...))
	}
	return out
}

// looks are what was seen of each pair in each round: by the check that opens a run, and by pingpong, whose half round
// trip of the smallest size is the latency, and whose time per byte is that up to the largest.
func (p *Prepared) looks() (out []fault.Look) {
	unfit := func(s *dataset.Sample) bool {
		unknown := func(h int) bool { return h < 0 || h >= len(p.hosts) }
		return len(s.Ranks) != 2 || slices.ContainsFunc(s.Ranks, unknown) || len(s.NS) == 0 ||
			dataset.CrowdedTeam(p.crowded, s.Ranks)
	}
	out = fault.Looks(slices.DeleteFunc(slices.Clone(p.Samples(names.Probe, "")), unfit))
	type at struct {
		round int
		pair  [2]int
	}
	seen := map[at]map[int64]float64{} // by size: the time [s]
	var order []at
	small, large := int64(math.MaxInt64), int64(0)
	for _, b := range p.LineBatches(names.Pingpong, "") {
		s := b.Lines[0]
		if unfit(s) || b.Spoiled() {
			continue
		}
		k, x := at{b.Round, fault.Pair(s.Ranks[0], s.Ranks[1])}, b.Point[names.FactorBytes]
		if seen[k] == nil {
			seen[k], order = map[int64]float64{}, append(order, k)
		}
		seen[k][x] = stats.Median(stats.Floats(s.NS)) * 1e-9
		small, large = min(small, x), max(large, x)
	}
	trips := map[[2]int][]float64{} // of each pair, in all rounds
	for _, k := range order {
		if t, short := seen[k][small]; short {
			trips[k.pair] = append(trips[k.pair], t)
		}
	}
	for _, k := range order {
		l := fault.Look{Round: k.round, Took: math.Inf(1)} // rounds of pingpong are far apart
		l.From, l.To, l.Latency, l.PerByte = k.pair[0], k.pair[1], math.NaN(), math.NaN()
		trip, short := seen[k][small]
		long, whole := seen[k][large]
		if short {
			l.Latency = trip
		} else { // in this round the small message was other pairs'
			trip = stats.Median(trips[k.pair]) // NaN where it never was this pair's
		}
		if whole && large > small {
			l.PerByte = (long - trip) / float64(large-small)
		}
		out = append(out, l)
	}
	return out
}

// name enters a host, a pair or the uplink of a group.
func (o *SlowHosts) name(p *Prepared, f fault.Found, hosts []string) {
	why := f.Why(hosts)
	switch {
	case f.Uplink:
		o.Findings = append(o.Findings, params.Warnf(params.SlowUplink, "%s is slow: %s", subject(f, hosts), why).
			With("ratio", f.Ratio).About(p.hostNames(f.Hosts)...))
		return
	case len(f.Hosts) == 2:
		pair := fault.Pair(f.Hosts[0], f.Hosts[1])
		o.Pairs[pair], o.why[pair] = true, why
		return
	}
	o.Hosts[f.Hosts[0]] = true
	o.Findings = append(o.Findings, params.Warnf(params.SlowHost, "%s is slow: %s", subject(f, hosts), why).
		With("ratio", f.Ratio).About(hosts[f.Hosts[0]]))
}

// subject is what was found, in words.
func subject(f fault.Found, hosts []string) string {
	first := hosts[f.Hosts[0]]
	switch {
	case f.Uplink:
		return "the way from the group of host " + first + " to the others"
	case len(f.Hosts) == 2:
		return "pair " + first + " – " + hosts[f.Hosts[1]]
	}
	return "host " + first
}
