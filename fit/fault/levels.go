package fault

// Levels are how many times as long as the others each host takes that is not slow: by latency or by rate, whichever is
// more. Batches are not counted. Ratio is 0 for a slow host, and for one that was seen with one other only.
func (s *Screen) Levels() []Found {
	j, without := s.Judge(), map[int]bool{}
	for _, f := range j.Slow {
		without[f.Hosts[0]] = without[f.Hosts[0]] || len(f.Hosts) == 1
	}
	out := make([]Found, s.hosts)
	for _, t := range tests[:3] { // all rounds
		all := s.unexplained(t, without, j.Slow)
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
