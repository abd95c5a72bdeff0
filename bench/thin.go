package bench

import (
	"fmt"
	"maps"
	"slices"

	"calib/internal/dataset/names"
	"calib/internal/units"
)

// within makes the draft thinner until a round of it, but for the points that must stay, takes no longer than most, and reports whether that
// was possible.
func (d *draft) within(most units.Nanos) (bool, error) {
	for d.time()-d.staying() > most {
		if d.tooLarge(most) && d.dropLargest() {
			continue
		}
		lighter, err := d.lighter()
		if err != nil {
			return false, err
		}
		if !lighter && !d.sample() && !d.dropLargest() && !d.fewerCounts() && !d.smallerCounts() && !d.rarer(most) && !d.dropCostliest() {
			return false, nil
		}
	}
	return true, nil
}

const (
	// leastSizes and leastCounts of a factor stay: a line with a check of its straightness, and both ends.
	leastSizes  = 3
	leastCounts = 2
	// lightest is the share of the plan's effort that an experiment has at least.
	lightest = 0.25
	// ofRound is the share of an experiment's time in a round that one point may take.
	ofRound = 1.0 / 3
)

// lighter halves the effort.
func (d *draft) lighter() (bool, error) {
	whole, now := d.plan.Limits.Effort.orWhole(), d.limits.Effort.orWhole()
	if now/2 < whole*lightest {
		return false, nil
	}
	top, pairs := d.largest(), d.setsPerPoint()
	d.limits.Effort = now / 2
	if err := d.lay(); err != nil {
		return false, err
	}
	for d.largest() > top && d.dropLargest() { // what was dropped before stays so
	}
	d.keepSets(pairs)
	d.say("effort", fmt.Sprintf("effort %.3g instead of %.3g", float64(d.limits.Effort), float64(whole)))
	return true, nil
}

// sample halves the number of sets that a point is measured on, where other hosts are part of them in every round.
func (d *draft) sample() bool {
	most, all := 1, 0
	for _, p := range d.points {
		if d.permuted(p) {
			most = max(most, len(p.sets))
		}
	}
	if most < 2 {
		return false
	}
	for _, p := range d.laid[d.limits.Effort].points {
		all = max(all, len(p.sets))
	}
	d.keepSets(most / 2)
	d.say("teams", fmt.Sprintf("%d of %d teams in a round, others in each", most/2, all))
	return true
}

// permuted reports whether other hosts measure the point in every round.
func (d *draft) permuted(p drafted) bool {
	return !slices.ContainsFunc(p.sets, func(i int) bool { return !d.sets[i].permuted })
}

// setsPerPoint is the largest number of sets that a point has.
func (d *draft) setsPerPoint() int {
	n := 0
	for _, p := range d.points {
		n = max(n, len(p.sets))
	}
	return n
}

// keepSets keeps the first n sets of every point that other hosts measure in every round.
func (d *draft) keepSets(n int) {
	for i, p := range d.points {
		if d.permuted(p) {
			d.points[i].sets = p.sets[:min(n, len(p.sets))]
		}
	}
}

