package plan

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/units"
)

// thinEffort gives a thin design: one with the essential points only (bench.Effort.Thin).
const thinEffort = 0.25

// lengthy is the part of an experiment's time in so many rounds (every) from which a point takes long.
const lengthy = 1.0 / 3

// otherPoints is added to the rank of points that a thin design does not have. Sizes that do not fit have rank
// tooLarge, or half of that where the user has named them.
const otherPoints, tooLarge = 100, 1000

// countFactors are the factors that say how many hosts take part, or packets of a burst.
var countFactors = []string{
	names.FactorPairs, names.FactorSenders, names.FactorHosts, names.FactorWindow, names.FactorPackets,
}

// kindOf is equal for points that differ in nothing but sizes and counts.
func kindOf(p bench.Point) string {
	p = maps.Clone(p)
	delete(p, names.FactorBytes)
	for _, factor := range countFactors {
		delete(p, factor)
	}
	return p.Key()
}

// Kinds of steps. All drafts take those of a kind before those of the next.
const (
	stepLong    = iota // needed points that take long, in one of so many rounds (every)
	stepOften          // needed points of core experiments in more rounds, and sizes, within the experiment's share
	stepBetween        // the points between
	stepMore           // every point in every round, then on all sets, and then with more repetitions
	kinds
)

// needs returns a draft of the needed points: with few repetitions, on one set of teams, in one of so many rounds
// (every). A needed point of a core experiment that takes long has one round in rarest.
func (d *draft) needs(level int, share units.Nanos, every, rarest int) *draft {
	n := *d
	n.points, n.effort, n.share = slices.Clone(d.points), 0, share
	limit := lengthy * float64(share) * float64(every)
	if d.time <= share {
		limit = math.Inf(1)
	}
	order := n.ranked(limit)
	for i := range n.points {
		p := &n.points[i]
		if p.every = 0; n.sets[p.sets[0]].permuted {
			p.n = 1
		}
	}
	var long, moreOften, later, fillers, each, wide []func()
	for rest := order; len(rest) > 0; {
		k := 1 // all points of a rank and size, or none: models compare them
		size := rest[0].point[names.FactorBytes]
		for k < len(rest) && rest[k].rank == rest[0].rank && rest[k].point[names.FactorBytes] == size {
			k++
		}
		var open []*drafted
		for _, p := range rest[:k] {
			each = append(each, func() { p.every = min(p.every, 1) }) // 0 stays
			wide = append(wide, func() { p.n = len(p.sets) })
			if !n.needed(p, level) {
				open = append(open, p)
				continue
			}
			if p.every = every; float64(p.times[0]) > limit && n.core() {
				p.every = rarest
				long = append(long, func() { p.every = every })
			}
			// What a clock costs hardly differs from round to round. Slots that need its offset read it themselves.
			for e := every / 2; e > 0 && n.core() && n.exp.Name != names.Clock; e /= 2 {
				step := func() { p.every = min(p.every, e) }
				if p.small || p.counts() {
					moreOften = append(moreOften, step)
				} else {
					later = append(later, step)
				}
			}
		}
		fillers = append(fillers, func() {
			for _, p := range open {
				p.every = every
			}
		})
		// A line of sizes has two degrees of freedom fewer than sizes, a median of rounds one fewer than rounds.
		if n.core() && !rest[0].counts() && len(fillers)-2 <= n.plan.Rounds.Min-1 {
			moreOften = append(moreOften, fillers[len(fillers)-1])
		}
		rest = rest[k:]
	}
	for k := range fullEffort {
		wide = append(wide, func() { n.effort = k + 1 })
	}
	n.steps = [kinds][]func(){stepLong: long, stepOften: append(moreOften, later...), stepBetween: fillers,
		stepMore: append(each, wide...)}
	n.sum()
	return &n
}

// grow takes the next step of those of a kind, if it takes at most room more of a round. It returns what it takes.
func (d *draft) grow(kind int, room units.Nanos) units.Nanos {
	points, effort, time := slices.Clone(d.points), d.effort, d.time
	if kind == stepOften {
		room = min(room, d.share-d.time)
	}
	d.steps[kind][0]()
	d.steps[kind] = d.steps[kind][1:]
	if d.sum(); d.time > time+room {
		copy(d.points, points)
		d.effort, d.time = effort, time
	}
	return d.time - time
}

// counts reports whether the point says how many take part.
func (p *drafted) counts() bool {
	return slices.ContainsFunc(countFactors, func(f string) bool { return p.point[f] > 0 })
}

// core reports whether the experiment is measured whatever the budget is.
func (d *draft) core() bool { return d.plan.Chosen || !slices.Contains(optional, d.exp.Name) }

// Levels of what models need where numbers of hosts are compared. Each has what those before it have.
const (
	needEnds    = iota // the smallest size, with the least and the most hosts
	needBetween        // of core experiments, one number of hosts between: it shows whether the form is right
	needSizes          // the largest size, too
)

