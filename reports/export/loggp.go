package export

import (
	"fmt"
	"math"

	"calib/reports/export/input"
)

// logGP is LogGP in seconds: a message of s bytes takes
//
//	T(s) = L + o_s + o_r + (s−1)·G,
//
// and one host's messages start max(o, g + (s−1)·G) apart. Source: Alexandrov, Ionescu, Schauser, Scheiman 1997.
type logGP struct {
	l, os, or, g, gb float64 // L, o_s, o_r, g in s, G in s/B
	perByte          float64 // of o_s, s/B; 0 where it cannot be told from zero
}

// logGPNames are the parameters of LogGP in params.json.
func logGPNames() []string { return []string{"L", "o_s", "o_r", "g", "G"} }

// logGPOf returns the model, and warnings about what a simulator with one gap and one overhead cannot say of it.
func logGPOf(in *input.Input) (logGP, []string, error) {
	v, err := in.NeedAll(logGPNames()...)
	if err != nil {
		return logGP{}, nil, err
	}
	m := logGP{l: v[0], os: v[1], or: v[2], g: v[3], gb: v[4], perByte: in.SlopeAboveZero("o_s")}
	switch {
	case m.oneByte() <= 0:
		return m, nil, fmt.Errorf("way of one byte, L + o_s + o_r = %g s: %w: it must be positive", m.oneByte(), ErrLimit)
	case m.g < 0 || !(m.gb > 0):
		return m, nil, fmt.Errorf("g = %g s, G = %g s/B: %w: g must not be negative, G must be positive", m.g, m.gb, ErrLimit)
	case m.oneByte() < 2*m.o():
		return m, nil, fmt.Errorf("latency L = %g s: %w: it must not be negative", m.l, ErrLimit)
	}
	warnings := in.SlowPairs()
	if m.os+m.or < 0 {
		warnings = append(warnings, fmt.Sprintf("o_s + o_r = %g s is below zero within the noise: o is 0, and L holds the difference", m.os+m.or))
	}
	if m.os > m.g || m.o() > m.g {
		warnings = append(warnings, "the send overhead is more than g: short messages in a row leave o apart, and o is the mean of o_s and o_r")
	}
	if m.perByte > m.gb {
		warnings = append(warnings, fmt.Sprintf("o_s grows by %g s a byte, more than G: it is written as G", m.perByte))
		m.perByte = m.gb
	}
	if _, _, ok := in.Segments("gap"); ok {
		warnings = append(warnings, "gap(s) of this run is not one line: g is of its first segment, G of its last, and sizes between them are off")
	}
	return m, warnings, nil
}

// o is the overhead of a simulator that has one for both ends: the mean of o_s and o_r, so that a message takes as
// long.
func (m logGP) o() float64 { return math.Max(0, (m.os+m.or)/2) }

// oneByte is the time of a message of one byte, L + o_s + o_r [s].
func (m logGP) oneByte() float64 { return m.l + m.os + m.or }

// at returns the time [s] of a message of s bytes.
func (m logGP) at(s float64) float64 { return m.oneByte() + (s-1)*m.gb }

// logGOPS are the parameters of LogGOPSim in a unit of time of its user's choice.
type logGOPS struct {
	l, o, g, perByte int64   // L, o, g, O
	gb               float64 // G; LogGOPSim reads an integer, ATLAHS a fraction
	unit             float64 // s
}

// eagerAlways is an S above any message, the largest int: over sockets no message waits for its receive.
const eagerAlways = math.MaxInt32

// round rounds to the nearest integer; what is far beyond any int of LogGOPSim ends at 10^18.
func round(v float64) int64 { return int64(math.Min(math.Round(v), 1e18)) }
