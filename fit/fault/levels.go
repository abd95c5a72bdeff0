package fault

import "slices"

// Levels are how many times as long as the others each host takes that is not slow: by latency or by rate, whichever is
// more. Batches are not counted. Ratio is 0 for a slow host, and for one that was seen with one other only.
func (s *Screen) Levels() []Found {
	j, without := s.Judge(), map[int]bool{}
	var uplinks [][]int
	for i, f := range slices.Concat(j.Slow, j.Undecided) {
		if f.Uplink {
			uplinks = append(uplinks, f.Hosts)
		} else if len(f.Hosts) == 1 && i < len(j.Slow) {
			without[f.Hosts[0]] = true
		}
	}
	s.apart = Numbers(uplinks)
	out := make([]Found, s.hosts)
	for _, t := range tests[:3] { // all rounds
		all := s.batches(t, without)
		s.explain(all, j.Slow)
		for h, r := range s.hostsOf(t, all) {
			f := r.found([]int{h}, t.quantity)
			if s.hosts <= wholeHosts { // of more, a host is in few of all pairs
				f.against(all)
			}
			if f.Direction, f.Bad, f.Of = "", 0, 0; f.Ratio > out[h].Ratio {
				out[h] = f
			}
		}
	}
	return out
}