// needed reports whether models need the point. Where only sizes are compared, these are both ends and one size
// between, which shows whether a line is straight.
func (d *draft) needed(p *drafted, level int) bool {
	if !p.counts() {
		return p.rank <= 2
	}
	return p.rank == 0 || p.rank == 1 && level == needSizes || p.rank == 2 && p.small && level >= needBetween && d.core()
}

// ranked lists the points in the order in which they are wanted: of each kind the smallest size with the least and the
// most hosts, the largest size that fits, and then what lies between, halving the steps, the larger sizes first; all of
// a thin design before the others. A size fits where its points take at most limit [ns], or twice what those of the
// smallest take. Of an experiment that may be left out, the first size above a packet is wanted like an end, and the
// last one within like the first between.
func (d *draft) ranked(limit float64) []*drafted {
	var all, thin []*drafted
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
	named := d.limits.Sizes != nil
	path := d.limits.OnPath()
	rank(all, limit, packet, named, path)
	for _, p := range all {
		p.rank += otherPoints
	}
	rank(thin, limit, packet, named, path)
	order := lists.Where(all, func(p *drafted) bool { return p.rank < tooLarge })
	slices.SortStableFunc(order, func(a, b *drafted) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.point[names.FactorBytes], a.point[names.FactorBytes]))
	})
	return order
}

// rank gives points their ranks among each other. The first size above a packet [B] is wanted like the largest one, and
// the size before it like the first between the ends, even where it is an end of its kind: gather would leave short
// budgets no room for many rounds. A burst that takes too long is wanted last, and its size may fit all the same: how
// many packets fill a port nobody knows before. So is a size that does not fit and was named by the user.
func rank(points []*drafted, limit float64, packet int64, named bool, path bench.Path) {
	values := map[string][]int64{}   // factor and kind → ascending
	takes := map[int64]units.Nanos{} // size → the slowest of its points
	fewest := int64(math.MaxInt64)   // packets of a burst
	for _, p := range points {
		if k := p.point[names.FactorPackets]; k > 0 {
			fewest = min(fewest, k)
		}
	}
	long := func(p *drafted) bool { return p.point[names.FactorPackets] > fewest && float64(p.times[0]) > limit }
	for _, p := range points {
		if long(p) {
			continue
		}
		for _, f := range append(countFactors, names.FactorBytes) {
			known, v := values[f+p.kind], p.point[f]
			if i, has := slices.BinarySearch(known, v); !has {
				values[f+p.kind] = slices.Insert(known, i, v)
			}
		}
		if size := p.point[names.FactorBytes]; size > 0 {
			takes[size] = max(takes[size], p.times[0])
		}
	}
	largest, above, within := int64(0), int64(-1), int64(-1) // that fits; the first above a packet, and the one before it
	all := slices.Sorted(maps.Keys(takes))
	fits := limit
	for i, size := range all {
		if i == 0 {
			fits = max(fits, 2*float64(takes[size]))
		} else if above < 0 && size > packet {
			above, within = size, all[i-1]
		}
		if float64(takes[size]) <= fits || size == above {
			largest = size
		}
	}
	depth := func(p *drafted, factor string, n int) int {
		known := values[factor+p.kind]
		i, _ := slices.BinarySearch(known, p.point[factor])
		return halvings(i, n, func(i int) float64 {
			if factor == names.FactorBytes { // half of the way in size × time: by time alone small ones are alike
				return math.Log(float64(known[i])) + math.Log(float64(path.Message(known[i], 1)))
			}
			return float64(i)
		})
	}
	for _, p := range points {
		sizes, size := values[names.FactorBytes+p.kind], p.point[names.FactorBytes]
		n, _ := slices.BinarySearch(sizes, largest+1)
		p.rank, p.small = 0, size == sizes[0]
		if long(p) {
			p.rank = tooLarge - otherPoints - 1 // after all others
			continue
		}
		switch {
		case size > largest && named:
			p.rank = tooLarge / 2 // after all others
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
		for _, f := range countFactors {
			if k := depth(p, f, len(values[f+p.kind])); k > 0 {
				p.rank += 1 + k
			}
		}
		p.rank += int(p.point[names.FactorConnections] / 4) // two say most of whether one is the limit
	}
}

// halvings says how often a range of n values, which are at ascending places, is halved until value i is an end of a
// part: 0 for both ends.
func halvings(i, n int, at func(i int) float64) int {
	depth := 0
	for lo, hi := 0, n-1; i > lo && i < hi; depth++ {
		mid, middle := lo+1, (at(lo)+at(hi))/2
		for mid+1 < hi && math.Abs(at(mid+1)-middle) < math.Abs(at(mid)-middle) {
			mid++
		}
		if i <= mid {
			hi = mid
		} else {
			lo = mid
		}
	}
	return depth
}
