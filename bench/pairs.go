package bench

import (
	"fmt"
	"strconv"
	"strings"
)

// Pairs says which pairs of hosts a round measures that does not measure all. Where hosts are permuted, other hosts are
// the pairs in every round. The zero value is one matching: every host is in one pair.
type Pairs struct {
	Ring      bool // every host with the next, in two steps or three
	Matchings int  // so many disjoint matchings, where it is not 0
}

// maxMatchings bounds what a user may ask for; more than that is all pairs.
const maxMatchings = 1000

// ParsePairs reads ring, random:K or all; for all it returns true.
func ParsePairs(s string) (p Pairs, all bool, err error) {
	switch k, random := strings.CutPrefix(s, "random:"); {
	case s == "all":
		return p, true, nil
	case s == "ring":
		return Pairs{Ring: true}, false, nil
	case random:
		if n, err := strconv.Atoi(k); err == nil && n >= 1 && n <= maxMatchings {
			return Pairs{Matchings: n}, false, nil
		}
		return p, false, fmt.Errorf("pairs %q: want random:K with K from 1 to %d, the matchings of a round", s, maxMatchings)
	}
	return p, false, fmt.Errorf("pairs %q: want all, ring or random:K", s)
}

// String is what ParsePairs reads; empty for the zero value.
func (p Pairs) String() string {
	switch {
	case p.Ring:
		return "ring"
	case p.Matchings > 0:
		return fmt.Sprintf("random:%d", p.Matchings)
	}
	return ""
}

// Steps lists the pairs of places in disjoint steps.
func (p Pairs) Steps(hosts int) []Step {
	switch {
	case hosts < 2:
		return nil
	case p.Ring:
		return ring(hosts)
	case p.Matchings > 0:
		steps := Colouring(hosts)
		return steps[:min(p.Matchings, len(steps))]
	}
	return Neighbours(hosts)
}

// ring lists (0,1), (2,3), … in one step, (1,2), (3,4), … in the next, and what closes the ring of an odd number in a
// third.
func ring(hosts int) []Step {
	if hosts == 2 {
		return []Step{{{0, 1}}}
	}
	steps := make([]Step, 2, 3)
	for h := range hosts {
		next := (h + 1) % hosts
		if hosts%2 == 1 && h == hosts-1 {
			steps = append(steps, Step{{0, h}})
			break
		}
		steps[h%2] = append(steps[h%2], pairOf(h, next))
	}
	return steps
}
