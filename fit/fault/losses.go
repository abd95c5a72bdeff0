package fault

import (
	"maps"
	"math"
	"slices"

	"calib/fit/resample"
)

// lossy are the shares of observations with loss that are held against the share of all others.
var lossy = []float64{0.03, 0.1, 0.3, 0.6, 0.95}

// losses adds what observations with a loss say: a loss of one queue may be of many segments, so that observations are
// counted, and not segments. What a slow uplink loses depends on who else sends over it, and says nothing of a pair.
func (s *Screen) losses(j *Judgement) {
	all, bad := map[bool]float64{}, map[bool]float64{} // within groups, and between
	hosts, pairs := map[int][]Seen{}, map[[2]int][]Seen{}
	suspects, suspectPairs := map[int]bool{}, map[[2]int]bool{} // with a loss: nothing is said of others
	for _, round := range s.rounds {
		for _, o := range round {
			if o.Failed || o.Segments == 0 || s.congested(o) {
				continue
			}
			k := s.between(o)
			if all[k]++; o.Again > 0 {
				bad[k]++
				suspects[o.From], suspects[o.To], suspectPairs[o.pair()] = true, true, true
			}
			hosts[o.From], hosts[o.To] = append(hosts[o.From], o), append(hosts[o.To], o)
			pairs[o.pair()] = append(pairs[o.pair()], o)
		}
	}
	ratio := func(own []Seen) float64 {
		n, lost := map[bool]float64{}, map[bool]float64{}
		for _, o := range own {
			k := s.between(o)
			if n[k]++; o.Again > 0 {
				lost[k]++
			}
		}
		sum := 0.
		for _, share := range lossy {
			log := 0.
			for _, k := range []bool{false, true} {
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
		f.Ratio, f.CI = resample.Share(again, segments)
		s.enter(j, f)
	}
	guilty := map[int]bool{}
	for _, h := range slices.Sorted(maps.Keys(suspects)) {
		least, partners := math.Inf(1), map[int]bool{}
		for _, o := range hosts[h] {
			partners[o.From+o.To-h] = true
		}
		for p := range partners {
			others := slices.DeleteFunc(slices.Clone(hosts[h]), func(o Seen) bool { return o.From+o.To-h == p })
			least = math.Min(least, ratio(others))
		}
		if len(partners) > 1 && least >= suspect {
			guilty[h] = s.proved(Found{Hosts: []int{h}, Evidence: least})
			report([]int{h}, hosts[h], least)
		}
	}
	for _, p := range Sorted(suspectPairs) {
		if e := ratio(pairs[p]); e >= suspect && !guilty[p[0]] && !guilty[p[1]] {
			report(p[:], pairs[p], e)
		}
	}
}
