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
	"fmt"
	"maps"
	"math"
	"slices"

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

// Numbers are those of the part that each host is in, from 1; 0 is none.
func Numbers(parts [][]int) map[int]int {
	out := map[int]int{}
	for i, part := range parts {
		for _, h := range part {
			out[h] = i + 1
		}
	}
	return out
}

// Pair is two hosts, the lower one first.
func Pair(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }

// Disjoint divides pairs of hosts among rounds. In a round a host is in one pair at most. Each pair comes as early as
// it can.
func Disjoint[T any](all []T, pair func(T) [2]int) (rounds [][]T) {
	for len(all) > 0 {
		busy := map[int]bool{}
		var now, later []T
		for _, x := range all {
			p := pair(x)
			if busy[p[0]] || busy[p[1]] {
				later = append(later, x)
				continue
			}
			busy[p[0]], busy[p[1]] = true, true
			now = append(now, x)
		}
		rounds, all = append(rounds, now), later
	}
	return rounds
}

func (s Seen) pair() [2]int { return Pair(s.From, s.To) }

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

// Found is a host, a pair or the uplink of a group that is slow, or may be.
type Found struct {
	Hosts    []int  // one, the two of a pair, or those of a group
	Uplink   bool   // the way from a group, which the hosts are, to all others
	Quantity string // by which it stands out most
	// Ratio is how many times the median it takes, CI its 95% interval: that of all pairs, of a host or an uplink that of
	// all others. Of Loss it is the share of segments that were sent again.
	Ratio     float64
	CI        [2]float64
	Bad, Of   int     // batches of rounds in which it stood out, of those in which it was seen; of Loss, looks
	odd       float64 // the ratio in those batches
	Direction string  // of the bytes, where only one is slow; "" otherwise
	Evidence  float64
}

// Comes reports whether what was found comes and goes: it was there in less than half of the batches.
func (f Found) Comes() bool { return 2*f.Bad < f.Of }

// Why says in a few words what is wrong with a host or a pair; hosts are the names of all.
func (f Found) Why(hosts []string) string {
	way := ""
	switch {
	case f.Direction == "":
	case len(f.Hosts) == 2 && !f.Uplink:
		way = ", from " + hosts[f.Hosts[0]] + " to " + hosts[f.Hosts[1]] + " only"
	default:
		way = ", in " + f.Direction + " only"
	}
	often := fmt.Sprintf("in %d of %d looks", f.Bad, f.Of)
	if f.Comes() && f.Quantity != Loss { // losses are always in some looks only
		often = "comes and goes: " + often
	}
	switch f.Quantity {
	case Reach:
		return "nothing comes through, " + often
	case Loss:
		return fmt.Sprintf("%.2g%% of its segments are sent again, %s", 100*f.Ratio, often)
	case Rate:
		return fmt.Sprintf("a byte takes %.2f times as long as usual%s, %s", f.Ratio, way, often)
	}
	return fmt.Sprintf("a message takes %.2f times as long as usual, %s", f.Ratio, often)
}

// against makes Ratio and CI of a host or an uplink relative to the pairs of the others: among few, it is in many pairs
// itself. It also sets the direction.
func (f *Found) against(all [][]reading) {
	var others, sending, receiving []float64
	for _, r := range slices.Concat(all...) {
		switch {
		case r.Failed:
		case slices.Contains(f.Hosts, r.From):
			sending = append(sending, r.over)
		case slices.Contains(f.Hosts, r.To):
			receiving = append(receiving, r.over)
		default:
			others = append(others, r.over)
		}
	}
	if len(others) == 0 {
		return
	}
	log := stats.Median(others)
	usual := math.Exp(log)
	f.Ratio, f.CI = f.Ratio/usual, [2]float64{f.CI[0] / usual, f.CI[1] / usual}
	if f.Quantity == Rate && !f.Comes() { // the medians of what comes and goes are those of the others
		f.Direction = oneWay(stats.Median(sending)-log, stats.Median(receiving)-log)
	}
}

