package netspec

// stages returns the times [s] of a packet of m bytes in the blocks on its way from host src to host dst, in order.
// Where the medium begins with a packet when the sending block does, the two are one stage.
func (s *Spec) stages(src, dst, m int) []float64 {
	tx, medium := s.Service(s.HostBlock(src), m), s.Service(s.Medium, m)
	out := []float64{tx}
	route := -1
	if routes := s.Routes(); routes != nil {
		route = routes(src, dst)
	}
	switch {
	case route >= 0:
		out = append(out, s.Service(s.Links[route/2].Block, m), medium)
	case s.CutThrough:
		out[0] = max(tx, medium)
	default:
		out = append(out, medium)
	}
	return append(out, s.Service(s.ReceiveBlock(dst), m))
}

// Way is the time [s] of a packet of m bytes from host src to host dst where no other packet is in the way and p hosts
// are active. The calls of the hosts are not in it.
func (s *Spec) Way(src, dst, m, p int) float64 {
	t := s.L
	for _, d := range s.stages(src, dst, m) {
		t += d
	}
	if s.Fabric != nil {
		t += s.Fabric.Delay(m, p, s.Service(s.HostBlock(src), m))
	}
	return t
}

// Slowest is the time per byte [s/B] of a long stream from host src to host dst: that of the slowest block on its way.
func (s *Spec) Slowest(src, dst int) float64 {
	slowest := 0.0
	for _, d := range s.stages(src, dst, s.MSS) {
		slowest = max(slowest, d)
	}
	return slowest / float64(s.MSS)
}

// Message is the time [s] of a message of x bytes from host src to host dst where nobody else sends: the way of its
// first packet, and each further byte at the rate of the slowest block.
func (s *Spec) Message(src, dst, x int) float64 {
	first := min(x, s.MSS)
	return s.Way(src, dst, first, 2) + float64(x-first)*s.Slowest(src, dst)
}
