package plan

import (
	"maps"
	"math"
	"slices"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

const (
	// lightest is the share of the plan's effort that an experiment has at least.
	lightest = 0.25
	// thinEffort is that of a design with the essential points only (bench.Limits.Thin).
	thinEffort = 0.25
	// lengthy is the share of an experiment's time in a round from which one point takes long, notable that from which
	// it counts at all.
	lengthy, notable = 1.0 / 3, 0.1
	// minSizes and minCounts stay: both ends, and of sizes one in between, which shows whether a line is straight.
	minSizes, minCounts = 3, 2
	// affordablePart is the share of the budget that one point may take at all.
	affordablePart = 1.0 / 3
	// A point that takes long is measured in one of at most rarest rounds. Two or more of the least rounds have it.
	rarest = 3
)

// affordable reports whether there is time for a point. What the user named stays.
func (d *draft) affordable(p *drafted) bool {
	return float64(p.time) <= affordablePart*float64(d.plan.Budget) || d.limits.Sizes != nil && p.point[names.FactorBytes] > 0
}

// less makes a round of the draft, of n, take less time, and reports whether it could: by fewer repetitions, by points
// that are not measured in every round, and, where points is true, by fewer points.
func (d *draft) less(share units.Nanos, n int, points bool) bool {
	long, often := lengthy*float64(share), max(1, n/spreadMeasured)
	switch {
	case d.lighter(), d.fewerTeams(often), d.rarer(long, often):
		return true
	case !points:
		return false
	}
	for _, part := range []float64{lengthy, notable} {
		long := part * float64(share)
		if d.essential() || d.smaller(long) || d.fewerTeams(math.MaxInt) || d.fewerSizes() || d.fewerCounts() ||
			d.rarer(long, min(rarest, n-1)) {
			return true
		}
	}
	return !slices.Contains(expendable, d.exp.Name()) && d.rarer(float64(share), n)
}

// lighter halves the repetitions.
func (d *draft) lighter() bool {
	e := d.effort.OrWhole() / 2
	if e < d.plan.Limits.Effort.OrWhole()*lightest {
		return false
	}
	d.costs(e)
	return true
}

// essential goes over to the design with the essential points.
func (d *draft) essential() bool {
	if d.limits.Thin() {
		return false
	}
	l := d.limits
	l.Effort = min(thinEffort, l.Effort.OrWhole())
	n, err := newDraft(d.exp, d.plan, l)
	if err != nil { // the teams of a point are wrong: those of the whole design were not
		return false
	}
	n.fewer(n.affordable)
	if len(n.points) == 0 {
		return false
	}
	n.costs(d.effort)
	*d = *n
	return true
}

// kindOf is equal for points that differ in nothing but sizes and counts.
func kindOf(p bench.Point) string {
	p = maps.Clone(p)
	delete(p, names.FactorBytes)
	for _, factor := range counts {
		delete(p, factor)
	}
	return p.Key()
}

// counts are the factors that say how many hosts take part.
var counts = []string{names.FactorPairs, names.FactorSenders, names.FactorHosts, names.FactorWindow}

// smaller leaves out the points of the largest size of a kind where one takes longer than a time [ns]. The last size
// above a packet stays.
func (d *draft) smaller(longest float64) bool {
	for i := range d.points {
		p := &d.points[i]
		size := p.point[names.FactorBytes]
		if float64(p.time) <= longest || size == 0 {
			continue
		}
		kind := p.kind
		sizes := d.values(names.FactorBytes, func(q *drafted) bool { return q.kind == kind })
		n := len(sizes)
		if n <= d.minSizes() || size < sizes[n-1] {
			continue
		}
		if packet := int64(d.limits.SegmentSize()); sizes[n-2] <= packet && size > packet {
			continue
		}
		d.keep(func(q *drafted) bool { return q.kind != kind || q.point[names.FactorBytes] != size })
		return true
	}
	return false
}

// minSizes is how many sizes stay. Bursts and patterns are compared by numbers of hosts: both ends do.
func (d *draft) minSizes() int {
	if name := d.exp.Name(); name == names.Paired || name == names.Pattern {
		return minCounts
	}
	return minSizes
}

// inner leaves out every second value between the ends; it returns nil where only min are left.
func inner(values []int64, min int) []int64 {
	if len(values) <= min {
		return nil
	}
	out := []int64{values[0]}
	for i := 2; i < len(values)-1; i += 2 {
		out = append(out, values[i])
	}
	return append(out, values[len(values)-1])
}

// fewerSizes leaves out every second size between the ends of each kind.
func (d *draft) fewerSizes() bool {
	return d.fewerValues(names.FactorBytes, minSizes, func(*drafted) bool { return true })
}

// fewerCounts leaves out every second number of pairs, senders, hosts and windows between the ends of each kind.
// Senders without a window stay.
func (d *draft) fewerCounts() bool {
	done := false
	for _, factor := range counts {
		done = d.fewerValues(factor, minCounts, func(p *drafted) bool {
			return factor != names.FactorWindow || p.point[factor] < p.point[names.FactorSenders]
		}) || done
	}
	return done
}

// fewerValues leaves out every second value of a factor between the ends, of the points of each kind for which it
// counts.
func (d *draft) fewerValues(factor string, min int, counted func(*drafted) bool) bool {
	keep := map[string][]int64{}
	for i := range d.points {
		kind := d.points[i].kind
		if _, had := keep[kind]; !had {
			keep[kind] = inner(d.values(factor, func(q *drafted) bool { return q.kind == kind && counted(q) }), min)
		}
	}
	return d.fewer(func(p *drafted) bool {
		v := p.point[factor]
		return v == 0 || keep[p.kind] == nil || !counted(p) || slices.Contains(keep[p.kind], v)
	})
}

// fewer keeps the points of which f reports true, and reports whether there were others.
func (d *draft) fewer(f func(*drafted) bool) bool {
	before := len(d.points)
	d.keep(f)
	return len(d.points) < before
}

// fewerTeams halves the number of sets that a point is measured on in a round, where other hosts are part of them in
// every round. As many rounds measure as many sets as there are at least.
func (d *draft) fewerTeams(rounds int) bool {
	done := false
	for i := range d.points {
		p := &d.points[i]
		if n := len(p.sets) / 2; n >= 1 && n >= p.teams/rounds && d.sets[p.sets[0]].permuted {
			p.sets, done = p.sets[:n], true
		}
	}
	if done {
		d.sum()
	}
	return done
}

// rarer has the point that takes most of a round measured in fewer of the rounds, if it takes longer than a time [ns].
// What takes long, such as a stream on a slow network, varies less from round to round than what is short.
func (d *draft) rarer(long float64, limit int) bool {
	var longest *drafted
	for i := range d.points {
		if p := &d.points[i]; p.every < limit && float64(p.time) > long && (longest == nil || p.perRound() > longest.perRound()) {
			longest = p
		}
	}
	if longest == nil {
		return false
	}
	longest.every++
	d.sum()
	return true
}
