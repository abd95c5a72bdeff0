package fault

import (
	"iter"
	"math"
	"slices"

	"calib/internal/lists"
	"calib/internal/stats"
)

// stakes are which share of the evidence so far a batch multiplies. With small ones, what is slow in few batches only
// is found too.
var stakes = []float64{1, 0.3, 0.1, 0.03}

// test is how observations are read: which number, over how many rounds, and of a host in which role. Each direction of
// the bytes is a test of its own, as a card may be slow in one only. What comes and goes is seen in batches of as many
// rounds as a moment has: that is rounds 0.
type test struct {
	quantity string
	of       func(Seen) float64
	rounds   int
	// A z below least counts as least: with 1, half of the hosts may be a class of their own. What comes and goes must
	// stand out further, and the batches without it then speak less against it. A z above most counts as most: a single
	// batch proves nothing.
	least, most float64
	role        func(s Seen, h int) bool
}

var tests = []test{
	{Latency, func(s Seen) float64 { return s.Latency }, batch, 1, 4, func(Seen, int) bool { return true }},
	{Rate, perByte, 2 * batch, 1, 4, sends},
	{Rate, perByte, 2 * batch, 1, 4, receives},
	{Rate, perByte, 0, 2, 6, sends},
	{Rate, perByte, 0, 2, 6, receives},
}

func perByte(s Seen) float64 { return s.PerByte }

func sends(s Seen, h int) bool { return s.From == h }

func receives(s Seen, h int) bool { return s.To == h }

// moment is how long the rounds of a batch are taken together of what comes and goes [s].
const moment = 1

// reading is an observation as a number: the logarithm of how many times the median of its batch it takes; +Inf where
// nothing came through.
type reading struct {
	Seen
	over float64
}

// record is what was found of a subject: its readings and the e-value of each batch.
type record struct {
	batches [][]reading
	e       []float64
	odd     []float64 // what it took in the batches in which it stood out, as reading.over
}

func (r *record) own() []reading { return slices.Concat(r.batches...) }

