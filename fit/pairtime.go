package fit

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"calib/fit/resample"
	"calib/internal/stats"
)

// PairTime is what one pair needs for one size [s], alone on the network.
type PairTime struct {
	Hosts [2]int // lower first
	Value float64
	CI    [2]float64
	// Rounds are the medians of the rounds [s], ascending.
	Rounds []float64
}

// PairTimes gathers lines by pair: Value is the midmean of the rounds' medians, both directions averaged.
func PairTimes(lines []*Batch) []PairTime {
	type mean struct{ sum, n float64 }
	pairs := map[[2]int]map[int]mean{} // of the medians of lines, by round
	for _, b := range lines {
		r := b.Lines[0].Ranks
		k := [2]int{min(r[0], r[1]), max(r[0], r[1])}
		if pairs[k] == nil {
			pairs[k] = map[int]mean{}
		}
		m := pairs[k][b.Round]
		pairs[k][b.Round] = mean{m.sum + stats.Median(stats.Floats(b.Lines[0].NS))*1e-9, m.n + 1}
	}
	var out []PairTime
	for hosts, rounds := range pairs {
		var medians []float64
		for _, m := range rounds {
			medians = append(medians, m.sum/m.n)
		}
		value := resample.Midmean(medians) // sorts them: what follows does not depend on the order of the map
		out = append(out, PairTime{hosts, value, roundInterval(medians), medians})
	}
	slices.SortFunc(out, func(a, b PairTime) int {
		return cmp.Or(cmp.Compare(a.Hosts[0], b.Hosts[0]), cmp.Compare(a.Hosts[1], b.Hosts[1]))
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
	half := resample.TQuantile(r-1) * math.Sqrt(ss/(r-1)/r)
	return [2]float64{mean - half, mean + half}
}

// ranked are the times of pairs in order, so that the median and the scaled MAD of all pairs but one host's need no
// sorting of their own: a thousand hosts have half a million pairs.
type ranked struct {
	values []float64     // ascending
	own    map[int][]int // by host: the places of its pairs among values, ascending
	left   []int         // by place: the host that was left out last
}

func rank(pairs []PairTime) *ranked {
	order := make([]int, len(pairs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order,
		func(a, b int) int { return cmp.Or(cmp.Compare(pairs[a].Value, pairs[b].Value), cmp.Compare(a, b)) })
	r := &ranked{own: map[int][]int{}, left: slices.Repeat([]int{-1}, len(pairs))}
	for place, i := range order {
		p := pairs[i]
		r.values = append(r.values, p.Value)
		r.own[p.Hosts[0]] = append(r.own[p.Hosts[0]], place)
		r.own[p.Hosts[1]] = append(r.own[p.Hosts[1]], place)
	}
	return r
}

// medianWithout is the median of all values but those of host h, of which there must be one.
func (r *ranked) medianWithout(h int) float64 {
	own := r.own[h]
	n := len(r.values) - len(own)
	at := func(i int) float64 { // the i-th of them
		for _, place := range own {
			if place > i {
				break
			}
			i++
		}
		return r.values[i]
	}
	return middle(n, at)
}

// madWithout is the scaled MAD of all values but those of host h, whose median is mid. It goes from the middle of the
// values outwards on both sides, always to the nearer next one.
func (r *ranked) madWithout(h int, mid float64) float64 {
	for _, place := range r.own[h] {
		r.left[place] = h
	}
	above := sort.SearchFloat64s(r.values, mid)
	below := above - 1
	n := len(r.values) - len(r.own[h])
	near := make([]float64, 0, n/2+1)
	for len(near) < n/2+1 {
		for below >= 0 && r.left[below] == h {
			below--
		}
		for above < len(r.values) && r.left[above] == h {
			above++
		}
		if above >= len(r.values) || below >= 0 && mid-r.values[below] < r.values[above]-mid {
			near = append(near, mid-r.values[below])
			below--
		} else {
			near = append(near, r.values[above]-mid)
			above++
		}
	}
	return stats.MADScale * middle(n, func(i int) float64 { return near[i] })
}

// middle is the median of n ascending values.
func middle(n int, at func(int) float64) float64 {
	if n%2 == 1 {
		return at(n / 2)
	}
	return stats.SortedQuantile([]float64{at(n/2 - 1), at(n / 2)}, 0.5)
}
