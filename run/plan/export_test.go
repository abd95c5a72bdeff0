package plan

import "calib/bench"

// Round returns the slots that are due in round r.
func (s *Schedule) Round(r int, measured func(exp string, team []int) bool) []bench.Slot {
	return s.slots(r, func(group int) bool { return s.groups[group].due(r) }, measured)
}

// Points is how many points a round measures, each on every set of teams it runs on.
func (s *Schedule) Points() int {
	n := 0
	for _, g := range s.groups {
		n += len(g.points)
	}
	return n
}
