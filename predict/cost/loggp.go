package cost

import (
	"math"

	"calib/internal/params"
)

// LogGP predicts by the parameters L, o_s, o_r, g [s] and G [s/B] of LogGP, which are those of messages of 1 byte.
// Sending m bytes keeps the processor busy for o_s from when it is ready and its network interface is free, and the
// interface until max(g, o_s) + (m−1)·G after the start. The message is there o_s + (m−1)·G + L after the start, and at
// the receiver's interface at least g + (m−1)·G after the one before. It keeps the receiver busy for o_r from when it
// waits for it. A processor does not send and receive at once. The network is not shared. One of L, o_s, o_r and
// g that is zero within what the run can tell is zero. It returns ErrParameters without all five.
//
// Source: Alexandrov, Ionescu, Schauser, Scheiman 1995, LogGP: incorporating long messages into the LogP model, SPAA,
// section 2; for small messages Stoica, Sultan, Keyes 1994, section 6.
func LogGP(p *params.Params) (Model, error) {
	r := reader{params: p, model: "loggp", all: []string{"L", "o_s", "o_r", "g", "G"}}
	l, os, or, g, perByte := r.orZero("L"), r.orZero("o_s"), r.orZero("o_r"), r.orZero("g"), r.value("G")
	if err := r.err(); err != nil {
		return nil, err
	}
	return ofLogGP(l, os, or, g, perByte), nil
}

func ofLogGP(l, os, or, g, perByte float64) Model {
	return byEvents("loggp", func(m float64) stages {
		long := (m - 1) * perByte
		return stages{send: os, gap: math.Max(g, os) + long, flight: os + l, serve: long, rest: g, recv: or}
	})
}
