package bench

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"calib/internal/lists"
)

// Colouring lists every pair of p hosts once, in steps of disjoint pairs: p−1 steps of p/2 pairs for even p, p steps of
// (p−1)/2 for odd p, which is the least possible. It is the circle method of round-robin tournaments: one host keeps
// its place, the others move round it by one place a step, and hosts that face each other meet. Pairs are {low, high}.
func Colouring(p int) []Step {
	if p < 2 {
		return nil
	}
	steps := make([]Step, Colours(p))
	for s := range steps {
		steps[s] = Colour(p, s)
	}
	return steps
}

// Colours is how many steps Colouring has: the number of hosts that move. Of an odd number one rests.
func Colours(p int) int { return p - 1 + p%2 }

func Colour(p, s int) Step {
	var step Step
	around := Colours(p)
	if p%2 == 0 {
		step = append(step, pairOf(s, p-1))
	}
	for i := 1; 2*i < around; i++ {
		step = append(step, pairOf((s+i)%around, (s-i+around)%around))
	}
	return step
}

func pairOf(a, b int) []int { return []int{min(a, b), max(a, b)} }

// Neighbours lists the pairs (0,1), (2,3), …, one a step, so that every host is measured once and no pair disturbs
// another. The last of an odd number of hosts is paired with host 0.
func Neighbours(p int) []Step {
	if p < 2 {
		return nil
	}
	var steps []Step
	for i := 0; i < p; i += 2 {
		steps = append(steps, Step{pairOf(i, (i+1)%p)})
	}
	return steps
}

// FirstHosts is one team of hosts 0..n−1, alone on the network.
func FirstHosts(n int) []Step { return []Step{{lists.Upto(n)}} }

// EachAlone is every host in a team by itself, all in one step.
func EachAlone(hosts int) []Step {
	return []Step{slices.Collect(slices.Chunk(lists.Upto(hosts), 1))}
}

// maxPairCounts bounds the number of values of PairCounts.
const maxPairCounts = 16

// PairCounts lists how many of the hosts' pairs communicate at once.
func PairCounts(hosts int) []int {
	return Growing(hosts/2, maxPairCounts)
}

// Growing lists 1..most, or, where there are more than count, so many from 1 to most that grow geometrically, but for
// the least, which grow by one.
func Growing(most, count int) []int {
	var out []int
	for i := range min(most, count) {
		n := i + 1
		if most > count {
			n = max(n, int(math.Round(math.Pow(float64(most), float64(i)/float64(count-1)))))
		}
		out = append(out, n)
	}
	return out
}

// Values returns a point for each value of a factor.
func Values[T ~int | ~int64](factor string, values ...T) []Point {
	return lists.Map(values, func(v T) Point { return Point{factor: int64(v)} })
}

// Cross returns a point for every combination of one of each list. Those of the last list vary first.
func Cross(lists ...[]Point) []Point {
	out := []Point{{}}
	for _, list := range lists {
		before := out
		out = nil
		for _, p := range before {
			for _, q := range list {
				p := maps.Clone(p)
				maps.Copy(p, q)
				out = append(out, p)
			}
		}
	}
	return out
}

// Pairs says which pairs of hosts a round measures: so many disjoint matchings, or, at 0, one in which every host is in
// one pair. Where hosts are permuted, other hosts are the pairs in every round.
type Pairs int

const (
	Ring     Pairs = -1 // every host with the next, in two steps or three
	AllPairs Pairs = math.MaxInt32
)

// maxMatchings bounds what a user may ask for; more than that is all pairs.
const maxMatchings = 1000

// ParsePairs reads ring, random:K or all.
func ParsePairs(s string) (Pairs, error) {
	switch k, random := strings.CutPrefix(s, "random:"); {
	case s == "all":
		return AllPairs, nil
	case s == "ring":
		return Ring, nil
	case random:
		if n, err := strconv.Atoi(k); err == nil && n >= 1 && n <= maxMatchings {
			return Pairs(n), nil
		}
		return 0, fmt.Errorf("pairs %q: want random:K with K from 1 to %d, the matchings of a round", s, maxMatchings)
	}
	return 0, fmt.Errorf("pairs %q: want all, ring or random:K", s)
}

// String is what ParsePairs reads; empty for zero.
func (p Pairs) String() string {
	switch p {
	case 0:
		return ""
	case Ring:
		return "ring"
	case AllPairs:
		return "all"
	}
	return fmt.Sprintf("random:%d", int(p))
}

func (p Pairs) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

func (p *Pairs) UnmarshalText(text []byte) (err error) {
	if *p = 0; len(text) > 0 {
		*p, err = ParsePairs(string(text))
	}
	return err
}

// Steps lists the pairs of places in disjoint steps.
func (p Pairs) Steps(hosts int) []Step {
	switch {
	case hosts < 2:
		return nil
	case p == Ring:
		return ring(hosts)
	case p > 0:
		steps := Colouring(hosts)
		return steps[:min(int(p), len(steps))]
	}
	return Neighbours(hosts)
}

// ring lists (0,1), (2,3), … in one step, (1,2), (3,4), … in the next, and what closes the ring of an odd number in a
// third.
func ring(hosts int) []Step {
	if hosts == 2 {
		return []Step{{{0, 1}}}
	}
	steps := make([]Step, 2+hosts%2)
	for h := range hosts - hosts%2 {
		steps[h%2] = append(steps[h%2], pairOf(h, (h+1)%hosts))
	}
	if hosts%2 == 1 {
		steps[2] = Step{{0, hosts - 1}}
	}
	return steps
}