// Judgement is what the rounds so far say.
type Judgement struct {
	Slow      []Found // hosts, then pairs, then uplinks; most evidence first
	Undecided []Found // suspects that were neither proved nor cleared
	Rounds    int
	Pairs     int // of hosts that were seen
	Of        int // that there are
	// Groups are hosts with shorter ways within than between, such as racks; none where the hosts are one group. Apart
	// is the latency between groups over that within.
	Groups   [][]int
	Apart    float64
	Machines bool   // each of the groups is on one machine
	Unsure   string // why it is open whether the hosts are in groups; "" where it is not
	// Kinds are hosts that are alike, the largest kind first; none where the hosts are of one. No host of a kind is slow
	// for being of it.
	Kinds [][]int
	hint  bool
}

const (
	// batch is how many rounds are taken together: enough for a median of a host's pairs.
	batch = 3
	// stands is the z from which a subject stands out in a batch.
	stands = 2
	// suspect is the evidence from which a subject is suspected, undecided that from which it stays so at the end.
	suspect, undecided = 2, 20
	// hint is the evidence about a host that comes and goes, some of which may be one partner's, from which more rounds
	// are wanted.
	hint = 5
)

// FalseAlarms is the false discovery rate: of the hosts and pairs that are called slow, this share is not.
const FalseAlarms = 0.01

// Screen gathers rounds.
type Screen struct {
	// Machine identifies that of each host, "" where nobody knows. Pairs of one machine are compared with each other.
	Machine []string

	hosts  int
	margin float64 // by how much slower does not matter
	rounds [][]Seen
	took   []float64      // of each round [s]
	group  []int          // of each host, as racks finds them; nil where there are none
	pod    map[int]int    // of each host, where some groups are nearer to each other; as Numbers
	behind map[int]int    // number of the uplink, slow or suspected, that a host is behind; 0 is none
	kindOf map[int]int    // as Numbers
	seen   map[[2]int]int // observations of each pair
	judged int            // batches
	last   Judgement      // of them
}

// New is a screen of hosts that are not slow if they take less than 1 + margin times as long as the others.
func New(hosts int, margin float64) *Screen {
	return &Screen{hosts: hosts, margin: margin, seen: map[[2]int]int{}}
}

// Add adds a round, which took that long [s].
func (s *Screen) Add(round []Seen, took float64) {
	s.rounds, s.took = append(s.rounds, round), append(s.took, took)
	for _, o := range round {
		s.seen[o.pair()]++
	}
}

// matters reports whether what was found is more than the margin, now and then at least.
func (s *Screen) matters(f Found) bool {
	return f.Ratio >= 1+s.margin || f.Bad >= 3 && f.Comes() && f.odd >= 1+s.margin
}

// Judge judges all hosts, pairs and uplinks by the batches so far.
func (s *Screen) Judge() Judgement {
	if whole := len(s.rounds) / batch; s.judged != whole || whole == 0 {
		s.judged, s.last = whole, s.all()
	}
	s.last.Rounds, s.last.Pairs, s.last.Of = len(s.rounds), len(s.seen), s.hosts*(s.hosts-1)/2
	return s.last
}

// recent is Judge, but of many hosts, where that takes long, it may lack the newest sixth of the rounds.
func (s *Screen) recent() Judgement {
	if s.hosts > wholeHosts && 5*(len(s.rounds)/batch) < 6*s.judged {
		return s.last
	}
	return s.Judge()
}

