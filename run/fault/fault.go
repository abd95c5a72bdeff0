// Package fault says which hosts and which pairs of hosts are slow, from observations of pairs in rounds, at a stated
// rate of false alarms. It measures nothing.
//
// In each round hosts form pairs by chance. Three rounds are a batch. Of a batch each host has the median of its pairs:
// one bad pair does not move it. If all hosts are alike, any of them may be the slowest of a batch: exp(z) of one over
// the mean of all is 1 on average, whatever the distribution of z. So it is an e-value, and the product over batches is
// one at whatever batch one stops (Vovk, Wang 2021). A subject is slow when its product exceeds N/rate, N the number of
// subjects and quantities (e-BH with one rejection: Wang, Ramdas 2022). Pairs are judged likewise, by what their hosts
// do not explain; a pair of a slow host is not judged.
package fault

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"calib/fit/resample"
	"calib/internal/stats"
)

// Seen is what was seen of a pair in a round, in which From sent the long messages to To.
type Seen struct {
	From, To        int
	Latency         float64 // s, half a round trip of a byte
	PerByte         float64 // s/B
	Segments, Again int64   // sent, and sent again
	Failed          bool    // nothing came through: the other numbers mean nothing
}

func (s Seen) pair() [2]int { return [2]int{min(s.From, s.To), max(s.From, s.To)} }

// Quantities that a subject is judged by.
const (
	Latency = "latency"
	Rate    = "rate"
	Loss    = "loss"
	Reach   = "reach" // nothing comes through
)

// Directions in which a rate is slow.
const (
	Sending   = "sending"
	Receiving = "receiving"
)

// Found is a host or a pair that is slow, or may be.
type Found struct {
	Hosts    []int  // one, or the two of a pair
	Quantity string // by which it stands out most
	// Ratio is how many times the median of all pairs it takes, CI its 95% interval; of Loss, the share of segments that
	// were sent again.
	Ratio     float64
	CI        [2]float64
	Bad, Of   int    // batches of rounds in which it stood out, of those in which it was seen
	Direction string // of the bytes, where only one is slow; "" otherwise
	Evidence  float64
}

// Comes reports whether what was found comes and goes: it was there in less than half of the batches.
func (f Found) Comes() bool { return 2*f.Bad < f.Of }

// Judgement is what the rounds so far say.
type Judgement struct {
	Slow      []Found // hosts, then pairs; most evidence first
	Undecided []Found // suspects that were neither proved nor cleared
	Rounds    int
	Pairs     int // of hosts that were seen
	Of        int // that there are
}

const (
	// batch is how many rounds are taken together: enough for a median of a host's pairs.
	batch = 3
	// least and most are the z from which a deviation counts, and up to which: half of the hosts may be a class of their
	// own, and a single batch proves nothing.
	least, most = 1, 4
	// stands is the z from which a subject stands out in a batch.
	stands = 2
	// suspect is the evidence from which a subject is suspected, undecided that from which it stays so at the end.
	suspect, undecided = 2, 20
)

// stakes are the shares of the evidence so far that are put on a round. With small ones, what is slow in few rounds
// only is found too.
var stakes = []float64{1, 0.3, 0.1, 0.03}

// Screen gathers rounds.
type Screen struct {
	hosts  int
	rate   float64 // of false discoveries
	margin float64 // by how much slower does not matter
	rounds [][]Seen
	group  []int     // of each host, as racks finds them; nil where there are none
	judged int       // batches
	last   Judgement // of them
}

// New is a screen of hosts that are not slow if they take less than 1 + margin times as long as the others.
func New(hosts int, rate, margin float64) *Screen {
	return &Screen{hosts: hosts, rate: rate, margin: margin}
}

// Add adds a round.
func (s *Screen) Add(round []Seen) { s.rounds = append(s.rounds, round) }

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

