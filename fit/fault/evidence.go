package fault

import (
	"math"
	"slices"

	"calib/internal/stats"
)

// stakes are which share of the evidence so far a batch multiplies. With small ones, what is slow in few batches only is
// found too.
var stakes = []float64{1, 0.3, 0.1, 0.03}

// test is how observations are read: which number, over how many rounds, and of a host in which role. Each direction of
// the bytes is a test of its own, as a card may be slow in one only.
type test struct {
	quantity string
	of       func(Seen) float64
	rounds   int
	role     func(s Seen, h int) bool
}

var tests = []test{
	{Latency, func(s Seen) float64 { return s.Latency }, batch, func(Seen, int) bool { return true }},
	{Rate, perByte, 2 * batch, func(s Seen, h int) bool { return s.From == h }},
	{Rate, perByte, 2 * batch, func(s Seen, h int) bool { return s.To == h }},
}

func perByte(s Seen) float64 { return s.PerByte }

// reading is an observation as a number: the logarithm of how many times the median of its batch it takes; +Inf where
// nothing came through.
type reading struct {
	Seen
	over float64
}

// record is what was found of a subject: its readings, and the e-value of each batch.
type record struct {
	own     []reading
	e       []float64
	outside int // batches in which it stood out
}

// logs reads each batch, without the pairs of some hosts: the logarithms of what was seen.
func (s *Screen) logs(t test, without map[int]bool) (out [][]reading) {
	for rounds := range slices.Chunk(s.rounds[:len(s.rounds)/t.rounds*t.rounds], t.rounds) {
		var b []reading
		for _, seen := range slices.Concat(rounds...) {
			v := math.Inf(1)
			if !seen.Failed {
				v = math.Log(t.of(seen))
			}
			if !without[seen.From] && !without[seen.To] && !math.IsNaN(v) && !math.IsInf(v, -1) {
				b = append(b, reading{seen, v})
			}
		}
		out = append(out, b)
	}
	return out
}

// batches compares the readings of each batch with the median of those of their class.
func (s *Screen) batches(t test, without map[int]bool) (out [][]reading) {
	all := s.logs(t, without)
	of := map[[3]int][]float64{}
	for _, r := range slices.Concat(all...) {
		if !r.Failed {
			of[s.class(r.Seen)] = append(of[s.class(r.Seen)], r.over)
		}
	}
	usual := map[[3]int]float64{}
	for k, v := range of {
		usual[k] = stats.Median(v)
	}
	for _, b := range all {
		var known []float64
		for i, r := range b {
			if b[i].over -= usual[s.class(r.Seen)]; !r.Failed {
				known = append(known, b[i].over)
			}
		}
		if len(known) == 0 {
			continue
		}
		middle := stats.Median(known)
		for i := range b {
			b[i].over -= middle
		}
		out = append(out, b)
	}
	return out
}

// score adds a batch to the records of its subjects, which have a value each.
func score[K comparable](s *Screen, all map[K]*record, values map[K]float64, own map[K][]reading) {
	if len(values) < 3 {
		return
	}
	var known []float64
	for _, v := range values {
		if !math.IsInf(v, 1) {
			known = append(known, v)
		}
	}
	slices.Sort(known) // so that sums do not depend on the order of a map
	middle := stats.Median(known)
	unit := math.Max(stats.MAD(known), s.margin/3)
	z := map[K]float64{}
	var terms []float64
	for k, v := range values {
		z[k] = min((v-middle)/unit, most)
		terms = append(terms, math.Exp(max(z[k]-least, 0)))
	}
	slices.Sort(terms)
	mean := stats.Mean(terms)
	for k := range values {
		if all[k] == nil {
			all[k] = &record{}
		}
		r := all[k]
		r.e, r.own = append(r.e, math.Exp(max(z[k]-least, 0))/mean), append(r.own, own[k]...)
		if z[k] >= stands {
			r.outside++
		}
	}
}