func (s *Screen) all() Judgement {
	var j Judgement
	s.behind = map[int]int{}
	s.group = s.racks(nil)
	s.pod = s.pods()
	j.Kinds = s.kinds()
	s.kindOf = Numbers(j.Kinds)
	whole := s.group
	for _, t := range tests[:3] {
		s.uplinks(&j, t)
	}
	for _, t := range tests {
		s.group = whole
		s.judge(&j, t)
	}
	s.group = s.racks(slowHosts(j.Slow))
	j.Groups, j.Apart = s.groups()
	j.Unsure = s.unsure()
	j.Machines = j.Groups != nil && !slices.ContainsFunc(j.Groups, func(g []int) bool { return !s.oneMachine(g...) })
	s.losses(&j)
	byEvidence := func(a, b Found) int {
		return cmp.Or(cmp.Compare(len(a.Hosts), len(b.Hosts)), cmp.Compare(b.Evidence, a.Evidence),
			slices.Compare(a.Hosts, b.Hosts))
	}
	slices.SortStableFunc(j.Slow, byEvidence)
	slices.SortStableFunc(j.Undecided, byEvidence)
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

// within reports whether g is of the same subject as f, or of a host of the pair.
func (f Found) within(g Found) bool {
	return f.same(g) || len(g.Hosts) == 1 && slices.Contains(f.Hosts, g.Hosts[0]) && !f.Uplink
}

func (f Found) same(g Found) bool {
	other := func(h int) bool { return !slices.Contains(g.Hosts, h) }
	return len(f.Hosts) == len(g.Hosts) && f.Uplink == g.Uplink && !slices.ContainsFunc(f.Hosts, other)
}

// proved reports whether the evidence suffices. Half of the false discoveries may be hosts and uplinks, half pairs.
func (s *Screen) proved(f Found) bool {
	subjects := len(s.seen)
	if len(f.Hosts) != 2 || f.Uplink {
		subjects = s.hosts
	}
	return f.Evidence >= 2*float64(subjects*(len(tests)+1))/FalseAlarms
}

// enter adds a finding to the slow or to the undecided, unless there is too little evidence for either.
func (s *Screen) enter(j *Judgement, f Found) {
	switch {
	case s.proved(f):
		j.Slow = append(j.Slow, f)
	case f.Evidence >= suspect:
		j.Undecided = append(j.Undecided, f)
	}
}

// Sorted are the pairs of a map, in an order that does not change.
func Sorted[V any](of map[[2]int]V) [][2]int {
	return slices.SortedFunc(maps.Keys(of), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
}

// slowHosts are the hosts of what was found, without pairs and uplinks.
func slowHosts(found []Found) map[int]bool {
	out := map[int]bool{}
	for _, f := range found {
		if len(f.Hosts) == 1 {
			out[f.Hosts[0]] = true
		}
	}
	return out
}

// unexplained compares what neither slow uplinks nor slow pairs explain. Pairs stay through which nothing comes: no
// uplink explains them.
func (s *Screen) unexplained(t test, without map[int]bool, slow []Found) [][]reading {
	all := s.logs(t, without)
	for i := range all {
		all[i] = slices.DeleteFunc(all[i], func(r reading) bool {
			return s.congested(r.Seen) && !r.Failed ||
				slices.ContainsFunc(slow, Found{Hosts: []int{r.From, r.To}}.same)
		})
	}
	return s.compared(all)
}

// judge adds what a quantity says. Hosts come first, the one with most evidence, then those that it does not explain;
// then pairs of the others. What comes and goes is asked of hosts only.
func (s *Screen) judge(j *Judgement, t test) {
	without, slow := map[int]bool{}, []Found(nil)
	if t.rounds == 0 { // what is always slow is known by now
		without, slow = slowHosts(j.Slow), j.Slow
	}
	for {
		all := s.unexplained(t, without, slow)
		hosts := s.hostsOf(t, all)
		var worst Found
		var open []Found
		for _, h := range slices.Sorted(maps.Keys(hosts)) {
			f := hosts[h].found([]int{h}, t.quantity)
			if f.Evidence < suspect {
				continue
			}
			f.against(all)
			if t.rounds == 0 { // a batch may be of one pair: which of its hosts is slow is open
				j.hint = j.hint || f.Evidence >= hint && s.matters(f)
				f.Evidence = hosts[h].withoutAny(h)
			}
			switch {
			case f.Evidence < suspect || !s.matters(f):
			case !s.proved(f):
				open = append(open, f)
			case f.Evidence > worst.Evidence:
				worst = f
			}
		}
		if worst.Hosts != nil {
			j.Slow = append(j.Slow, worst)
			without[worst.Hosts[0]] = true
			s.group = s.racks(without)
			continue
		}
		j.Undecided = append(j.Undecided, open...)
		if t.rounds == 0 {
			return
		}
		pairs := s.pairsOf(t, all, hosts)
		for _, p := range Sorted(pairs) {
			f := pairs[p].found(p[:], t.quantity)
			if f.Direction == Receiving { // of a pair, bytes to its first host
				f.Hosts, f.Direction = []int{p[1], p[0]}, Sending
			}
			if s.matters(f) {
				s.enter(j, f)
			}
		}
		return
	}
}
