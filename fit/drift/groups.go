package drift

import (
	"math"
	"slices"
	"strings"

	"calib/fit/fault"
	"calib/internal/stats"
)

// Many is the size of a group, however many hosts it has.
const Many = 3

// Group is what passes between some hosts, such as those of a rack, and all others.
func Group(hosts []int, quantity, direction string) Subject {
	s := Subject{[2]int{None, None}, quantity, direction, ""}
	for _, h := range slices.Sorted(slices.Values(hosts)) {
		s.Group += string(rune(h))
	}
	return s
}

// In reports whether a host is in the group that s is.
func (s Subject) In(host int) bool { return host >= 0 && strings.ContainsRune(s.Group, rune(host)) }

// Members are the hosts that a subject names; of the network none.
func (s Subject) Members() (out []int) {
	if s.Group == "" {
		return s.Hosts[:s.Size()]
	}
	for _, h := range s.Group {
		out = append(out, int(h))
	}
	return out
}

// apart is by which share ways between groups are longer, at least by twice of it.
const apart = 0.02

// lowest is the quantile of what crosses groups that tells whether all of it is slower.
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
	for _, hosts := range found {
		groups = append(groups, Group(hosts, "", ""))
	}
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
			u.uplink[n] = w.of(Subject{[2]int{None, None}, s.Quantity, s.Direction, g})
		}
	}
}

// ends are the groups out of which, and into which, a pair goes, none where it crosses none, and the names of the
// groups of its hosts. Hosts of no group are taken for one of no name.
func (u *usual) ends(pair int32) (crossed [2]int32, names [2]string) {
	crossed = [2]int32{none, none}
	for k, h := range u.hosts[pair] {
		if int(h) < len(u.uplink) && u.uplink[h] != none {
			crossed[k], names[k] = u.uplink[h], u.subjects[u.uplink[h]].Group
		}
	}
	if names[0] == names[1] {
		crossed = [2]int32{none, none}
	}
	return crossed, names
}

// congested reports whether a pair crosses a group of which it is known that it is slow.
func (u *usual) congested(pair int32) bool {
	crossed, _ := u.ends(pair)
	return slices.ContainsFunc(crossed[:], func(g int32) bool { return g != none && u.slow[g] })
}

// crossings are the values of groups: of what crosses them, over what is within the groups at both ends, where hosts
// that are slow show. Whole is the network's value: that of ways within groups, and what all that crosses has in common.
// What the network and groups explain is taken out of over. All are its values of which nothing is known.
func (u *usual) crossings(over []reading, all []float64) (out []reading, whole float64) {
	var near, far []float64
	within, part := map[string][]float64{}, map[string]float64{}
	for _, r := range over {
		if _, names := u.ends(r.subject); names[0] == names[1] && !u.known(r.subject, none) {
			near, within[names[0]] = append(near, r.value), append(within[names[0]], r.value)
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
		over[i].value -= whole
		crossed, names := u.ends(r.subject)
		value := over[i].value - max(part[names[0]], part[names[1]])
		if names[0] != names[1] && !u.known(r.subject, none) {
			far = append(far, value)
		}
		for k, g := range crossed {
			if g == none {
				continue
			}
			u.part[g] = 0
			// Of an open group all that crosses counts: where all groups are open, nothing else would tell of its end.
			if !u.known(r.subject, none) || u.slow[g] && !u.explains(r.subject, none) {
				u.add(g, u.hosts[r.subject][k], value)
			}
		}
	}
	common := 0.
	if len(u.order) > 2 && len(far) > 0 && quantile(far, lowest) > 0 { // three groups or more
		common = stats.Median(far)
	}
	for _, g := range u.order {
		if u.first[g] == several { // of one host, nobody knows whether it is slow itself
			if u.part[g] = quantile(u.seen[g], low) - common; within[u.subjects[g].Group] != nil {
				out = append(out, reading{g, u.part[g]})
			}
		}
	}
	u.forget()
	for i, r := range over {
		if crossed, names := u.ends(r.subject); names[0] != names[1] && !u.known(r.subject, none) {
			most := 0.
			for _, g := range crossed {
				if g != none {
					most = max(most, u.part[g])
				}
			}
			over[i].value -= common + most
		}
	}
	return out, whole + common
}
