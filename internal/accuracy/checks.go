package main

import (
	"fmt"
	"math"
	"strings"

	"calib/fit/params"
	"calib/internal/netspec"
	"calib/internal/units"
)

// check is one parameter held against the truth.
type check struct {
	name           string
	truth, allowed float64
	unit           string
	want           string // the truth in words, where it is no number
	measured       string
	ci             string
	err            string
	ok             bool
}

// Tolerances of the lab: relative, and absolute in seconds.
const (
	tolSlope        = 0.01
	tolContention   = 0.02
	tolContentionUS = 5e-6
	tolFixed        = 0.02
	tolFixedUS      = 30e-6
)

// checks compares a, b, a_c and b_c. On a switch the port's cost sits in a, T does not depend on n, so that a_c is zero
// and b_c cannot be identified; on a shared medium b cannot be identified where b ≤ b_c.
func checks(s *netspec.Spec, p *params.Params) []check {
	if s.Mode == netspec.Switched {
		a := s.Host.A + (s.Medium.A+s.L)/2
		ac := value(p, "a_c", 0, "s", tolContentionUS)
		if q := p.Parameters["a_c"]; q.CI95 != nil && (q.CI95[0] > 0 || q.CI95[1] < 0) {
			ac.ok, ac.err = false, ac.err+", zero is outside the interval"
		}
		return append(slow(s, p),
			value(p, "a", a, "s", tolFixed*a+tolFixedUS),
			value(p, "b", math.Max(s.Host.B, s.Medium.B), "s/B", tolSlope*math.Max(s.Host.B, s.Medium.B)),
			ac, none(p, "b_c", "s/B"))
	}
	a := s.Host.A + s.L/2
	out := append(slow(s, p),
		value(p, "a", a, "s", tolFixed*a+tolFixedUS),
		value(p, "a_c", s.Medium.A, "s", tolContention*s.Medium.A+tolContentionUS),
		value(p, "b_c", s.Medium.B, "s/B", tolSlope*s.Medium.B))
	if s.Host.B <= s.Medium.B {
		return append(out, none(p, "b", "s/B"))
	}
	return append(out, value(p, "b", s.Host.B, "s/B", tolSlope*s.Host.B))
}

func value(p *params.Params, name string, truth float64, unit string, allowed float64) check {
	c := check{name: name, truth: truth, unit: unit, allowed: allowed}
	q, there := p.Parameters[name]
	if !there || q.Value == nil {
		c.measured, c.err = "–", "no value: "+q.Why
		return c
	}
	if q.CI95 != nil {
		c.ci = interval(*q.CI95, unit)
	}
	return c.compare(*q.Value)
}

// none checks that a parameter is honestly reported as not identifiable.
func none(p *params.Params, name, unit string) check {
	c := check{name: name, truth: math.NaN(), unit: unit, measured: "–"}
	q, there := p.Parameters[name]
	c.ok = there && q.Value == nil && q.Status == params.StatusUnidentifiable
	c.err = q.Status
	if q.Bound != nil {
		c.ci = fmt.Sprintf("bound %s to %s", units.Format(q.Bound[0], unit), units.Format(q.Bound[1], unit))
	}
	return c
}

// slow checks that every host with a block of its own is named in a warning, and no other.
func slow(s *netspec.Spec, p *params.Params) []check {
	var out []check
	for i := range s.Overrides {
		c := check{name: fmt.Sprintf("slow host %d", i), want: "slow", measured: "not named"}
		for _, w := range p.Findings {
			if w.Code == params.SlowHost && len(w.Hosts) == 1 && strings.HasSuffix(w.Hosts[0], fmt.Sprintf("h%d", i)) {
				c.measured, c.ok = "named", true
			}
		}
		out = append(out, c)
	}
	return out
}

func (c check) row(network, seed string) string {
	verdict := "ok"
	if !c.ok {
		verdict = "**outside**"
	}
	truth, allowed := "not identifiable", ""
	if c.want != "" {
		truth = c.want
	} else if !math.IsNaN(c.truth) {
		truth, allowed = units.Format(c.truth, c.unit), "± "+units.Format(c.allowed, c.unit)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s | %s |",
		network, seed, c.name, truth, c.measured, c.ci, c.err, allowed, verdict)
}
