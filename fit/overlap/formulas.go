// Package overlap is the model of communication latency hiding of Strumpen 1994: the gain of computing while messages
// are under way, and the speed-up of a program that does so.
//
// Times are in seconds, or all in one other unit. p is the number of processors, q the number of messages that a
// processor transfers one after the other between two computations, b their size in communication units (bytes), i the
// instructions of the whole sequential program and i/p those of a processor between two exchanges. The ratio
//
//	r = t_com/t_calc = q(i_cs/(i/p) + γ_h/γ_s)
//
// is all that the speed-ups depend on beside f and Ω. It is the reciprocal of what section 2.1 of the paper calls γ.
package overlap

import "math"

// TransferTime is t_tr = t_cs + b/r_com (eq. 3): the startup of a message, and its communication units over the rate of
// the network.
func TransferTime(tcs, b, rcom float64) float64 { return tcs + b/rcom }

// HardwareGranularity is γ_h = r_op/r_com [instructions a communication unit]: the rate of a processor over that of its
// network (section 2.2).
func HardwareGranularity(rop, rcom float64) float64 { return rop / rcom }

// SoftwareGranularity is γ_s = (i/p)/b [instructions a communication unit] (section 2.2).
func SoftwareGranularity(i, p, b float64) float64 { return i / p / b }

// Ratio is r = q(i_cs/(i/p) + γ_h/γ_s) of eq. 4: the time of communication over that of computation between two
// exchanges. ics = t_cs·r_op are the instructions that a startup takes the time of; work is i/p.
func Ratio(q, ics, work, gammaH, gammaS float64) float64 { return q * (ics/work + gammaH/gammaS) }

// Lambda is λ = p·γ_s/γ_h = (i/b)/γ_h (section 2.3.2): for long messages r = q·p/λ.
func Lambda(i, b, gammaH float64) float64 { return i / b / gammaH }

// IdealGain is eq. 1: the gain at γ = t_calc/t_com where all of the computation can hide communication and hiding costs
// nothing.
func IdealGain(gamma float64) float64 { return (1 + 1/gamma) / math.Max(1, 1/gamma) }

// Speedup is S(p) = p/(1 + r) of p processors that compute and communicate in turn (eq. 2, section 2.3.2).
func Speedup(p, r float64) float64 { return p / (1 + r) }

// Hiding is how well an implementation hides communication at one granularity.
type Hiding struct {
	F     float64 // f: fraction of the computation that hides communication, 0 to 1
	Omega float64 // Ω: overhead of hiding, over the time of the computation
	// Penalty is the time of a transfer with the implementation over that without it (figure 19). Eq. 4 has none, which
	// is 1: 0 means 1, too. It counts where communication takes longer than the computation that hides it.
	Penalty float64
}

// share is t_lh/t_calc.
func (h Hiding) share(r float64) float64 {
	penalty := h.Penalty
	if penalty == 0 {
		penalty = 1
	}
	return (1 - h.F) + math.Max(h.F+h.Omega, penalty*r)
}

// Speedup is S_lh(p) = p/((1−f) + max(f + Ω, r)) (eq. 2 with Ω, section 2.3.2), with Penalty·r in place of r.
func (h Hiding) Speedup(p, r float64) float64 { return p / h.share(r) }

// Gain is G = S_lh/S = (1 + r)/((1−f) + max(f + Ω, r)) (eq. 4; eq. 5 and 6 are special cases of r), with Penalty·r in
// place of r in the maximum. Below 1 it is a loss.
func (h Hiding) Gain(r float64) float64 { return (1 + r) / h.share(r) }

// MaxGain is the largest gain of long messages between two processors with f = 1, 2 − Ω/(1+Ω), at γ_h/γ_s = 1 + Ω
// (section 2.3.1).
func MaxGain(omega float64) float64 { return 2 - omega/(1+omega) }

// Gains reports whether hiding communication pays: γ_h/γ_s, or p·q/λ, above Ω (sections 2.3.1 and 2.3.2).
func Gains(ratio, omega float64) bool { return ratio > omega }

// Fixed is an implementation whose overhead is a time that does not depend on how long is computed: Ω falls as the
// computation grows. All times are over that of the transfer, and γ = t_calc/t_com = 1/r:
//
//	t_lh/t_com = (1−f)γ + max(fγ + ω, P)
type Fixed struct {
	F        float64 // as of Hiding
	Overhead float64 // ω = Ω·γ
	Penalty  float64 // P, as of Hiding; here 0 is 0
}

// At is the implementation at one granularity.
func (x Fixed) At(gamma float64) Hiding {
	return Hiding{F: x.F, Omega: x.Overhead / gamma, Penalty: x.Penalty}
}

// Time is t_lh/t_com. At γ = 0 it is the transfer alone.
func (x Fixed) Time(gamma float64) float64 {
	return (1-x.F)*gamma + math.Max(x.F*gamma+x.Overhead, x.Penalty)
}

// Gain is (1 + γ)/Time(γ): eq. 4 with Ω = ω/γ.
func (x Fixed) Gain(gamma float64) float64 { return (1 + gamma) / x.Time(gamma) }

// Peak is the granularity at which the gain is largest, γ* = (P − ω)/f, where the computation that hides and its
// overhead take as long as the transfer, and the gain there. For a constant Ω, f = 1 and P = 1 that is 1 + Ω = γ_h/γ_s
// (section 2.3.1). There is none where computing and communicating do not overlap at all (ω ≥ P), or where the overhead
// is the whole transfer (ω ≥ 1): then there is no gain at any granularity, or the gain only falls.
func (x Fixed) Peak() (gamma, gain float64, ok bool) {
	gamma = (x.Penalty - x.Overhead) / x.F
	if !(gamma > 0) || math.IsInf(gamma, 0) || x.Overhead >= 1 {
		return 0, 0, false
	}
	return gamma, x.Gain(gamma), true
}
