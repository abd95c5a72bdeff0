package fault

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"calib/internal/lists"
)

const (
	// leastRounds are made in any case, and wholeHosts is up to how many hosts every pair is to be seen.
	leastRounds = 8 * batch
	wholeHosts  = 64
)

// Next returns the pairs of the next round, drawn by rng: those that were seen least. In every third round suspected
// pairs are seen again, and in the others their hosts are with other hosts. The first host of a pair is to send the
// long messages: the one that has sent fewer to the other, or else in fewer rounds. So a suspected pair, which is seen
// often, is seen in both directions alike: in one alone it would move the median of its sender.
func (s *Screen) Next(rng *rand.Rand) (out [][2]int) {
	busy, sent, to := map[int]bool{}, map[int]int{}, map[[2]int]int{}
	for _, o := range slices.Concat(s.rounds...) {
		sent[o.From]++
		to[[2]int{o.From, o.To}]++
	}
	add := func(a, b int) {
		if busy[a] || busy[b] {
			return
		}
		d := cmp.Or(cmp.Compare(to[[2]int{a, b}], to[[2]int{b, a}]), cmp.Compare(sent[a], sent[b]))
		if d > 0 || d == 0 && rng.IntN(2) == 0 {
			a, b = b, a
		}
		busy[a], busy[b] = true, true
		out = append(out, [2]int{a, b})
	}
	if len(s.rounds)%batch == batch-1 {
		for _, f := range s.recent().Undecided {
			if len(f.Hosts) == 2 && !f.Uplink && 4*len(out) < s.hosts {
				add(f.Hosts[0], f.Hosts[1])
			}
		}
	}
	for _, p := range s.candidates(rng) {
		add(p[0], p[1])
	}
	return out
}

// candidates are pairs in the order in which they are wanted: of few hosts all, those first that were seen least; of
// many, hosts by chance.
func (s *Screen) candidates(rng *rand.Rand) (out [][2]int) {
	if s.hosts > wholeHosts {
		for order := rng.Perm(s.hosts); len(order) > 1; order = order[2:] {
			out = append(out, [2]int{order[0], order[1]})
		}
		return out
	}
	for b := range s.hosts {
		for a := range b {
			out = append(out, [2]int{a, b})
		}
	}
	rng.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	slices.SortStableFunc(out, func(p, q [2]int) int { return cmp.Compare(s.seen[p], s.seen[q]) })
	return out
}

// Decided reports whether more rounds would not change what is known: every pair was seen, of many hosts enough of
// them, and nothing is suspected that was not proved.
func (s *Screen) Decided() bool {
	if len(s.rounds) < leastRounds {
		return false
	}
	j := s.recent()
	return (j.Pairs == j.Of || s.hosts > wholeHosts) && len(j.Doubtful()) == 0
}

// Done reports whether more rounds are not wanted: what is known would not change, and no host seems to come and go.
func (s *Screen) Done() bool { return s.Decided() && !s.last.hint }

// Doubtful are the suspects that stay undecided at the end.
func (j Judgement) Doubtful() []Found {
	return lists.Where(j.Undecided, func(f Found) bool { return f.Evidence >= undecided })
}
