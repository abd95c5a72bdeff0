package drift

import (
	"cmp"
	"math"
	"slices"
	"time"

	"calib/fit/fault"
	"calib/internal/stats"
)

// index numbers subjects: what is kept and computed of many looks is in slices by these numbers. The first are the
// network's, in the order of quantities.
type index struct {
	number   map[Subject]int32
	subjects []Subject
	hosts    [][2]int32 // by the number of a pair: those of its hosts
	// Scratch of values, by subject: what was seen of it, and the order in which subjects came; its own value; and the
	// first part of it of which something was seen, or several: of a host a pair, of a group a host.
	seen  [][]float64
	order []int32
	part  []float64
	first []int32
}

func (x *index) of(s Subject) int32 {
	n, ok := x.number[s]
	if !ok {
		n = int32(len(x.subjects))
		x.number[s], x.subjects, x.hosts = n, append(x.subjects, s), append(x.hosts, [2]int32{})
		x.seen, x.part, x.first = append(x.seen, nil), append(x.part, 0), append(x.first, none)
		if s.Size() == 2 {
			for k, h := range s.Hosts {
				x.hosts[n][k] = x.of(Host(h, s.Quantity, direction(s.Quantity, k)))
			}
		}
	}
	return n
}

// add puts a value of a part of a subject to its others.
func (x *index) add(subject, part int32, value float64) {
	if len(x.seen[subject]) == 0 {
		x.order = append(x.order, subject)
		x.first[subject] = part
	} else if x.first[subject] != part {
		x.first[subject] = several
	}
	x.seen[subject] = append(x.seen[subject], value)
}

// forget empties what add has put together.
func (x *index) forget() {
	for _, s := range x.order {
		x.seen[s] = x.seen[s][:0]
	}
	x.order = x.order[:0]
}

// No subject, and more than one.
const (
	none    = -1
	several = -2
)

// reading is a value of a subject.
type reading struct {
	subject int32
	value   float64
}

// visit is a Look, small: fortnights of them are kept.
type visit struct {
	at     time.Time
	obs    []obs
	common float64 // quantile of all pairs that stands for the network
}

type obs struct {
	from, to        int32
	segments, again int32
	loss            int32                    // subject
	pair            [len(quantities)]int32   // subjects; none is negative
	log             [len(quantities)]float32 // of what the pair takes
}

// quantities are those that pairs take time of.
var quantities = [...]string{fault.Latency, fault.Rate}

func (x *index) visit(l Look) visit {
	v := visit{at: l.At, obs: make([]obs, 0, len(l.Seen)), common: low}
	for _, s := range l.Seen {
		if s.Failed {
			continue
		}
		pairs := [...][2]int{fault.Pair(s.From, s.To), {s.From, s.To}}
		o := obs{from: int32(s.From), to: int32(s.To), segments: int32(s.Segments), again: int32(s.Again),
			loss: x.of(Subject{Hosts: pairs[0], Quantity: fault.Loss})}
		for q, takes := range [...]float64{s.Latency, s.PerByte} {
			o.pair[q] = -1
			if takes > 0 {
				o.pair[q] = x.of(Subject{Hosts: pairs[q], Quantity: quantities[q]})
				o.log[q] = float32(math.Log(takes))
			}
		}
		v.obs = append(v.obs, o)
	}
	hosts := map[int]bool{}
	for _, s := range l.Seen {
		hosts[s.From], hosts[s.To] = true, true
	}
	if len(hosts) >= 6 {
		v.common = 0.4 // not low: a host that became faster has up to a third of the pairs
	}
	return v
}

// usual is what is usual.
type usual struct {
	*index
	made time.Time
	ways []float64 // by pair: logarithm of what it takes; NaN is not known
	hour map[Subject]*[24]float64
	of   map[Subject]*sample
	slow map[int32]bool // groups, hosts and pairs of which it is known: they say nothing of others
	// uplink is by the number of a host that of its group, of the same quantity and direction. It is none for a host of
	// no group, and nil where there are no groups.
	uplink []int32
}

// known reports whether it is known why a pair is slow, by another subject than s.
func (u *usual) known(pair, s int32) bool {
	return u.explains(pair, s) || u.uplink != nil && u.congested(u.way(pair))
}

