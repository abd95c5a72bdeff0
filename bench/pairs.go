package bench

// Colouring lists every pair of p hosts once, in steps of disjoint pairs: p−1 steps of p/2 pairs for even p, p steps of
// (p−1)/2 for odd p, which is the least possible. It is the circle method of round-robin tournaments: one host stands
// still, the others move round it by one place a step, and hosts that face each other meet. Pairs are {low, high}.
func Colouring(p int) []Step {
	if p < 2 {
		return nil
	}
	around := p - 1 // how many move
	if p%2 == 1 {
		around = p // whoever faces the host that is not there rests
	}
	steps := make([]Step, around)
	for s := range steps {
		if p%2 == 0 {
			steps[s] = append(steps[s], pairOf(s, p-1))
		}
		for i := 1; 2*i < around; i++ {
			steps[s] = append(steps[s], pairOf((s+i)%around, (s-i+around)%around))
		}
	}
	return steps
}

func pairOf(a, b int) []int { return []int{min(a, b), max(a, b)} }

// neighbours lists the pairs (0,1), (2,3), …, one a step, so that every host is seen once and no pair disturbs another. The
// last of an odd number of hosts is paired with host 0.
func neighbours(p int) []Step {
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