// record is what was found of a subject: its readings, and of each batch how much it stands out, z, and the e-value.
type record struct {
	own     []reading
	z, e    []float64
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

// batches compares the readings of each batch with the median of those of their kind: within groups, or between.
func (s *Screen) batches(t test, without map[int]bool) (out [][]reading) {
	all := s.logs(t, without)
	of := map[int][]float64{}
	for _, r := range slices.Concat(all...) {
		if !r.Failed {
			of[s.kind(r.Seen)] = append(of[s.kind(r.Seen)], r.over)
		}
	}
	usual := map[int]float64{}
	for k, v := range of {
		usual[k] = stats.Median(v)
	}
	for _, b := range all {
		var known []float64
		for i, r := range b {
			if b[i].over -= usual[s.kind(r.Seen)]; !r.Failed {
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
		r.z, r.e, r.own = append(r.z, z[k]), append(r.e, math.Exp(max(z[k]-least, 0))/mean), append(r.own, own[k]...)
		if z[k] >= stands {
			r.outside++
		}
	}
}

// hostsOf scores hosts, each by the median of its readings in a batch.
func (s *Screen) hostsOf(t test, all [][]reading) map[int]*record {
	out := map[int]*record{}
	for _, b := range all {
		own, values := map[int][]reading{}, map[int]float64{}
		for _, r := range b {
			for _, h := range []int{r.From, r.To} {
				if t.role(r.Seen, h) {
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
		own, values := map[[2]int][]reading{}, [2]map[[2]int]float64{{}, {}} // by kind: ways between groups are shared
		for _, r := range b {
			r.over -= max(part[r.From], part[r.To], 0)
			own[r.pair()] = append(own[r.pair()], r)
		}
		for p, list := range own {
			values[s.kind(list[0].Seen)][p] = medianOf(list)
		}
		for _, v := range values {
			score(s, out, v, own)
		}
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
	f := Found{Hosts: hosts, Quantity: quantity, Bad: r.outside, Of: len(r.z), Evidence: r.evidence()}
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

// matters reports whether what was found is more than the margin, now and then at least.
func (s *Screen) matters(f Found) bool {
	return f.Quantity == Loss || f.Ratio >= 1+s.margin || f.Bad >= 3 && f.Comes()
}

// Judge judges all hosts and pairs by the batches so far.
func (s *Screen) Judge() Judgement {
	if whole := len(s.rounds) / batch; s.judged != whole || whole == 0 {
		s.judged, s.last = whole, s.all()
	}
	return s.last
}

func (s *Screen) all() Judgement {
	j := Judgement{Rounds: len(s.rounds), Of: s.hosts * (s.hosts - 1) / 2}
	j.Pairs = len(s.seen())
	enough := float64(s.hosts+j.Pairs) * float64(len(tests)+1) / s.rate
	for _, t := range tests {
		s.judge(&j, t, enough)
	}
	s.losses(&j, enough)
	byEvidence := func(a, b Found) int {
		return cmp.Or(cmp.Compare(len(a.Hosts), len(b.Hosts)), cmp.Compare(b.Evidence, a.Evidence), slices.Compare(a.Hosts, b.Hosts))
	}
	slices.SortStableFunc(j.Slow, byEvidence)
	slices.SortStableFunc(j.Undecided, byEvidence)
	for i, f := range j.Slow {
		if len(f.Hosts) == 1 && f.Quantity == Rate {
			j.Slow[i].Direction = oneWay(s.readings(f.Hosts[0], tests[1]), s.readings(f.Hosts[0], tests[2]))
		}
	}
	var slow, open []Found
	for _, f := range j.Slow { // a subject once, and no pair of a slow host
		if !slices.ContainsFunc(slow, f.within) {
			slow = append(slow, f)
		}
	}
	for _, f := range j.Undecided {
		if !slices.ContainsFunc(slow, f.within) && !slices.ContainsFunc(open, f.same) {
			open = append(open, f)
		}
	}
	j.Slow, j.Undecided = slow, open
	return j
}

// readings are those of a host in a role, over all rounds.
func (s *Screen) readings(h int, t test) (out []float64) {
	for _, b := range s.batches(t, nil) {
		for _, r := range b {
			if (r.From == h || r.To == h) && t.role(r.Seen, h) {
				out = append(out, r.over)
			}
		}
	}
	return out
}

// within reports whether g is of the same subject as f, or of a host of the pair.
func (f Found) within(g Found) bool {
	return f.same(g) || len(g.Hosts) == 1 && slices.Contains(f.Hosts, g.Hosts[0])
}

func (f Found) same(g Found) bool {
	return len(f.Hosts) == len(g.Hosts) && !slices.ContainsFunc(f.Hosts, func(h int) bool { return !slices.Contains(g.Hosts, h) })
}

// judge adds what a quantity says. Hosts come first, the one with most evidence, then those that it does not explain;
// then pairs of the others.
func (s *Screen) judge(j *Judgement, t test, enough float64) {
	without := map[int]bool{}
	for {
		s.group = s.racks(without)
		all := s.batches(t, without)
		hosts := s.hostsOf(t, all)
		var worst Found
		var open []Found
		for _, h := range slices.Sorted(maps.Keys(hosts)) {
			f := hosts[h].found([]int{h}, t.quantity)
			switch {
			case f.Evidence < suspect || !s.matters(f):
			case f.Evidence >= enough:
				if f.Evidence > worst.Evidence {
					worst = f
				}
			default:
				open = append(open, f)
			}
		}
		if worst.Hosts != nil {
			j.Slow = append(j.Slow, worst)
			without[worst.Hosts[0]] = true
			continue
		}
		j.Undecided = append(j.Undecided, open...)
		pairs := s.pairsOf(all, hosts)
		for _, p := range slices.SortedFunc(maps.Keys(pairs), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
			f := pairs[p].found(p[:], t.quantity)
			if f.Direction == Receiving { // of a pair, bytes to its first host
				f.Hosts, f.Direction = []int{p[1], p[0]}, Sending
			}
			switch {
			case f.Evidence < suspect || !s.matters(f):
			case f.Evidence >= enough:
				j.Slow = append(j.Slow, f)
			default:
				j.Undecided = append(j.Undecided, f)
			}
		}
		return
	}
}

// lossy are the shares of observations with loss that are held against the share of all others.
var lossy = []float64{0.1, 0.3, 0.6, 0.95}

// losses adds what observations with a loss say: a loss of one queue may be of many segments, so that observations are
// counted, and not segments.
func (s *Screen) losses(j *Judgement, enough float64) {
	var all, bad [2]float64 // by kind
	hosts, pairs := map[int][]Seen{}, map[[2]int][]Seen{}
	for _, round := range s.rounds {
		for _, o := range round {
			if o.Failed || o.Segments == 0 {
				continue
			}
			k := s.kind(o)
			if all[k]++; o.Again > 0 {
				bad[k]++
			}
			hosts[o.From], hosts[o.To] = append(hosts[o.From], o), append(hosts[o.To], o)
			pairs[o.pair()] = append(pairs[o.pair()], o)
		}
	}
	ratio := func(own []Seen) float64 {
		var n, lost [2]float64
		for _, o := range own {
			k := s.kind(o)
			if n[k]++; o.Again > 0 {
				lost[k]++
			}
		}
		sum := 0.
		for _, share := range lossy {
			log := 0.
			for k := range n {
				usual := min((bad[k]-lost[k]+0.5)/(all[k]-n[k]+1), 0.99) // of the others
				if p := max(share, usual); n[k] > 0 {
					log += lost[k]*math.Log(p/usual) + (n[k]-lost[k])*math.Log((1-p)/(1-usual))
				}
			}
			sum += math.Exp(min(log, 700))
		}
		return sum / float64(len(lossy))
	}
	report := func(subject []int, own []Seen, e float64) {
		f := Found{Hosts: subject, Quantity: Loss, Of: len(own), Evidence: e}
		var again, segments int64
		for _, o := range own {
			again, segments = again+o.Again, segments+o.Segments
			if o.Again > 0 {
				f.Bad++
			}
		}
		f.Ratio = float64(again) / float64(max(1, segments))
		f.CI = resample.ShareCI(float64(again), float64(max(1, segments)))
		if e >= enough {
			j.Slow = append(j.Slow, f)
		} else {
			j.Undecided = append(j.Undecided, f)
		}
	}
	guilty := map[int]bool{}
	for _, h := range slices.Sorted(maps.Keys(hosts)) {
		least, partners := math.Inf(1), map[int]bool{}
		for _, o := range hosts[h] {
			partners[o.From+o.To-h] = true
		}
		for p := range partners {
			least = math.Min(least, ratio(slices.DeleteFunc(slices.Clone(hosts[h]), func(o Seen) bool { return o.From+o.To-h == p })))
		}
		if len(partners) > 1 && least >= suspect {
			guilty[h] = least >= enough
			report([]int{h}, hosts[h], least)
		}
	}
	for _, p := range slices.SortedFunc(maps.Keys(pairs), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		if e := ratio(pairs[p]); e >= suspect && !guilty[p[0]] && !guilty[p[1]] {
			report(p[:], pairs[p], e)
		}
	}
}
