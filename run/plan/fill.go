package plan

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

const (
	// leastEffort is the share of the plan's effort that an experiment has at least.
	leastEffort = 0.25
	// thinEffort is that of a design with the essential points only (bench.Limits.Thin).
	thinEffort = 0.25
	// lengthy is the part of an experiment's time from which a point takes long.
	lengthy = 1.0 / 3
)

// Ranks of points that a thin design does not have, and of those that are too large.
const otherPoints, tooLarge = 100, 1000

// counts are the factors that say how many hosts take part, or packets of a burst.
var counts = []string{names.FactorPairs, names.FactorSenders, names.FactorHosts, names.FactorWindow, names.FactorPackets}

// kindOf is equal for points that differ in nothing but sizes and counts.
func kindOf(p bench.Point) string {
	p = maps.Clone(p)
	delete(p, names.FactorBytes)
	for _, factor := range counts {
		delete(p, factor)
	}
	return p.Key()
}

// fill chooses what a round of the draft measures within a limit. The points that models need come first, whatever they
// take; others follow in the order of their ranks. Each is measured with few repetitions, on one set of teams, in one of
// so many rounds (every). Then there are more rounds, more sets and more repetitions, as far as there is room. Of an
// experiment that must stay, a needed point that takes long for its share is measured in one of rarest rounds only.
func (d *draft) fill(share, limit units.Nanos, every, rarest int) {
	if d.time <= limit {
		return
	}
	whole, longest := d.effort.OrWhole(), lengthy*float64(share)*float64(every)
	d.costs(d.lightest())
	order := d.ranked(longest)
	for i := range d.points {
		d.points[i].every = 0
	}
	thin := func(every int) func(*drafted) {
		return func(p *drafted) {
			if p.every = every; d.sets[p.sets[0]].permuted {
				p.n = 1
			}
		}
	}
	for _, p := range order {
		switch long := float64(p.time) > longest; {
		case d.needed(p) && long && d.core():
			thin(rarest)(p)
		case d.needed(p):
			thin(every)(p)
		}
	}
	d.sum()
	d.thicken(order, limit, every, false)
	for rest := order; len(rest) > 0; {
		n := 1 // all points of a rank and size, or none: models compare them
		for n < len(rest) && rest[n].rank == rest[0].rank && rest[n].point[names.FactorBytes] == rest[0].point[names.FactorBytes] {
			n++
		}
		if rest[0].every == 0 {
			d.try(rest[:n], limit, thin(every))
		}
		rest = rest[n:]
	}
	d.thicken(order, limit, 1, true)
	for d.effort < whole {
		was := d.effort
		if d.costs(2 * was); d.time > limit {
			d.costs(was)
			break
		}
	}
}

// thicken has points measured in more rounds, as far as there is room: up to one in every. Where sets is true, they are
// then measured on more sets.
func (d *draft) thicken(points []*drafted, limit units.Nanos, every int, sets bool) {
	for more := true; more; {
		more = false
		for i, p := range points {
			change := func(p *drafted) { p.every = max(every, p.every/2) }
			if p.every == every && sets && p.n < len(p.sets) {
				change = func(p *drafted) { p.n = min(2*p.n, len(p.sets)) }
			} else if p.every <= every {
				continue
			}
			more = d.try(points[i:i+1], limit, change) || more
		}
	}
}

// lightest is the effort that the experiment has at least.
func (d *draft) lightest() bench.Effort { return d.plan.Limits.Effort.OrWhole() * leastEffort }

// core reports whether the experiment stays whatever the budget is.
func (d *draft) core() bool { return d.plan.Chosen || !slices.Contains(optional, d.exp.Name) }

// try has points measured in another way if the draft then takes at most a limit.
func (d *draft) try(points []*drafted, limit units.Nanos, change func(*drafted)) bool {
	was, time := make([]drafted, len(points)), d.time
	for i, p := range points {
		was[i] = *p
		change(p)
	}
	if d.sum(); d.time <= limit {
		return true
	}
	for i, p := range points {
		*p = was[i]
	}
	d.time = time
	return false
}

