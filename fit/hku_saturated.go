package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// saturated returns the sizes at which the root is the limit, with their intervals: of streams without loss where those
// show it, otherwise of all.
func (a *arrivals) saturated() *costData {
	out := &costData{from: a.from}
	var groups [][]int // points of each size
	for _, m := range a.sizes() {
		group, senders := a.group(m, false)
		if group == nil {
			if group, senders = a.group(m, true); group != nil {
				a.lossy++
			}
		}
		if group == nil {
			a.free++
			continue
		}
		a.said[senders]++
		groups = append(groups, group)
		out.sizes = append(out.sizes, m)
	}
	mean := func(v []float64) []float64 {
		y := make([]float64, len(groups))
		for i, g := range groups {
			for _, at := range g {
				y[i] += v[at] / float64(len(g))
			}
		}
		return y
	}
	out.values = mean(a.from.values)
	for _, r := range a.from.replicates {
		out.replicates = append(out.replicates, mean(r))
	}
	for _, g := range groups {
		n := 0
		for _, at := range g {
			n += a.from.n[at]
		}
		out.n = append(out.n, n)
	}
	return out
}

// group returns the points of m bytes whose interval is that of the most senders, and those numbers of senders; nil where
// the senders are the limit, or nothing is there to tell.
func (a *arrivals) group(m float64, losses bool) (group []int, named string) {
	senders, points := a.at(m, losses)
	last := len(points) - 1
	if last < 0 {
		return nil, ""
	}
	value := func(i int) float64 { return a.from.values[points[i]] }
	a.top = math.Max(a.top, a.from.interval(value(last), a.from.replicates, points[last])[1])
	alone := math.Inf(1) // interval × senders where the senders are the limit
	if ref := reference(senders); ref >= 0 {
		alone = senders[ref] * value(ref)
	} else if gs := a.gs(); gs != nil && senders[last] > 1 {
		alone = gs.At(m)
	}
	if senders[last]*value(last) <= (1+falls)*alone {
		return nil, ""
	}
	var same []string
	for i := range points {
		if math.Abs(value(i)/value(last)-1) <= plateau {
			group = append(group, points[i])
			same = append(same, fmt.Sprintf("%g", senders[i]))
		}
	}
	return group, strings.Join(same, ", ")
}

// sizes lists the sizes that any number of senders streamed, ascending.
func (a *arrivals) sizes() []float64 {
	var all []float64
	for _, q := range a.curves.of {
		all = append(all, q.sizes...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// at returns the numbers of senders that streamed m bytes, ascending, and their points: those without loss, and with
// losses set those with loss where there are no others.
func (a *arrivals) at(m float64, losses bool) (senders []float64, points []int) {
	find := func(p int64, lossy bool) (int, bool) {
		q := a.curves.of[streams(p, lossy)]
		if q == nil {
			return 0, false
		}
		i, ok := q.points[m]
		return i, ok
	}
	for _, p := range a.senders {
		i, ok := find(p, false)
		if !ok && losses {
			i, ok = find(p, true)
		}
		if ok {
			senders, points = append(senders, float64(p)), append(points, i)
		}
	}
	return senders, points
}

// reference returns the index of the number of senders that the fall of the last is judged against: the largest that is
// clearly smaller; −1 where there is none.
func reference(senders []float64) int {
	last := senders[len(senders)-1]
	for i := len(senders) - 2; i >= 0; i-- {
		if senders[i] <= fewer*last {
			return i
		}
	}
	return -1
}
