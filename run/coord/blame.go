package coord

import (
	"maps"
	"slices"
)

// Link is two hosts, the lower index first.
type Link [2]int

func linkOf(a, b int) Link { return Link{min(a, b), max(a, b)} }

// tried is what became of an exchange between two hosts.
type tried struct {
	Link
	ok    bool
	again bool // it was, and only because much was sent again
}

// named are the hosts and links that failures have in common. Most says that they are too many to name: the network
// between the hosts is at fault, not some of them.
type named struct {
	hosts []int
	links []Link
	most  bool
}

func (n *named) none() bool { return len(n.hosts) == 0 && len(n.links) == 0 && !n.most }

// minPartners is with how many others an exchange must have failed until a host is named rather than a link.
const minPartners = 2

// blame finds what failed exchanges have in common: first the host that failed with most others, two at least that
// reach somebody, then the next among the failures that this host does not explain. Of hosts that failed with equally
// many, the one with fewer successes counts. What is left are links. Where nobody reaches anybody, where half of those
// who do have to send much again, or where half as many as there are hosts or more would be named, nothing is: packets
// are lost everywhere, or which of two halves is at fault cannot be told.
func blame(all []tried) (out named) {
	failed, hosts, successes := map[Link]bool{}, map[int]bool{}, map[int]int{}
	reached, again := 0, 0
	for _, t := range all {
		if t.again {
			again++
		}
		if t.ok {
			reached++
		} else {
			failed[t.Link] = true
		}
		for _, h := range t.Link {
			if hosts[h] = true; t.ok {
				successes[h]++
			}
		}
	}
	if len(failed) > 0 && again > 0 && 2*again >= reached || reached == 0 && len(hosts) > len(Link{}) {
		return named{most: true}
	}
	for h := worst(failed, successes); h >= 0; h = worst(failed, successes) {
		out.hosts = append(out.hosts, h)
		maps.DeleteFunc(failed, func(l Link, _ bool) bool { return slices.Contains(l[:], h) })
	}
	out.links = slices.SortedFunc(maps.Keys(failed), func(a, b Link) int { return slices.Compare(a[:], b[:]) })
	if n := len(out.hosts) + len(out.links); len(hosts) > len(Link{}) && 2*n >= len(hosts) {
		return named{most: true}
	}
	slices.Sort(out.hosts)
	return out
}

// worst is the host that failed with most others, or -1 where none failed with enough of those that reach somebody.
func worst(failed map[Link]bool, successes map[int]int) int {
	with := map[int]int{}
	for l := range failed {
		for i, h := range l {
			if successes[l[1-i]] > 0 {
				with[h]++
			}
		}
	}
	out := -1
	for _, h := range slices.Sorted(maps.Keys(with)) {
		if with[h] >= minPartners && (with[h] > with[out] || with[h] == with[out] && successes[h] < successes[out]) {
			out = h
		}
	}
	return out
}
