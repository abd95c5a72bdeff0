package plan

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"

	"calib/bench"
)

// Streams of the generators that draw which hosts take which places. Those of rounds are the small numbers.
const (
	labelStream = 1 << 32
	placeStream = 1 << 33
)

// Places returns which host takes each place of a layout in round r, so that one odd host is not always in the same
// teams, and no port is always, or never, that of the root. A layout is made of pairs (0,1), (2,3), …: the pairs of a
// round are a step of Colouring, so that every two hosts are such a pair once in as many rounds as there are steps.
// Every host takes place 0, the root's, once in as many rounds as there are hosts; and every two hosts are the first
// pair, each of them the root once, before anything repeats. The host that rests in a step of an odd number takes the
// last place. Which host has which number in the colouring, the order of a round's other pairs, and which host of these
// is the first, are drawn from the seed.
func Places(seed uint64, hosts, r int) []int {
	label := rand.New(rand.NewPCG(seed, labelStream)).Perm(hosts)
	if hosts < 2 {
		return label
	}
	steps := bench.Colours(hosts)
	step := r % steps
	root := r % hosts // steps and hosts have no common divisor where hosts are even
	if hosts%2 == 1 {
		root = (step + 1 + r/steps%(hosts-1)) % hosts // host number step rests
	}
	pairs := bench.Colour(hosts, step)
	rng := rand.New(rand.NewPCG(seed, placeStream|uint64(r)))
	rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	places := make([]int, 0, hosts)
	for _, pair := range pairs {
		a, b := pair[0], pair[1]
		if rng.IntN(2) == 1 {
			a, b = b, a
		}
		switch root {
		case a:
			places = slices.Insert(places, 0, a, b)
		case b:
			places = slices.Insert(places, 0, b, a)
		default:
			places = append(places, a, b)
		}
	}
	if len(places) < hosts {
		places = append(places, step)
	}
	for i, number := range places {
		places[i] = label[number]
	}
	return places
}

// arranged gives the places of a round to hosts of groups, such as racks: in about half of the rounds the pairs of a
// layout are within groups, and in the others between them, the senders all of the same groups. The root stays. Hosts
// of no group are as a group of their own.
func arranged(places []int, groups [][]int, r int) []int {
	if len(groups) < 2 {
		return places
	}
	of := map[int]int{}
	for i, g := range groups {
		for _, h := range g {
			of[h] = i + 1
		}
	}
	var order []int // of groups, as they come
	for _, h := range places {
		if !slices.Contains(order, of[h]) {
			order = append(order, of[h])
		}
	}
	sorted := slices.Clone(places)
	slices.SortStableFunc(sorted, func(a, b int) int { return slices.Index(order, of[a]) - slices.Index(order, of[b]) })
	if bits.OnesCount(uint(r))%2 == 0 { // of any two neighbours of rounds 2ᵏ apart, so that rare experiments meet both
		return sorted
	}
	half := len(sorted) / 2
	out := places[:0]
	for i := range half {
		out = append(out, sorted[i], sorted[half+i])
	}
	return append(out, sorted[2*half:]...)
}

// partners exchanges places so that no pair of a layout, (0,1), (2,3), …, is crowded, where that can be: the second
// host of a pair that is changes places with the first later, or else earlier, host that suits both pairs. The root
// stays.
func partners(places []int, crowded func(a, b int) bool) []int {
	if crowded == nil {
		return places
	}
	last := len(places) - len(places)%2
	for i := 0; i < last; i += 2 {
		if !crowded(places[i], places[i+1]) {
			continue
		}
		for step := 1; step < len(places); step++ {
			k := (i + 1 + step) % len(places)
			if k == 0 || k == i || crowded(places[i], places[k]) || k < last && crowded(places[k^1], places[i+1]) {
				continue
			}
			places[i+1], places[k] = places[k], places[i+1]
			break
		}
	}
	return places
}

// complete reports whether teams hold every host, each alone, or every pair of three hosts or more: it then does not
// matter which host takes which place. The one pair of two hosts has a root.
func complete(steps []bench.Step, hosts int) bool {
	size, distinct, seen := 0, 0, make([]bool, hosts*hosts)
	for _, step := range steps {
		for _, team := range step {
			if size = cmp.Or(size, len(team)); len(team) != size || size > 2 {
				return false
			}
			if at := slices.Min(team)*hosts + slices.Max(team); !seen[at] {
				seen[at] = true
				distinct++
			}
		}
	}
	return size == 1 && distinct == hosts || size == 2 && hosts > 2 && distinct == hosts*(hosts-1)/2
}
