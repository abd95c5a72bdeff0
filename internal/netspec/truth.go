package netspec

import "math"

// TrueParameters lists the true values of a network's parameters, by name, in SI units. The hosts' own calls are not in
// them. On a switch the port's cost sits in a, half of it each, and there is neither a_c nor b_c; on a shared medium b
// is not identifiable where it is at most b_c.
func (s *Spec) TrueParameters() map[string]float64 {
	way := s.Way(0, 1, 0, 2)
	slowest := math.Max(math.Max(s.Host.B, s.Medium.B), s.ReceiveBlock(1).B)
	out := map[string]float64{"a": way / 2, "a_c": 0, "b": slowest, "a_prime_limits": way, "b_prime_limits": slowest, "G": slowest,
		"g": math.Max(s.Service(s.Host, 1), s.Reception(1)), "L": s.Way(0, 1, 1, 2)}
	if s.Mode == Shared {
		out["a"], out["a_c"], out["b_c"] = (way-s.Medium.A)/2, s.Medium.A, s.Medium.B
		if s.Host.B <= s.Medium.B {
			delete(out, "b")
		}
	}
	if s.Buffer > 0 {
		out["B_L"], out["B_L_tcp"] = float64(s.Buffer), float64(s.Buffer)
	}
	return out
}

// Reception is the slower of a port and the receiving host for packets of m bytes [s]: what the root of a gather sees.
func (s *Spec) Reception(m int) float64 {
	return math.Max(s.Service(s.Medium, m), s.Service(s.ReceiveBlock(1), m))
}

// TrueFunctions lists the true coefficients of g_s, g_r and L(m, p), those of packets from half of a full one on: c0 [s],
// c1 [s/B], floor [s] where frames have a least size, l0 [s], l1 [s a host], tau [s/B], N [B/s] where the network as a
// whole has a limit.
func (s *Spec) TrueFunctions() map[string]float64 {
	out := map[string]float64{}
	line := func(of func(m int) float64) (fixed, slope float64) {
		half, full := s.MSS/2, s.MSS
		slope = (of(full) - of(half)) / float64(full-half)
		return of(full) - slope*float64(full), slope
	}
	out["g_s.c0"], out["g_s.c1"] = line(func(m int) float64 { return s.Service(s.Host, m) })
	out["g_r.c0"], out["g_r.c1"] = line(func(m int) float64 { return s.Reception(m) })
	for name, least := range map[string]float64{"g_s.floor": s.Host.Min, "g_r.floor": s.Medium.Min} {
		if least > 0 {
			out[name] = least
		}
	}
	alone := *s
	alone.Fabric = nil
	out["L.l0"], out["L.tau"] = line(func(m int) float64 { return alone.Way(0, 1, m, 2) })
	out["L.l1"] = 0
	if f := s.Fabric; f != nil {
		out["L.l1"] = f.PerHost
		if f.Rate > 0 {
			out["L.N"] = f.Rate
		}
	}
	return out
}
