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

import (
	"errors"
	"math"

	"calib/internal/lsq"
)

// Speedup is S(p) = p/(1 + r) of p processors that compute and communicate in turn (eq. 2, section 2.3.2).
func Speedup(p, r float64) float64 { return p / (1 + r) }

// Fixed is an implementation whose overhead is a time that does not depend on how long is computed: the overhead Ω of
// hiding over the time of the computation falls as that grows. All times are over that of the transfer, and γ =
// t_calc/t_com = 1/r:
//
//	t_lh/t_com = (1−f)γ + max(fγ + ω, P)
type Fixed struct {
	F        float64 // f: fraction of the computation that hides communication, 0 to 1
	Overhead float64 // ω = Ω·γ
	// Penalty P is the time of a transfer with the implementation over that without it (figure 19). Eq. 4 has none,
	// which is 1. It counts where communication takes longer than the computation that hides it.
	Penalty float64
}

// Time is t_lh/t_com. At γ = 0 it is the transfer alone.
func (x Fixed) Time(gamma float64) float64 {
	return (1-x.F)*gamma + math.Max(x.F*gamma+x.Overhead, x.Penalty)
}

// Speedup is S_lh(p) = p/((1−f) + max(f + Ω, P·r)) of p processors: eq. 2 with Ω = ω/γ (section 2.3.2), and P·r in
// place of r.
func (x Fixed) Speedup(p, gamma float64) float64 { return p * gamma / x.Time(gamma) }

// Gain is G = S_lh/S = (1 + γ)/Time(γ): eq. 4 with Ω = ω/γ, of which eq. 5 and 6 are special cases. Below 1 it is a
// loss.
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

var errFew = errors.New("want the times of steps at two granularities at least, and the penalty")

// estimate fits f and ω of Fixed to times of steps over that of the transfer at ascending granularities, with the
// penalty as it was measured, by least squares of relative residuals. f is sought within 0 and 1, between which it is
// by definition.
//
// The model is two straight lines that meet at the peak: where communication takes longer the times tell f, beyond it
// ω. So every division of the points into those below and those above the peak is tried, each part is fitted by itself,
// and the division whose model misses all points least is taken. above counts the points that told ω, below those that
// told f. It returns errFew for fewer than two points.
func estimate(gamma, times []float64, penalty float64) (x Fixed, below, above int, err error) {
	if len(gamma) < 2 || !(penalty > 0) {
		return Fixed{}, 0, 0, errFew
	}
	n, least := len(gamma), math.Inf(1)
	w, beyond, longer := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, t := range times {
		w[i], beyond[i], longer[i] = 1/(t*t), t-penalty, t-gamma[i]
	}
	for k := range n + 1 {
		y := Fixed{F: 1, Penalty: penalty} // where no point tells
		if k > 0 {                         // times = P + (1−f)γ
			y.F = 1 - math.Min(1, math.Max(0, lsq.Proportional(gamma[:k], beyond[:k], w[:k])))
		}
		if k < n { // times = γ + ω
			y.Overhead = lsq.WeightedMean(longer[k:], w[k:])
		}
		if miss := lsq.SumOfSquares(gamma, times, w, y.Time); miss < least {
			least, x, below, above = miss, y, k, n-k
		}
	}
	return x, below, above, nil
}