// hostsOf scores hosts, each by the median of its readings in a batch. A host of one pair is judged as that pair only.
func (s *Screen) hostsOf(t test, all [][]reading) map[int]*record {
	out, other := map[int]*record{}, map[int]int{} // the only other host of one; -1 where there are more
	for _, r := range slices.Concat(all...) {
		for _, h := range []int{r.From, r.To} {
			if o, ok := other[h]; ok && o != r.From+r.To-h {
				other[h] = -1
			} else {
				other[h] = r.From + r.To - h
			}
		}
	}
	for _, b := range all {
		own, values := map[int][]reading{}, map[int]float64{}
		for _, r := range b {
			for _, h := range []int{r.From, r.To} {
				if t.role(r.Seen, h) && other[h] < 0 {
					own[h] = append(own[h], r)
				}
			}
		}
		for h, list := range own {
			values[h] = medianOf(list)
		}
		score(s, out, values, own)
	}
	return out
}

// pairsOf scores pairs, by what their hosts do not explain.
func (s *Screen) pairsOf(all [][]reading, hosts map[int]*record) map[[2]int]*record {
	part := map[int]float64{}
	for h, r := range hosts {
		if part[h] = medianOf(r.own); math.IsInf(part[h], 0) {
			part[h] = 0
		}
	}
	out := map[[2]int]*record{}
	for _, b := range all {
		// Ways between groups are shared, and judged apart.
		own, values := map[[2]int][]reading{}, map[bool]map[[2]int]float64{false: {}, true: {}}
		for _, r := range b {
			r.over -= max(part[r.From], part[r.To], 0)
			own[r.pair()] = append(own[r.pair()], r)
		}
		for p, list := range own {
			values[s.between(list[0].Seen)][p] = medianOf(list)
		}
		score(s, out, values[false], own)
		score(s, out, values[true], own)
	}
	return out
}

func medianOf(all []reading) float64 {
	v := make([]float64, len(all))
	for i, r := range all {
		v[i] = r.over
	}
	slices.Sort(v)
	if n := len(v); n%2 == 0 && math.IsInf(v[n/2], 1) {
		return v[n/2-1] // the lower one: half of them is not most of them
	}
	return stats.SortedQuantile(v, 0.5)
}

// evidence is the mean of the products of batches over stakes.
func (r *record) evidence() float64 {
	sum := 0.
	for _, w := range stakes {
		log := 0.
		for _, e := range r.e {
			log += math.Log1p(w * (e - 1))
		}
		sum += math.Exp(min(log, 700))
	}
	return sum / float64(len(stakes))
}

// found says how a subject stands out.
func (r *record) found(hosts []int, quantity string) Found {
	f := Found{Hosts: hosts, Quantity: quantity, Bad: r.outside, Of: len(r.e), Evidence: r.evidence()}
	var all []float64
	ways := map[string][]float64{}
	for _, o := range r.own {
		if o.Failed {
			continue
		}
		all = append(all, o.over)
		way := Receiving
		if o.From == hosts[0] {
			way = Sending
		}
		ways[way] = append(ways[way], o.over)
	}
	if 2*len(all) < len(r.own) || len(all) == 0 {
		f.Quantity, f.Ratio, f.CI = Reach, math.Inf(1), [2]float64{1, math.Inf(1)}
		return f
	}
	slices.Sort(all)
	n := len(all)
	below := max(int(float64(n)/2-math.Sqrt(float64(n))), 0) // order statistics about the median
	f.Ratio = math.Exp(stats.SortedQuantile(all, 0.5))
	f.CI = [2]float64{math.Exp(all[below]), math.Exp(all[n-1-below])}
	if quantity == Rate && len(hosts) == 2 && len(ways) == 2 {
		f.Direction = oneWay(ways[Sending], ways[Receiving])
	}
	return f
}

// oneWay is the direction in which alone bytes are slow.
func oneWay(sending, receiving []float64) string {
	s, r := stats.Median(sending), stats.Median(receiving)
	switch {
	case s > 0 && r < s/4:
		return Sending
	case r > 0 && s < r/4:
		return Receiving
	}
	return ""
}