// explains reports whether the pair, or a host of it, that is not s, is known to be slow.
func (u *usual) explains(pair, s int32) bool {
	slow := func(c int32) bool { return c != s && u.slow[c] }
	return slow(pair) || slow(u.hosts[pair][0]) || slow(u.hosts[pair][1])
}

// due reports whether the usual is to be learnt, first or again.
func (w *Watch) due(now time.Time) bool {
	if w.usual == nil {
		return now.Sub(w.visits[0].at) >= w.Learn
	}
	since := now.Sub(w.usual.made)
	return since >= min(day, w.Learn) || since < 0
}

// learn says what was usual, until a day ago or a quarter of the time: what has just changed is not usual yet.
func (w *Watch) learn(now time.Time) *usual {
	u := &usual{index: w.index, made: now, hour: map[Subject]*[24]float64{}, of: map[Subject]*sample{}}
	span := now.Sub(w.visits[0].at)
	until := now.Add(-min(day, span/4))
	var past []visit
	ways := make([][]float64, len(w.subjects))
	for _, v := range w.visits {
		if !v.at.Before(until) || now.Sub(v.at) > fortnight {
			continue
		}
		if unusual := func(o obs) bool { return w.unusual(v.at, o) }; slices.ContainsFunc(v.obs, unusual) {
			v.obs = slices.DeleteFunc(slices.Clone(v.obs), unusual)
		}
		past = append(past, v)
		for _, o := range v.obs {
			for q, pair := range o.pair {
				if pair >= 0 {
					ways[pair] = append(ways[pair], float64(o.log[q]))
				}
			}
		}
	}
	for _, all := range ways {
		usual := math.NaN()
		if len(all) >= least/4 {
			usual = stats.Median(all)
		}
		u.ways = append(u.ways, usual)
	}
	w.findGroups(u)
	seen := make([][]float64, len(w.subjects))
	at := map[Subject][]time.Time{} // of the network's
	for _, v := range past {
		for _, r := range u.values(v) {
			seen[r.subject] = append(seen[r.subject], r.value)
			if s := w.subjects[r.subject]; s.Size() == 0 {
				at[s] = append(at[s], v.at)
			}
		}
	}
	wander := map[Subject]*[24]float64{}
	for i, all := range seen {
		s, margin := w.subjects[i], w.Margin
		if s.Quantity == fault.Loss {
			margin = lossMargin
		} else if s.Size() == 0 && span >= 2*day+day/2 {
			u.hour[s], wander[s] = hours(at[s], all)
			for k, t := range at[s] {
				all[k] -= u.hour[s][t.UTC().Hour()]
			}
		}
		// A network has days: some are seen before one is judged.
		if len(all) >= least && (s.Size() > 0 || span >= min(3*w.Learn, fortnight)) {
			u.of[s] = newSample(all, margin)
			u.of[s].wander = wander[s]
		}
	}
	return u
}

// hours are the medians of the values by the hour of the day, 0 where there are few, and by how much days differ then.
func hours(at []time.Time, values []float64) (usual, wander *[24]float64) {
	var by [24][]float64
	for i, t := range at {
		h := t.UTC().Hour()
		by[h] = append(by[h], values[i])
	}
	usual, wander = new([24]float64), new([24]float64)
	for h := range by {
		if len(by[h]) >= 4 {
			usual[h], wander[h] = stats.Median(by[h]), days*stats.MAD(by[h])
		}
	}
	return usual, wander
}

// unusual reports whether an observation was of something that had changed, or has become usual only since.
func (w *Watch) unusual(at time.Time, o obs) bool {
	return slices.ContainsFunc(w.changes, func(c Change) bool {
		if !c.covers(int(o.from), int(o.to)) || c.Quantity == fault.Reach {
			return false
		}
		if c.Usual {
			return at.Before(c.Since)
		}
		return !at.Before(c.Since) && (c.open() || at.Before(c.Over))
	})
}

// low is the quantile of its pairs that stands for a host, and for a network of few hosts: some of the pairs may be
// slow themselves.
const low = 0.25