// logs reads each batch, without the pairs of some hosts: the logarithms of what was seen.
func (s *Screen) logs(t test, without map[int]bool) (out [][]reading) {
	for rounds := range s.chunks(t.rounds) {
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

// chunks are the rounds, so many at a time; with 0 as many as a moment has. What is left over is in none.
func (s *Screen) chunks(n int) iter.Seq[[][]Seen] {
	if n > 0 {
		return slices.Chunk(s.rounds[:len(s.rounds)/n*n], n)
	}
	return func(yield func([][]Seen) bool) {
		from, took := 0, 0.
		for i, t := range s.took {
			if took += t; took >= moment {
				if !yield(s.rounds[from : i+1]) {
					return
				}
				from, took = i+1, 0
			}
		}
	}
}

// compared compares the readings of each batch with the median of those of their class.
func (s *Screen) compared(all [][]reading) (out [][]reading) {
	usual := quantiles(0.5, all, s.class)
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

// quantiles returns a quantile of the readings with the same key. With two functions a reading is under both keys.
func quantiles[K comparable](q float64, all [][]reading, keys ...func(Seen) K) map[K]float64 {
	seen := map[K][]float64{}
	for _, r := range slices.Concat(all...) {
		for _, key := range keys {
			if k := key(r.Seen); !r.Failed {
				seen[k] = append(seen[k], r.over)
			}
		}
	}
	out := map[K]float64{}
	for k, v := range seen {
		out[k] = stats.Quantile(v, q)
	}
	return out
}

// score adds a batch to the records of its subjects, which have a value each.
func score[K comparable](s *Screen, t test, all map[K]*record, values map[K]float64, own map[K][]reading) {
	if len(values) < 3 {
		return
	}
	var known []float64
	for _, v := range values {
		if !math.IsInf(v, 1) {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return // an outage of the whole network
	}
	middle := stats.Median(known)
	unit := math.Max(stats.MAD(known), s.margin/3)
	z := map[K]float64{}
	var terms []float64
	for k, v := range values {
		z[k] = min(max((v-middle)/unit, t.least), t.most)
		terms = append(terms, math.Exp(z[k]-t.least))
	}
	slices.Sort(terms) // so that the sum does not depend on the order of a map
	mean := stats.Mean(terms)
	for k := range values {
		if all[k] == nil {
			all[k] = &record{}
		}
		r := all[k]
		r.e, r.batches = append(r.e, math.Exp(z[k]-t.least)/mean), append(r.batches, own[k])
		if z[k] > stands {
			r.odd = append(r.odd, values[k]-middle)
		}
	}
}

// hostsOf scores hosts, each by the median of its readings in a batch. A host of one pair is judged as that pair only.
// Pairs over slow uplinks say nothing of it.
func (s *Screen) hostsOf(t test, all [][]reading) map[int]*record {
	all = lists.Map(all, func(b []reading) []reading {
		return lists.Where(b, func(r reading) bool { return !s.congested(r.Seen) })
	})
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
		score(s, t, out, values, own)
	}
	return out
}

// pairsOf scores pairs, by what their hosts do not explain.
func (s *Screen) pairsOf(t test, all [][]reading, hosts map[int]*record) map[[2]int]*record {
	part := map[int]float64{}
	for h, r := range hosts {
		if part[h] = medianOf(r.own()); math.IsInf(part[h], 0) {
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
		score(s, t, out, values[false], own)
		score(s, t, out, values[true], own)
	}
	return out
}

func medianOf(all []reading) float64 {
	v := lists.Map(all, func(r reading) float64 { return r.over })
	slices.Sort(v)
	if n := len(v); n%2 == 0 && math.IsInf(v[n/2], 1) {
		return v[n/2-1] // the lower one: half of them is not most of them
	}
	return stats.SortedQuantile(v, 0.5)
}

// evidence is the mean, over stakes, of the products of batches, but those that a host is in; -1 is none.
func (r *record) evidence(without int) float64 {
	sum := 0.
	for _, w := range stakes {
		log := 0.
		for i, e := range r.e {
			if !slices.ContainsFunc(r.batches[i], func(o reading) bool { return o.From == without || o.To == without }) {
				log += math.Log1p(w * (e - 1))
			}
		}
		sum += math.Exp(min(log, 700))
	}
	return sum / float64(len(stakes))
}

// withoutAny is the least evidence about a host without any one of its partners.
func (r *record) withoutAny(host int) float64 {
	least, seen := math.Inf(1), map[int]bool{}
	for _, o := range r.own() {
		if p := o.From + o.To - host; !seen[p] {
			seen[p], least = true, min(least, r.evidence(p))
		}
	}
	return least
}

// found says how a subject stands out.
func (r *record) found(hosts []int, quantity string) Found {
	f := Found{Hosts: hosts, Quantity: quantity, Bad: len(r.odd), Of: len(r.e), Evidence: r.evidence(-1)}
	if len(r.odd) > 0 {
		f.odd = math.Exp(stats.Median(r.odd))
	}
	var all []float64
	ways := map[string][]float64{}
	own := r.own()
	for _, o := range own {
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
	if 2*len(all) < len(own) || len(all) == 0 {
		f.Quantity, f.Ratio, f.CI = Reach, math.Inf(1), [2]float64{1, math.Inf(1)}
		return f
	}
	f.Ratio, f.CI = Times(all)
	if quantity == Rate && len(hosts) == 2 && len(ways) == 2 {
		f.Direction = oneWay(stats.Median(ways[Sending]), stats.Median(ways[Receiving]))
	}
	return f
}

// Times are how many times as long it takes, by logarithms, which are sorted: their median, and order statistics about
// it.
func Times(logs []float64) (ratio float64, ci [2]float64) {
	slices.Sort(logs)
	n := len(logs)
	below := max(int(float64(n)/2-math.Sqrt(float64(n))), 0)
	return math.Exp(stats.SortedQuantile(logs, 0.5)), [2]float64{math.Exp(logs[below]), math.Exp(logs[n-1-below])}
}

// oneWay is the direction in which alone bytes are slow, by the logarithms of how many times as long they take.
func oneWay(sending, receiving float64) string {
	switch {
	case sending > 0 && receiving < sending/4:
		return Sending
	case receiving > 0 && sending < receiving/4:
		return Receiving
	}
	return ""
}
