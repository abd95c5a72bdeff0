package drift

import (
	"math"
	"slices"
	"strings"

	"calib/fit/fault"
	"calib/internal/lists"
	"calib/internal/stats"
)

// Many is the size of a group, however many hosts it has.
const Many = 3

// Group is what passes between some hosts, such as those of a rack, and all others.
func Group(hosts []int, quantity, direction string) Subject {
	s := Network(quantity)
	s.Direction = direction
	for _, h := range slices.Sorted(slices.Values(hosts)) {
		s.Group += string(rune(h))
	}
	return s
}

// In reports whether a host is in the group that s is.
func (s Subject) In(host int) bool { return host >= 0 && strings.ContainsRune(s.Group, rune(host)) }

// Members are the hosts that a subject names; of the network none.
func (s Subject) Members() []int {
	if s.Group == "" {
		return s.Hosts[:s.Size()]
	}
	return lists.Map([]rune(s.Group), func(h rune) int { return int(h) })
}

// apart is the margin of fault.Groups: a way between groups takes longer than one within by twice this share, or more.
const apart = 0.02

// lowest is a quantile: where even the fastest ways between groups are slower than usual, all of them are.
const lowest = 0.02

// findGroups finds the groups by the usual latencies. A group of a change stays as it was. Of two groups, the smaller
// one is enough: what crosses it crosses the other.
func (w *Watch) findGroups(u *usual) {
	hosts, way := 0, map[[2]int]float64{}
	for i, v := range u.ways {
		if s := w.subjects[i]; s.Size() == 2 && s.Quantity == fault.Latency && !math.IsNaN(v) {
			way[s.Hosts], hosts = v, max(hosts, s.Hosts[1]+1)
		}
	}
	found := fault.Groups(hosts, apart, way)
	slices.SortStableFunc(found, func(a, b []int) int { return len(a) - len(b) })
	if len(found) == 2 {
		found = found[:1]
	}
	var groups []Subject
	for _, c := range w.changes {
		if c.Size() == Many && (c.open() || c.Usual) {
			groups = append(groups, c.Subject)
		}
	}
	groups = append(groups, lists.Map(found, func(hosts []int) Subject { return Group(hosts, "", "") })...)
	of := map[int]string{}
	for _, g := range groups {
		if members := g.Members(); !slices.ContainsFunc(members, func(h int) bool { return of[h] != "" }) {
			for _, h := range members {
				of[h] = g.Group
			}
		}
	}
	if len(of) == 0 {
		return
	}
	for n, s := range w.subjects {
		u.uplink = append(u.uplink, none)
		if g := of[s.Hosts[0]]; s.Size() == 1 && g != "" {
			s.Hosts, s.Group = Network("").Hosts, g
			u.uplink[n] = w.of(s)
		}
	}
}

// way is what lies between the hosts of a pair.
type way struct {
	names   [2]string // of their groups; hosts of no group are taken for one of no name
	crossed [2]int32  // the groups that it leaves and enters; none where it has none, or stays within
	known   bool      // why it is slow
}

func (w way) within() bool { return w.names[0] == w.names[1] }

func (u *usual) way(pair int32) way {
	w := way{crossed: [2]int32{none, none}, known: u.explains(pair, none)}
	for k, h := range u.hosts[pair] {
		if int(h) < len(u.uplink) && u.uplink[h] != none {
			w.crossed[k], w.names[k] = u.uplink[h], u.subjects[u.uplink[h]].Group
		}
	}
	if w.within() {
		w.crossed = [2]int32{none, none}
	}
	return w
}

// congested reports whether it is known that a group that the way crosses is slow.
func (u *usual) congested(w way) bool {
	return slices.ContainsFunc(w.crossed[:], func(g int32) bool { return g != none && u.slow[g] })
}

// crossings are the values of groups: of what crosses them, over what is within the groups at both ends, where hosts
// that are slow show. Whole is the network's value by the ways within groups; common is by how much all other ways are
// slower than these. What groups and common explain is taken out of over. All are its values of which nothing is known.
func (u *usual) crossings(over []reading, all []float64) (out []reading, whole, common float64) {
	var near, far []float64
	within, part, ways := map[string][]float64{}, map[string]float64{}, make([]way, len(over))
	for i, r := range over {
		w := u.way(r.subject)
		if ways[i] = w; w.within() && !w.known {
			near, within[w.names[0]] = append(near, r.value), append(within[w.names[0]], r.value)
		}
	}
	if len(near) == 0 {
		near = all
	}
	whole = quantile(near, low)
	for name, values := range within {
		part[name] = max(0, quantile(values, low)-whole)
	}
	for i, r := range over {
		w, value := ways[i], r.value-whole
		value -= max(part[w.names[0]], part[w.names[1]])
		congested := u.congested(w)
		if !w.within() && !w.known && !congested {
			far = append(far, value)
		}
		for k, g := range w.crossed {
			if g == none {
				continue
			}
			u.part[g] = 0
			// Of an open group all that crosses counts: where all groups are open, nothing else would tell of its end.
			if !w.known && (u.slow[g] || !congested) {
				u.add(g, u.hosts[r.subject][k], value)
			}
		}
	}
	if len(u.order) > 2 && len(far) > 0 && quantile(far, lowest) > 0 { // three groups or more
		common = stats.Median(far)
	}
	for _, g := range u.order {
		if u.first[g] != several { // of one host, nobody knows whether it is slow itself
			continue
		}
		u.part[g] = quantile(u.seen[g], low) - common
		if within[u.subjects[g].Group] != nil {
			out = append(out, reading{g, u.part[g]})
		}
	}
	u.forget()
	for i, w := range ways {
		if w.within() || w.known || u.congested(w) {
			continue
		}
		most := 0.
		for _, g := range w.crossed {
			if g != none {
				most = max(most, u.part[g])
			}
		}
		over[i].value -= common + most
	}
	return out, whole, common
}
