package hyperbolic

import (
	"maps"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
)

// limited is the share of the rate within a group below which streams between groups are held up by what they share.
const limited = 0.9

// addUplinks finds what streams that leave a group of hosts, such as a rack, share: the rate of all of them together,
// with as many as were measured at once, and how often the hosts of a group exceed it,
//
//	oversubscription = hosts of a group · rate of a stream within a group / rate of the uplink.
func (p *paired) addUplinks() {
	r, slow := p.fit, p.slow
	var t resample.Table[int] // by how many streams leave a group at once; 0 is one within
	most, hosts := 0, slow.LargestGroup()
	if hosts == 0 {
		return
	}
	for _, b := range p.windows {
		if connectionsOf(b) != 1 || b.Flagged(spoilt...) != "" {
			continue
		}
		rate, leaving := map[int]float64{}, map[int]int{} // by group
		for _, l := range b.Lines {
			from, to := slow.Group(l.Ranks[0]), slow.Group(l.Ranks[1])
			v := streamRate(l, float64(b.Point[names.FactorBytes]))
			switch {
			case from == 0 || to == 0:
			case from != to: // of slow hosts, too: they take of the uplink
				rate[from] += v
				leaving[from]++
			case !slow.Odd(l.Ranks[0]) && !slow.Odd(l.Ranks[1]):
				t.Add(t.Duration(0), b.Dir, b.Round, len(l.NS), v)
			}
		}
		for _, g := range slices.Sorted(maps.Keys(rate)) {
			t.Add(t.Duration(leaving[g]), b.Dir, b.Round, b.Timings(), rate[g])
			most = max(most, leaving[g])
		}
	}
	within, ok := t.Index[0]
	if most == 0 || !ok {
		return
	}
	est := fit.Draw(r, &t)
	all := t.Index[most]
	rate, rateCI := est.Of(func(v []float64) float64 { return v[all] })
	held, heldCI := est.Of(func(v []float64) float64 { return v[all] / float64(most) / v[within] })
	over, overCI := est.Of(func(v []float64) float64 { return float64(hosts) * v[within] / v[all] })
	const label = "rate of all streams together that leave a group of hosts"
	const of = "what the hosts of a group could send, over the rate of what leaves a group"
	const free = "the streams that were measured did not fill the uplink: more hosts would"
	if heldCI[1] < limited || most >= hosts && held < limited {
		r.Found("uplink_rate", "B/s", label, rate, rateCI)
	} else {
		r.Bound("uplink_rate", "B/s", label, rateCI[0], math.Inf(1), free)
	}
	if heldCI[1] < limited || most >= hosts {
		r.Found("oversubscription", "1", of, over, overCI)
	} else {
		r.Bound("oversubscription", "1", of, 0, overCI[1], free)
	}
}
