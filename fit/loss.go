package fit

import (
	"slices"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/params"
	"calib/internal/stats"
)

// undisturbed are the experiments whose messages share the way with no others of the team: what they lose, the network
// loses.
var undisturbed = []string{names.Pingpong, names.PRTT, names.Wakeup, names.Overhead}

// notedLoss is the rate of loss from which it is a warning: from there on, retransmissions are no rare accident of a
// batch.
const notedLoss = 1e-3

// addLoss records the share of segments that was sent again, of all pairs of hosts together and of each.
func (p *Prepared) addLoss(out *params.Params) {
	all := params.Loss{}
	pairs := map[[2]int]params.Loss{}
	var order [][2]int
	for _, exp := range undisturbed {
		for _, s := range p.Samples(exp, "") {
			if s.TCP == nil || len(s.Ranks) != 2 || s.TCP.DataSegsOut <= 0 {
				continue
			}
			pair := [2]int{min(s.Ranks[0], s.Ranks[1]), max(s.Ranks[0], s.Ranks[1])}
			if _, ok := pairs[pair]; !ok {
				order = append(order, pair)
			}
			pairs[pair] = lossWith(pairs[pair], s.TCP)
			all = lossWith(all, s.TCP)
		}
	}
	if all.Segments == 0 {
		return
	}
	out.Loss = finished(all)
	slices.SortFunc(order, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	at := map[[2]string]int{} // of the pairs that models have entered
	for i, q := range out.Pairs {
		at[[2]string{q.From, q.To}], at[[2]string{q.To, q.From}] = i, i
	}
	for _, pair := range order {
		a, b := p.HostName(pair[0]), p.HostName(pair[1])
		i, ok := at[[2]string{a, b}]
		if !ok {
			i = len(out.Pairs)
			out.Pairs = append(out.Pairs, params.Pair{From: a, To: b})
		}
		out.Pairs[i].Loss = finished(pairs[pair])
	}
	if all.Again == 0 {
		return
	}
	say := params.Notef
	if out.Loss.CI95[0] > notedLoss {
		say = params.Warnf
	}
	out.Findings = append(out.Findings, say(params.LostSegments, "%.2g%% [%.2g, %.2g] of the segments were sent again: %d of %d, in exchanges that nothing else disturbed",
		100*out.Loss.Rate, 100*out.Loss.CI95[0], 100*out.Loss.CI95[1], all.Again, all.Segments).With("rate", out.Loss.Rate))
}

func lossWith(l params.Loss, t *dataset.TCP) params.Loss {
	again := max(0, t.Retrans)
	l.Again += again
	l.Segments += max(t.DataSegsOut+t.DataSegsIn, again) // of both ranks, as Retrans is
	return l
}

// finished adds rate and interval.
func finished(l params.Loss) *params.Loss {
	l.Rate = float64(l.Again) / float64(l.Segments)
	ci := stats.ShareCI(float64(l.Again), float64(l.Segments))
	l.CI95 = [2]float64{ci.Lo, ci.Hi}
	return &l
}
