package main

import (
	"fmt"
	"math"
	"strings"

	"calib/fit/params"
	"calib/internal/netspec"
)

// pairedChecks compares a, b, a_c and b_c. On a switch the port's cost sits in a, T does not depend on n, so that a_c is zero
// and b_c cannot be identified; on a shared medium b cannot be identified where b ≤ b_c.
func pairedChecks(s *netspec.Spec, p *params.Params) []check {
	if s.Mode == netspec.Switched {
		a := s.Host.A + (s.Medium.A+s.L)/2
		ac := value(p, "a_c", 0, "s", tolContentionUS)
		if q := p.Parameters["a_c"]; q.CI95 != nil && (q.CI95[0] > 0 || q.CI95[1] < 0) {
			ac.ok, ac.err = false, ac.err+", zero is outside the interval"
		}
		return append(slowHosts(s, p),
			value(p, "a", a, "s", tolFixed*a+tolFixedUS),
			value(p, "b", math.Max(s.Host.B, s.Medium.B), "s/B", tolSlope*math.Max(s.Host.B, s.Medium.B)),
			ac, notIdentifiable(p, "b_c", "s/B"))
	}
	a := s.Host.A + s.L/2
	out := append(slowHosts(s, p),
		value(p, "a", a, "s", tolFixed*a+tolFixedUS),
		value(p, "a_c", s.Medium.A, "s", tolContention*s.Medium.A+tolContentionUS),
		value(p, "b_c", s.Medium.B, "s/B", tolSlope*s.Medium.B))
	if s.Host.B <= s.Medium.B {
		return append(out, notIdentifiable(p, "b", "s/B"))
	}
	return append(out, value(p, "b", s.Host.B, "s/B", tolSlope*s.Host.B))
}

// slowHosts checks that every host with a block of its own is named in a warning, and no other.
func slowHosts(s *netspec.Spec, p *params.Params) []check {
	var out []check
	for i := range s.Overrides {
		c := check{name: fmt.Sprintf("slow host %d", i), want: "slow", measured: "not named"}
		for _, f := range p.Findings {
			if f.Code == params.SlowHost && len(f.Hosts) == 1 && strings.HasSuffix(f.Hosts[0], fmt.Sprintf("h%d", i)) {
				c.measured, c.ok = "named", true
			}
		}
		out = append(out, c)
	}
	return out
}
