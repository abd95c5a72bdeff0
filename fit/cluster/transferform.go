package cluster

import (
	"math"
	"slices"

	"calib/fit"
	"calib/internal/lists"
	"calib/internal/lsq"
	"calib/params"
)

// transferFit is L(m, p) with the solution of the linear problem at the best limit.
type transferFit struct {
	params.Transfer
	*lsq.Solution
}

// transferForm is a form of L: level up to some bytes, 0 without a floor, and with or without the aggregate limit.
type transferForm struct {
	flat    float64
	limited bool
}

// fit fits L. w are weights; gs is used with an aggregate limit. Where there is one p only, l1 is not separable from
// l0, and zero.
//
// The limit is found exactly: with q = p·m/g_s(m) the load that p hosts can offer [B/s], the points with q > N are
// those of the largest q, and once it is known which they are, L is linear in l0, l1, tau and tau/N. Every way to part
// the points by q is tried, and every N on the q of a point, where a minimum may lie as well.
func (f transferForm) fit(at []loadPoint, y, w []float64, gs params.Cost) (transferFit, error) {
	if !f.limited {
		return f.solve(at, y, w, params.Transfer{}, func(q loadPoint) []float64 { return []float64{q.m} })
	}
	offers := slices.DeleteFunc(lists.Map(at, func(q loadPoint) float64 { return q.offered(gs) }),
		func(v float64) bool { return !(v > 0) || !fit.Finite(v) })
	slices.Sort(offers)
	offers = slices.Compact(offers)
	var best transferFit
	try := func(t transferFit, err error) {
		if err == nil && t.Tau > 0 && (best.Solution == nil || t.RSS < best.RSS) {
			best = t
		}
	}
	for i, n := range offers {
		try(f.solve(at, y, w, params.Transfer{N: n, Gs: gs}, func(q loadPoint) []float64 {
			return []float64{q.m * math.Max(1, q.offered(gs)/n)}
		}))
		if i == 0 {
			continue
		}
		t, err := f.solve(at, y, w, params.Transfer{Gs: gs}, func(q loadPoint) []float64 {
			if v := q.offered(gs); v >= n {
				return []float64{0, q.m * v}
			}
			return []float64{q.m, 0}
		})
		if err == nil && t.N >= offers[i-1] && t.N <= n {
			try(t, nil)
		}
	}
	if best.Solution == nil {
		return best, errInadmissible
	}
	return best, nil
}

// solve fits l0 + l1·p + tau·x(q), of two x the second tau/N·x, and up to flat bytes floor + l1·p. A floor that is not
// above the line there, or not below it at the other points, is inadmissible.
func (f transferForm) solve(at []loadPoint, y, w []float64, t params.Transfer,
	x func(loadPoint) []float64) (transferFit, error) {
	rows := make([][]float64, len(at))
	one, n := oneLoad(at), 0
	for i, q := range at {
		rows[i] = append([]float64{1}, x(q)...)
		n = len(rows[i])
		if f.flat > 0 {
			rows[i] = append(rows[i], 0)
			if q.m <= f.flat {
				clear(rows[i])
				rows[i][n] = 1
			}
		}
		if !one {
			rows[i] = append(rows[i], q.p)
		}
	}
	sol, err := lsq.Linear(rows, y, w)
	if err != nil {
		return transferFit{}, err
	}
	c := sol.Coef
	t.L0, t.Tau = c[0], c[1]
	if n == 3 {
		t.N = c[1] / c[2]
	}
	if !one {
		t.L1 = c[len(c)-1]
	}
	if f.flat > 0 {
		t.Floor = c[n]
		for _, q := range at {
			if (q.m <= f.flat) == (t.Line(q.m, q.p) > t.Floor) {
				return transferFit{}, errInadmissible
			}
		}
	}
	return transferFit{t, sol}, nil
}

func oneLoad(at []loadPoint) bool {
	return !slices.ContainsFunc(at, func(q loadPoint) bool { return q.p != at[0].p })
}