// What models need where numbers of hosts are compared: the smallest size with both ends of them; of experiments that
// stay, with one number between, too, which shows whether the form is right; and more sizes with both ends.
const (
	needEnds = iota
	needBetween
	needSizes
)

// needed reports whether models need the point: both ends of sizes and of numbers of hosts (see need), and, where only
// sizes are compared, one size between, which shows whether a line is straight.
func (d *draft) needed(p *drafted) bool {
	if !slices.ContainsFunc(counts, func(f string) bool { return p.point[f] > 0 }) {
		return p.rank <= 2
	}
	return p.rank == 0 || p.rank == 1 && d.need == needSizes || p.rank == 2 && p.small && d.need >= needBetween && d.core()
}

// ranked lists the points in the order in which they are wanted: of each kind the smallest size with the least and the
// most hosts, the largest size that fits, and then what lies between, halving the steps; all of a thin design before the
// others. A size fits where its points take at most a time [ns], or twice what those of the smallest take. An experiment
// that may be left out needs the first size above a packet, too, and the last one within.
func (d *draft) ranked(longest float64) []*drafted {
	var all, thin, order []*drafted
	packet := int64(d.limits.SegmentSize())
	if d.core() {
		packet = math.MaxInt64
	}
	for i := range d.points {
		p := &d.points[i]
		if all = append(all, p); p.thin {
			thin = append(thin, p)
		}
	}
	rank(all, longest, packet)
	for _, p := range all {
		p.rank += otherPoints
	}
	rank(thin, longest, packet)
	for _, p := range all {
		if p.rank < tooLarge {
			order = append(order, p)
		}
	}
	slices.SortStableFunc(order, func(a, b *drafted) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.point[names.FactorBytes], b.point[names.FactorBytes]))
	})
	return order
}

// rank gives points their ranks among each other. The first size above a packet [B] is wanted like the largest one, and
// the size before it like the first between the ends.
func rank(points []*drafted, longest float64, packet int64) {
	values := map[string][]int64{}   // factor and kind → ascending
	takes := map[int64]units.Nanos{} // size → the longest of its points
	for _, p := range points {
		for _, f := range append(counts, names.FactorBytes) {
			known, v := values[f+p.kind], p.point[f]
			if i, has := slices.BinarySearch(known, v); !has {
				values[f+p.kind] = slices.Insert(known, i, v)
			}
		}
		if size := p.point[names.FactorBytes]; size > 0 {
			takes[size] = max(takes[size], p.time)
		}
	}
	largest, above, within := int64(0), int64(-1), int64(-1) // that fits; the first above a packet, and the one before it
	all := slices.Sorted(maps.Keys(takes))
	for i, size := range all {
		if i == 0 {
			longest = max(longest, 2*float64(takes[size]))
		} else if above < 0 && size > packet {
			above, within = size, all[i-1]
		}
		if float64(takes[size]) <= longest || size == above {
			largest = size
		}
	}
	depth := func(p *drafted, factor string, n int) int {
		i, _ := slices.BinarySearch(values[factor+p.kind], p.point[factor])
		return between(i, n)
	}
	for _, p := range points {
		sizes, size := values[names.FactorBytes+p.kind], p.point[names.FactorBytes]
		n, _ := slices.BinarySearch(sizes, largest+1)
		p.rank, p.small = 0, len(sizes) == 0 || size <= sizes[0]
		switch {
		case size > largest:
			p.rank = tooLarge
		case p.small:
		case size == above:
			p.rank = 1
		case size == within:
			p.rank = 2
		default:
			p.rank = 1 + depth(p, names.FactorBytes, n)
		}
		for _, f := range counts {
			if k := depth(p, f, len(values[f+p.kind])); k > 0 {
				p.rank += 1 + k
			}
		}
	}
}

// between says how often a range of n values is halved until value i is an end of a part: 0 for both ends.
func between(i, n int) int {
	depth := 0
	for lo, hi := 0, n-1; i > lo && i < hi; depth++ {
		if mid := (lo + hi) / 2; i <= mid {
			hi = mid
		} else {
			lo = mid
		}
	}
	return depth
}
