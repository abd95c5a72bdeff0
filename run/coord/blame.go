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
func blame(all []tried) named {
	partners, successes := map[int]map[int]bool{}, map[int]int{}
	add := func(a, b int) {
		if partners[a] == nil {
			partners[a] = map[int]bool{}
		}
		partners[a][b] = true
	}
	hosts, reached, again := map[int]bool{}, 0, 0
	for _, t := range all {
		if t.ok {
			reached++
		}
		if t.again {
			again++
		}
		for i, h := range t.Link {
			if hosts[h] = true; t.ok {
				successes[h]++
			} else {
				add(h, t.Link[1-i])
			}
		}
	}
	if len(partners) > 0 && again > 0 && 2*again >= reached || len(successes) == 0 && len(partners) > len(Link{}) {
		return named{most: true}
	}
	var out named
	for {
		h := worst(partners, successes)
		if h < 0 {
			break
		}
		out.hosts = append(out.hosts, h)
		for other := range partners[h] {
			delete(partners[other], h)
		}
		delete(partners, h)
	}
	for a, others := range partners {
		for b := range others {
			if a < b {
				out.links = append(out.links, Link{a, b})
			}
		}
	}
	if n := len(out.hosts) + len(out.links); len(hosts) > len(Link{}) && 2*n >= len(hosts) {
		return named{most: true}
	}
	slices.Sort(out.hosts)
	slices.SortFunc(out.links, func(a, b Link) int { return slices.Compare(a[:], b[:]) })
	return out
}

// worst is the host that failed with most others, or -1 where none failed with enough of those that reach somebody.
func worst(partners map[int]map[int]bool, successes map[int]int) int {
	out, most := -1, 0
	for _, h := range slices.Sorted(maps.Keys(partners)) {
		n := 0
		for other := range partners[h] {
			if successes[other] > 0 {
				n++
			}
		}
		if n >= minPartners && (n > most || n == most && successes[h] < successes[out]) {
			out, most = h, n
		}
	}
	return out
}
