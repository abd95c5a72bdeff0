package fit

import (
	"cmp"
	"math"
	"slices"

	"calib/internal/lsq"
)

// loadPoint is one setting of load: m bytes while p hosts communicate.
type loadPoint struct{ m, p float64 }

// transferFit is L(m, p) with its sum of squares.
type transferFit struct {
	Transfer
	rss, condition float64
}

// fitTransferForm fits L for one form. w are weights; gs is used by the form with an aggregate limit.
type fitTransferForm func(at []loadPoint, y, w []float64, gs Cost) (transferFit, error)

// bilinear fits l0 + l1·p + tau·m. Where there is one p only, l1 is not separable from l0, and zero.
func bilinear(at []loadPoint, y, w []float64, _ Cost) (transferFit, error) {
	return stretched(at, y, w, func(q loadPoint) float64 { return q.m })
}

// stretched fits l0 + l1·p + tau·x(m, p).
func stretched(at []loadPoint, y, w []float64, x func(loadPoint) float64) (transferFit, error) {
	one := oneLoad(at)
	rows := make([][]float64, len(at))
	for i, q := range at {
		rows[i] = []float64{1, x(q), q.p}
		if one {
			rows[i] = rows[i][:2]
		}
	}
	sol, err := lsq.Linear(rows, y, w)
	if err != nil {
		return transferFit{}, err
	}
	f := transferFit{Transfer: Transfer{L0: sol.Coef[0], Tau: sol.Coef[1]}, rss: sol.RSS, condition: sol.Cond}
	if !one {
		f.L1 = sol.Coef[2]
	}
	return f, nil
}

func oneLoad(at []loadPoint) bool {
	return !slices.ContainsFunc(at, func(q loadPoint) bool { return q.p != at[0].p })
}

// limited fits l0 + l1·p + tau·m·max(1, q/N), q = p·m/g_s(m) the load that p hosts can offer [B/s], exactly: the points with
// q > N are those of the largest q, and once it is known which they are, L is linear in l0, l1, tau and tau/N. Every way to
// part the points by q is tried, and every N on the q of a point, where a minimum may lie as well.
func limited(at []loadPoint, y, w []float64, gs Cost) (transferFit, error) {
	offer := func(q loadPoint) float64 { return q.p * q.m / gs.At(q.m) }
	var offers []float64
	for _, q := range at {
		if v := offer(q); v > 0 && finite(v) {
			offers = append(offers, v)
		}
	}
	slices.Sort(offers)
	offers = slices.Compact(offers)
	best := transferFit{rss: math.Inf(1)}
	try := func(f transferFit, err error) {
		if err == nil && f.Tau > 0 && f.rss < best.rss {
			best = f
			best.Gs = gs
		}
	}
	for i, n := range offers {
		f, err := stretched(at, y, w, func(q loadPoint) float64 { return q.m * math.Max(1, offer(q)/n) })
		f.N = n
		try(f, err)
		if i == 0 {
			continue
		}
		f, err = parted(at, y, w, offer, n)
		if lo, hi := offers[i-1], n; err == nil && f.N >= lo && f.N <= hi {
			try(f, nil)
		}
	}
	if math.IsInf(best.rss, 1) {
		return best, lsq.ErrInadmissible
	}
	return best, nil
}

// parted fits L with the points of offers from least up beyond the limit.
func parted(at []loadPoint, y, w []float64, offer func(loadPoint) float64, least float64) (transferFit, error) {
	rows := make([][]float64, len(at))
	for i, q := range at {
		rows[i] = []float64{1, q.p, q.m, 0}
		if v := offer(q); v >= least {
			rows[i][2], rows[i][3] = 0, q.m*v
		}
	}
	sol, err := lsq.Linear(rows, y, w)
	if err != nil {
		return transferFit{}, err
	}
	c := sol.Coef
	return transferFit{Transfer: Transfer{L0: c[0], L1: c[1], Tau: c[2], N: c[2] / c[3]}, rss: sol.RSS, condition: sol.Cond}, nil
}

// mostOffered returns the largest load that was offered [B/s], and where.
func mostOffered(at []loadPoint, gs Cost) (float64, loadPoint) {
	offer := func(q loadPoint) float64 { return q.p * q.m / gs.At(q.m) }
	top := slices.MaxFunc(at, func(a, b loadPoint) int { return cmp.Compare(offer(a), offer(b)) })
	return offer(top), top
}
