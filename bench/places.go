package bench

import (
	"math/rand/v2"
	"slices"
)

// Streams of the generators that draw which hosts take which places. Those of rounds are the small numbers.
const (
	labelStream = 1 << 32
	stepStream  = 1 << 33
)

// Places returns which host takes each place of a layout in round r, so that one odd host is not always in the same teams.
// A layout is made of pairs (0,1), (2,3), …: the pairs of a round are a step of Colouring, so that every two hosts are such a
// pair once in as many rounds as there are steps. Each time the steps have been through, the pairs of a step move on by one
// place: every pair has been the first once, and its hosts have been at place 0 or 1, when all have; then each is turned
// round. The host that rests in a step of an odd number takes the last place. Which host has which number in the colouring,
// the order of a step's pairs at first, and which host of a pair is the first, are drawn from the seed.
func Places(seed uint64, hosts, r int) []int {
	label := rand.New(rand.NewPCG(seed, labelStream)).Perm(hosts)
	if hosts < 2 {
		return label
	}
	steps := colours(hosts)
	step, cycle := r%steps, r/steps
	pairs := colour(hosts, step)
	rng := rand.New(rand.NewPCG(seed, stepStream|uint64(step)))
	rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	turned := cycle / len(pairs)
	places := make([]int, 0, hosts)
	rests := hosts * (hosts - 1) / 2 // the sum of all numbers, less those in pairs
	for k := range pairs {
		pair := pairs[(k+cycle)%len(pairs)]
		places = append(places, label[pair[0]], label[pair[1]])
		rests -= pair[0] + pair[1]
	}
	for k := 0; k < len(places); k += 2 {
		if (rng.IntN(2)+turned)%2 == 1 {
			places[k], places[k+1] = places[k+1], places[k]
		}
	}
	if len(places) < hosts {
		places = append(places, label[rests])
	}
	return places
}

// complete reports whether teams hold every host, each alone, or every pair of hosts: it then does not matter which host
// takes which place.
func complete(steps []Step, hosts int) bool {
	size, teams := 0, 0
	for _, step := range steps {
		for _, team := range step {
			if size == 0 {
				size = len(team)
			}
			if len(team) != size || size > 2 {
				return false
			}
			teams++
		}
	}
	all := hosts
	if size == 2 {
		all = hosts * (hosts - 1) / 2
	}
	if size == 0 || teams < all {
		return false
	}
	distinct, seen := 0, make([]bool, hosts*hosts)
	for _, step := range steps {
		for _, team := range step {
			a, b := slices.Min(team), slices.Max(team)
			if a < 0 || b >= hosts {
				return false // which checkStep reports
			}
			if size == 2 && a == b || seen[a*hosts+b] {
				continue
			}
			seen[a*hosts+b] = true
			distinct++
		}
	}
	return distinct == all
}
