package bench

import (
	"maps"
	"math"

	"calib/internal/dataset/names"
	"calib/internal/units"
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

// Colours is how many steps Colouring has: the number of hosts that move.
func Colours(p int) int {
	if p%2 == 1 {
		return p // the host without an opponent rests
	}
	return p - 1
}

// Colour is step s of Colouring.
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
	for i := 0; i+1 < p; i += 2 {
		steps = append(steps, Step{{i, i + 1}})
	}
	if p%2 == 1 {
		steps = append(steps, Step{{0, p - 1}})
	}
	return steps
}

// FirstHosts is one team of hosts 0..n−1, alone on the network.
func FirstHosts(n int) []Step {
	team := make([]int, n)
	for i := range team {
		team[i] = i
	}
	return []Step{{team}}
}

// EachAlone is every host in a team by itself, all in one step.
func EachAlone(hosts int) []Step {
	var all Step
	for h := range hosts {
		all = append(all, []int{h})
	}
	return []Step{all}
}

// maxPairCounts bounds the number of values of PairCounts.
const maxPairCounts = 16

// PairCounts lists how many of the hosts' pairs communicate at once: 1..hosts/2, or, where those are too many, about
// maxPairCounts values from 1 to hosts/2 that grow geometrically.
func PairCounts(hosts int) []int {
	most := hosts / 2
	var out []int
	if most <= maxPairCounts {
		for n := 1; n <= most; n++ {
			out = append(out, n)
		}
		return out
	}
	for i := range maxPairCounts {
		n := int(math.Round(math.Pow(float64(most), float64(i)/(maxPairCounts-1))))
		if len(out) == 0 || n > out[len(out)-1] {
			out = append(out, n)
		}
	}
	return out
}

// SizePoints returns a point for each message size, all with the factors of others.
func SizePoints(sizes []units.Bytes, others Point) []Point {
	var out []Point
	for _, m := range sizes {
		p := Point{names.FactorBytes: int64(m)}
		maps.Copy(p, others)
		out = append(out, p)
	}
	return out
}