// sizes lists the message sizes, ascending.
func (d *draft) sizes() []int64 {
	var all []int64
	for _, p := range d.points {
		if m := p.point[names.FactorBytes]; m > 0 {
			all = append(all, m)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// largest is the largest message size; 0 where there is none.
func (d *draft) largest() int64 {
	if all := d.sizes(); len(all) > 0 {
		return all[len(all)-1]
	}
	return 0
}

// tooLarge reports whether the largest messages alone take more than their share.
func (d *draft) tooLarge(most units.Nanos) bool {
	top := d.largest()
	return slices.ContainsFunc(d.points, func(p drafted) bool {
		return p.point[names.FactorBytes] == top && top > 0 && float64(p.time)*float64(len(p.sets)) > ofRound*float64(most)
	})
}

// dropLargest leaves out the points of the largest size, the last one above a packet only where nothing stays of it.
func (d *draft) dropLargest() bool {
	all := d.sizes()
	if len(all) <= leastSizes || d.limits.Sizes != nil { // the user's sizes stay
		return false
	}
	top := all[len(all)-1]
	if d.longStays() && all[len(all)-2] <= int64(d.limits.SegmentSize()) {
		return false
	}
	d.points = slices.DeleteFunc(d.points, func(p drafted) bool { return p.point[names.FactorBytes] == top })
	d.say("sizes", "messages to "+units.Bytes(all[len(all)-2]).String())
	return true
}

// selective reports whether the points of the experiment do not count alike.
func (d *draft) selective() bool {
	_, ok := d.exp.(Spanning)
	return ok
}

// spans reports whether the experiment needs a size above a packet, and has one.
func (d *draft) spans() bool { return d.selective() && d.largest() > int64(d.limits.SegmentSize()) }

// longStays reports whether the draft has a size above a packet that it must keep.
func (d *draft) longStays() bool { return d.spans() && d.keep <= keepLong }

// stays reports whether a point is one that must stay: of the least size, or one for which there is a size above a packet. That is one of
// that size, or of the size before, from which on messages are taken apart.
func (d *draft) stays(p Point) bool {
	if !d.selective() {
		return false
	}
	m, sizes := p[names.FactorBytes], d.sizes()
	if len(sizes) == 0 {
		return false
	}
	if (d.keep == keepEnds || d.keep == keepShort) && m == sizes[0] {
		return true
	}
	if !d.spans() || d.keep != keepEnds && d.keep != keepLong || !d.exp.(Spanning).Spans(p) {
		return false
	}
	above, _ := slices.BinarySearch(sizes, int64(d.limits.SegmentSize())+1)
	return slices.Contains(sizes[max(0, above-1):above+1], m)
}

// staying is what the points that stay take in a round, beside what their slots do.
func (d *draft) staying() units.Nanos {
	sum := units.Nanos(0)
	for _, p := range d.points {
		if d.stays(p.point) {
			sum += p.time * units.Nanos(len(p.sets))
		}
	}
	return sum
}

// poorer reports whether d, which was made thinner than whole, lost what more rounds do not give back: more than two thirds of the sizes, or
// the one above a packet, or numbers of hosts, or single points.
func (d *draft) poorer(whole *draft) bool {
	if 3*len(d.sizes()) < len(whole.sizes()) || d.dropped > whole.dropped || whole.spans() && !d.spans() {
		return true
	}
	return slices.ContainsFunc(counts, func(factor string) bool { return len(d.numbers(factor)) < len(whole.numbers(factor)) })
}

// counts are the factors that say how many hosts take part.
var counts = []string{names.FactorPairs, names.FactorSenders, names.FactorHosts, names.FactorWindow}

// numbers lists the values of a factor, ascending.
func (d *draft) numbers(factor string) []int64 {
	values := map[int64]bool{}
	for _, p := range d.points {
		if v, ok := p.point[factor]; ok {
			values[v] = true
		}
	}
	return slices.Sorted(maps.Keys(values))
}

// keepNumbers leaves out the points with other values of a factor.
func (d *draft) keepNumbers(factor string, values []int64) {
	d.points = slices.DeleteFunc(d.points, func(p drafted) bool {
		v, ok := p.point[factor]
		return ok && !slices.Contains(values, v)
	})
	d.say(factor, fmt.Sprintf("%d numbers of %s, to %d", len(values), factor, slices.Max(values)))
}

// fewerCounts leaves out every second number of pairs, senders or hosts between the least and the most.
func (d *draft) fewerCounts() bool {
	done := false
	for _, factor := range counts {
		all := d.numbers(factor)
		if len(all) <= leastCounts {
			continue
		}
		var keep []int64
		for i, v := range all {
			if i%2 == 0 || i == len(all)-1 {
				keep = append(keep, v)
			}
		}
		d.keepNumbers(factor, keep)
		done = done || len(keep) < len(all)
	}
	return done
}

// smallerCounts leaves out the largest number of pairs, senders or hosts, and takes half of it instead where a design has that.
func (d *draft) smallerCounts() bool {
	done := false
	for _, factor := range counts {
		all := d.numbers(factor)
		if len(all) < leastCounts || all[len(all)-1] <= 2 {
			continue
		}
		top := all[len(all)-1]
		var less int64
		whole := d.laid[d.limits.Effort].points
		for _, p := range whole {
			if v := p.point[factor]; v <= top/2 && v > less {
				less = v
			}
		}
		if less <= all[0] {
			continue
		}
		sizes := d.sizes()
		for _, p := range whole {
			if p.point[factor] == less && (p.point[names.FactorBytes] == 0 || slices.Contains(sizes, p.point[names.FactorBytes])) &&
				!slices.ContainsFunc(d.points, func(q drafted) bool { return maps.Equal(q.point, p.point) }) {
				d.points = append(d.points, p)
			}
		}
		d.keepNumbers(factor, []int64{all[0], less})
		done = true
	}
	return done
}

// cut is one way in which a draft was made thinner, in words.
type cut struct{ kind, text string }

// say notes what was made thinner; of one kind the last note counts, and an empty one takes it back.
func (d *draft) say(kind, text string) {
	d.thin = slices.DeleteFunc(d.thin, func(c cut) bool { return c.kind == kind })
	if text != "" {
		d.thin = append(d.thin, cut{kind, text})
	}
}
