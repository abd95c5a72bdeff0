package export

import (
	"fmt"
	"math"
	"strconv"

	"calib/internal/params"
)

// piece is a piece of a function, C0 + C1·x [s, s/B] for sizes x above From [B].
type piece struct {
	From, C0, C1 float64
}

// pieces returns the pieces of a function of segments and the largest size [B] that it was measured at; ok is false
// where the run has no such function.
func (in *input) pieces(name string) (pieces []piece, largest float64, ok bool) {
	f, ok := in.function(name)
	if !ok || f.Form != params.Pieces {
		return nil, 0, false
	}
	for i := 1; ; i++ {
		n := "_" + strconv.Itoa(i)
		c0, has := f.Coeff["c0"+n]
		if !has {
			return pieces, f.Domain["bytes"][1], true
		}
		pieces = append(pieces, piece{From: f.Coeff["from"+n], C0: c0, C1: f.Coeff["c1"+n]})
	}
}

// packetCost returns the cost [s] of a packet by its size [B], never below zero, and the size at which the cost begins
// to grow, 0 where it grows from the start. The error is of class ErrMissing where the run has no such function, or
// none that has a value for every size up to full, the size of a full packet.
func (in *input) packetCost(name string, full float64) (cost func(bytes float64) float64, kink float64, err error) {
	f, ok := in.function(name)
	if !ok {
		return nil, 0, in.noFunction(name)
	}
	cost = func(bytes float64) float64 {
		v, err := f.At(bytes, 1, in.Params.Functions)
		if err != nil {
			return math.NaN()
		}
		return max(v, 0)
	}
	if v := cost(1) + cost(full); math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, 0, fmt.Errorf("of form %q: %w", f.Form, ErrMissing)
	}
	if f.Form == params.Floored && f.Coeff["c1"] > 0 {
		kink = (f.Coeff["floor"] - f.Coeff["c0"]) / f.Coeff["c1"]
	}
	return cost, kink, nil
}

// slopeAboveZero returns the slope [s/B] of a function that is a line, 0 where it cannot be told from zero.
func (in *input) slopeAboveZero(name string) float64 {
	if f, ok := in.function(name); ok && f.Form == params.Line && f.CI95["c1"][0] > 0 {
		return f.Coeff["c1"]
	}
	return 0
}

// delayOverHosts returns L(m,p) for the fewest hosts measured, without its part by size, and how much it changes up to
// the most hosts [s]; ok is false where L was not measured for several numbers of hosts.
func (in *input) delayOverHosts() (delay, change float64, ok bool) {
	f, ok := in.function("L")
	if !ok || f.Form != params.Bilinear {
		return 0, 0, false
	}
	hosts := f.Domain["p"]
	return f.Coeff["l0"] + f.Coeff["l1"]*hosts[0], math.Abs(f.Coeff["l1"]) * (hosts[1] - hosts[0]), hosts[1] > hosts[0]
}
