package fault

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"calib/fit/resample"
)

const (
	// lossSeen is the share of lost segments that is in doubt until it is excluded with a probability of lossSure.
	lossSeen, lossSure = 1e-4, 0.99
	// lossSegments is of how many segments one is lost at that share, with a probability of 0.99. A loss of fewer is no
	// hint unless there is another: on slow paths every healthy network has one now and then.
	lossSegments = 45_000
	// lossSteps is the number of shares of the losses that a subject is taken to add to those of chance.
	lossSteps = 10
)

// tally counts observations, those with a loss, and segments: within groups, between, and in all.
type tally [3]struct{ n, lost, segments, again float64 }

func (t *tally) add(o tally, sign float64) {
	for k := range t {
		t[k].n, t[k].lost = t[k].n+sign*o[k].n, t[k].lost+sign*o[k].lost
		t[k].segments, t[k].again = t[k].segments+sign*o[k].segments, t[k].again+sign*o[k].again
	}
}

func (t tally) without(o tally) tally {
	t.add(o, -1)
	return t
}

// evidence is that a subject has more of the losses than its share of the observations: an e-value. It is the same
// however many are lost in all, which nobody knows. Half of its weight is on all losses, half on any share of them.
func (t tally) evidence(all tally) (mean float64) {
	if t[2].lost == 0 {
		return 0
	}
	ratio := func(added float64) float64 {
		log := 0.
		for k, own := range t[:2] {
			if own.n > 0 {
				log += own.lost*math.Log(1-added+added*all[k].n/own.n) + (all[k].lost-own.lost)*math.Log(1-added)
			}
		}
		return math.Exp(min(log, 700))
	}
	for i := range lossSteps {
		mean += ratio((float64(i)+0.5)/lossSteps) / (2 * lossSteps)
	}
	return mean + ratio(1-1e-9)/2 // with 1, one loss of others would be a logarithm of 0
}

// losses adds what observations with a loss say: a loss of one queue may be of many segments, so that observations are
// counted, and not segments. What a slow uplink loses depends on who else sends over it, and is left out.
func (s *Screen) losses(j *Judgement) {
	var all tally
	hosts, pairs, pairsOf := make([]tally, s.hosts), map[[2]int]*tally{}, make([][][2]int, s.hosts)
	for _, o := range slices.Concat(s.rounds...) {
		if o.Failed || o.Segments == 0 || s.congested(o) {
			continue
		}
		var one tally
		one[2].n, one[2].segments, one[2].again = 1, float64(o.Segments), float64(o.Again)
		one[2].lost = min(1, one[2].again)
		if s.between(o) {
			one[1] = one[2]
		} else {
			one[0] = one[2]
		}
		p := o.pair()
		if pairs[p] == nil {
			pairs[p], pairsOf[o.From], pairsOf[o.To] = &tally{}, append(pairsOf[o.From], p), append(pairsOf[o.To], p)
		}
		for _, t := range []*tally{&all, &hosts[o.From], &hosts[o.To], pairs[p]} {
			t.add(one, 1)
		}
	}
	// A subject with all losses is in doubt while its first host may lose as much as is to be seen, and could show it.
	report := func(subject []int, t tally, e float64) float64 {
		h := hosts[subject[0]][2]
		may := distuv.Poisson{Lambda: lossSeen * h.segments}.CDF(h.again) > 1-lossSure
		shows := h.lost > 1 || h.segments >= lossSegments
		if e > 0 && t[2].lost == all[2].lost && t[2].n < all[2].n && may && shows {
			e = max(e, undecided)
		}
		f := Found{Hosts: subject, Quantity: Loss, Bad: int(t[2].lost), Of: int(t[2].n), Evidence: e}
		f.Ratio, f.CI = resample.Share(int64(t[2].again), int64(t[2].segments))
		s.enter(j, f)
		return e
	}
	// If a pair is at fault, the losses of its hosts without it are by chance. If a host is, so are those of a pair among
	// its own. Two hosts, or as many pairs as a host has, are fewer subjects than all: less evidence suffices.
	fewer, found := float64(s.hosts*(len(tests)+1))/2, make([]float64, s.hosts)
	for h, t := range hosts {
		if t[2].lost == 0 { // nothing is said of it
			continue
		}
		least := math.Inf(1)
		for _, p := range pairsOf[h] {
			least = min(least, t.without(*pairs[p]).evidence(all.without(*pairs[p])))
		}
		found[h] = report([]int{h}, t, min(t.evidence(all), fewer*least))
	}
	for _, p := range Sorted(pairs) {
		t, a, b := pairs[p], p[0], p[1]
		if t[2].lost == 0 {
			continue
		}
		e := min(t.evidence(all), fewer*min(t.evidence(hosts[a]), t.evidence(hosts[b])))
		if e > max(found[a], found[b]) {
			report(p[:], *t, e)
		}
	}
}
