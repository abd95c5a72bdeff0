package export

import (
	"fmt"
	"math"

	"calib/fit"
)

// logGP is calib's LogGP in seconds: a message of s bytes takes
//
//	T(s) = L + o_s + o_r + (s−1)·G,
//
// and one host's messages start max(o, g + (s−1)·G) apart. Source: Alexandrov, Ionescu, Schauser, Scheiman 1997.
type logGP struct {
	l, os, or, g, gb float64 // L, o_s, o_r, g in s, G in s/B
	perByte          float64 // of o_s, s/B; 0 where it cannot be told from zero
}

var logGPNames = [...]string{"L", "o_s", "o_r", "g", "G"}

// logGPOf returns the model and what of it a simulator with one gap and one overhead cannot say.
func logGPOf(p *fit.Params) (logGP, []string, error) {
	v, err := needs(p, logGPNames[:]...)
	if err != nil {
		return logGP{}, nil, err
	}
	m := logGP{l: v[0], os: v[1], or: v[2], g: v[3], gb: v[4]}
	switch {
	case m.way() <= 0:
		return m, nil, fmt.Errorf("way of one byte, L + o_s + o_r = %g s: %w: it must be positive", m.way(), ErrLimit)
	case m.g < 0 || !(m.gb > 0):
		return m, nil, fmt.Errorf("g = %g s, G = %g s/B: %w: g must not be negative, G must be positive", m.g, m.gb, ErrLimit)
	case m.way() < 2*m.o():
		return m, nil, fmt.Errorf("latency L = %g s: %w: it must not be negative", m.l, ErrLimit)
	}
	if f, ok := p.Functions["o_s"]; ok && f.Form == fit.LineForm && f.CI95["c1"][0] > 0 {
		m.perByte = f.Coeff["c1"]
	}
	return m, m.warnings(p), nil
}

func (m *logGP) warnings(p *fit.Params) []string {
	out := uniform(p)
	if m.os+m.or < 0 {
		out = append(out, fmt.Sprintf("o_s + o_r = %g s is below zero within the noise: o is 0, and L holds the difference", m.os+m.or))
	}
	if m.os > m.g || m.o() > m.g {
		out = append(out, "the send overhead is more than g: short messages in a row leave o apart, and o is the mean of o_s and o_r")
	}
	if m.perByte > m.gb {
		out = append(out, fmt.Sprintf("o_s grows by %g s a byte, more than G: it is written as G", m.perByte))
		m.perByte = m.gb
	}
	if f, ok := p.Functions["gap"]; ok && f.Form == fit.SegmentsForm {
		out = append(out, "gap(s) of this run is not one line: g is of its first segment, G of its last, and sizes between them are off")
	}
	return out
}

// o is the overhead of a simulator that has one for both ends: the mean of o_s and o_r, so that a message takes as long.
func (m logGP) o() float64 { return math.Max(0, (m.os+m.or)/2) }

// way is the time of one byte, L + o_s + o_r.
func (m logGP) way() float64 { return m.l + m.os + m.or }

// at returns the time [s] of a message of s bytes.
func (m logGP) at(s float64) float64 { return m.way() + (s-1)*m.gb }

// broadcast returns when each of p hosts has a message of s bytes from host 0 by a binomial tree, in which host v sends to
// v + 2^r for every 2^r > v, the nearest first, and is done when it has received and sent.
func (m logGP) broadcast(p int, s float64) []float64 {
	has, done := make([]float64, p), make([]float64, p)
	spacing := math.Max(m.o()+(s-1)*m.perByte, m.g+(s-1)*m.gb)
	for v := range p { // a parent has a lower number
		for i, c := range childrenOf(v, p) {
			has[c] = has[v] + float64(i)*spacing + m.at(s)
			done[v] = has[v] + float64(i)*spacing + m.o() + (s-1)*m.perByte
		}
		done[v] = math.Max(done[v], has[v])
	}
	return done
}

// childrenOf lists the children of host v in a binomial tree over p hosts with root 0, nearest first.
func childrenOf(v, p int) []int {
	var out []int
	for d := 1; v+d < p; d *= 2 {
		if d > v {
			out = append(out, v+d)
		}
	}
	return out
}
