package fault

// Levels are how many times as long as the others each host takes that is not slow: by latency or by rate, whichever is
// more. Bad and Of are 0. Ratio is 0 for a slow host, and for one that was seen with fewer than two others. Ways over
// slow uplinks are not counted.
func (s *Screen) Levels() []Found {
	j := s.Judge()
	out := make([]Found, s.hosts)
	for _, t := range tests[:3] { // all rounds
		all := s.unexplained(t, slowHosts(j.Slow), j.Slow)
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