// values are what a look says of all subjects, beside what is usual for pairs.
func (u *usual) values(v visit) []reading {
	out := u.losses(v.obs)
	for q, quantity := range quantities {
		var over []reading
		var all []float64
		for _, o := range v.obs {
			if pair := o.pair[q]; pair >= 0 && int(pair) < len(u.ways) && !math.IsNaN(u.ways[pair]) {
				r := reading{pair, float64(o.log[q]) - u.ways[pair]}
				if over = append(over, r); !u.known(pair, none) {
					all = append(all, r.value)
				}
			}
		}
		if len(all) == 0 {
			continue
		}
		slices.Sort(all)
		whole, common := all[int(v.common*float64(len(all)-1))], 0. // of three pairs, the one without a slow host
		if u.uplink != nil {
			var groups []reading
			groups, whole, common = u.crossings(over, all)
			out = append(out, groups...)
		}
		for i := range over {
			over[i].value -= whole
			for _, h := range u.hosts[over[i].subject] {
				if u.part[h] = 0; !u.known(over[i].subject, h) {
					u.add(h, over[i].subject, over[i].value)
				}
			}
		}
		whole += common
		if by := u.hour[Network(quantity)]; by != nil {
			whole -= by[v.at.UTC().Hour()]
		}
		out = append(out, reading{int32(q), whole})
		for _, h := range u.order {
			if own := u.seen[h]; u.first[h] == several { // of one pair, nobody knows whose fault it is
				u.part[h] = quantile(own, low)
				out = append(out, reading{h, u.part[h]})
			}
		}
		u.forget()
		for _, r := range over {
			if hosts := u.hosts[r.subject]; !u.known(r.subject, r.subject) {
				u.add(r.subject, r.subject, r.value-max(0, u.part[hosts[0]], u.part[hosts[1]]))
			}
		}
		for _, s := range u.order {
			out = append(out, reading{s, quantile(u.seen[s], 0.5)})
		}
		u.forget()
	}
	return out
}

// direction is that of the first or second host of a rate.
func direction(quantity string, k int) string {
	switch {
	case quantity != fault.Rate:
		return ""
	case k == 0:
		return fault.Sending
	}
	return fault.Receiving
}

// quantile sorts what it is given.
func quantile(all []float64, q float64) float64 {
	slices.Sort(all)
	return stats.SortedQuantile(all, q)
}

// losses are the shares of segments that were sent again, without what is known to lose: of the network without the
// host that lost most, of a host without the partner with which it lost most, and of pairs, beside that of the network.
func (u *usual) losses(obs []obs) (out []reading) {
	type count struct{ again, segments float64 }
	var order, hosts []int32
	sums, without := map[int32]count{}, map[int32]count{} // by pair and host; by host, one partner
	rest := map[int32]count{}                             // of what is not known to lose: by host, and of the network
	add := func(to map[int32]count, s int32, c count) (first bool) {
		t, ok := to[s]
		to[s] = count{t.again + c.again, t.segments + c.segments}
		return !ok
	}
	network := u.number[Network(fault.Loss)]
	for _, o := range obs {
		c, known := count{float64(o.again), float64(o.segments)}, u.explains(o.loss, none)
		if add(sums, o.loss, c) {
			order = append(order, o.loss)
		}
		for _, h := range u.hosts[o.loss] {
			if !u.explains(o.loss, h) && add(sums, h, c) {
				hosts = append(hosts, h)
			}
			if !known {
				add(rest, h, c)
			}
		}
		if !known {
			add(rest, network, c)
		}
	}
	slices.SortFunc(hosts, func(a, b int32) int { return cmp.Compare(u.subjects[a].Hosts[0], u.subjects[b].Hosts[0]) })
	all, most, whole := rest[network], count{}, 0.
	for _, h := range hosts {
		if c := rest[h]; c.again > most.again && c.segments < all.segments {
			most = c
		}
	}
	if all.segments > 0 {
		whole = (all.again - most.again) / (all.segments - most.segments)
		out = append(out, reading{network, whole})
	}
	for _, p := range order {
		c := sums[p]
		if c.segments > 0 && !u.explains(p, p) {
			out = append(out, reading{p, c.again/c.segments - whole})
		}
		for _, h := range u.hosts[p] {
			if w, ok := without[h]; !u.explains(p, h) && (!ok || c.again > w.again) {
				without[h] = c
			}
		}
	}
	for _, h := range hosts {
		if n := sums[h].segments - without[h].segments; n > 0 {
			out = append(out, reading{h, (sums[h].again-without[h].again)/n - whole})
		}
	}
	return out
}
