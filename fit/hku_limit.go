package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"calib/internal/units"
)

// sort puts the points in order of hosts and size.
func (h *hku) sort() {
	order := make([]int, len(h.at))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(h.at[a].p, h.at[b].p), cmp.Compare(h.at[a].m, h.at[b].m))
	})
	at, points := h.at, h.points
	h.at, h.points = nil, nil
	for _, i := range order {
		h.at, h.points = append(h.at, at[i]), append(h.points, points[i])
	}
}

// fitL fits L with or without the aggregate limit.
func (h *hku) fitL() error {
	flat, err := bilinear(h.at, h.y, h.weights, Cost{})
	if err != nil {
		return err
	}
	h.transfer, h.form = flat, BilinearForm
	h.l = h.refit(bilinear)
	if h.gs == nil {
		h.fit.warn("g_s is not known: whether the network has an aggregate limit cannot be seen; measure gap")
		return nil
	}
	most, where := mostOffered(h.at, h.gs.Cost)
	bent, err := limited(h.at, h.y, h.weights, h.gs.Cost)
	if err == nil && !oneLoad(h.at) && h.shows(flat, bent, where) {
		h.transfer, h.form = bent, TransferForm
		return nil
	}
	h.fit.unknown("N", "B/s", labelN, h.least(most, where), math.Inf(1), fmt.Sprintf(
		"up to %g hosts with packets of %g bytes, which can offer %s, L does not show it",
		where.p, where.m, units.Format(most, "B/s")))
	h.fit.warn("the aggregate limit N of the network was not reached: L holds up to %g hosts; pairs that offer more than %s "+
		"together, from more hosts, would show it", where.p, units.Format(most, "B/s"))
	return nil
}

// least is the bound of an N that does not show, though load offered most at where: a smaller one would have stretched the
// half round trip by more than what is material, or than what the interval of that point hides.
func (h *hku) least(most float64, where loadPoint) float64 {
	i := slices.Index(h.at, where)
	t := h.times.values[h.points[i]]
	ci := h.times.interval(h.y[i], h.replicates, i)
	bytes := h.transfer.Tau * where.m
	if bytes <= 0 {
		return 0
	}
	return most / (1 + math.Max(material*t, ci[1]-h.y[i])/bytes)
}

// refit fits a form to every replicate, with its g_s.
func (h *hku) refit(fit fitTransferForm) []Transfer {
	var out []Transfer
	for k, y := range h.replicates {
		gs := Cost{}
		if h.gs != nil {
			gs = h.gs.replicate(k)
		}
		if t, err := fit(h.at, y, h.weights, gs); err == nil {
			out = append(out, t.Transfer)
		}
	}
	return out
}

// shows reports whether the data show the limit of bent, and then keeps its replicates.
func (h *hku) shows(flat, bent transferFit, where loadPoint) bool {
	n := len(h.at)
	if n < 5 || bic(flat.rss, n, 3)-bic(bent.rss, n, 4) < clearly {
		return false
	}
	k := slices.Index(h.at, where)
	stretch := func(t Transfer) float64 {
		return t.Tau * where.m * (t.share(where.m, where.p) - 1) / h.times.values[h.points[k]]
	}
	l := h.refit(limited)
	var effects [][]float64
	for _, t := range l {
		effects = append(effects, []float64{stretch(t)})
	}
	e := stretch(bent.Transfer)
	if len(l) == 0 || e < material || h.times.interval(e, effects, 0)[0] <= 0 {
		return false
	}
	h.l = l
	return true
}

// record writes the function L, its residuals and its quality.
func (h *hku) record() {
	f := h.fit
	domain := map[string][2]float64{"m": f.Domain["bytes"], "p": f.Domain["hosts"]}
	fn := f.function(h.form, labelL, domain)
	fn.Source = sourceHKU
	coeffs := func(t Transfer) []float64 { return []float64{t.L0, t.L1, t.Tau, t.N} }
	var reps [][]float64
	for _, t := range h.l {
		reps = append(reps, coeffs(t))
	}
	for j, name := range []string{"l0", "l1", "tau", "N"} {
		if name == "N" && h.form != TransferForm {
			break
		}
		v := coeffs(h.transfer.Transfer)[j]
		fn.set(name, v, h.times.interval(v, reps, j))
	}
	f.Functions["L"] = fn
	if oneLoad(h.at) {
		f.warn("load was measured with %g hosts only: l1 is not separable from l0, and is in it", h.at[0].p)
	}
	var series []string
	for i, q := range h.at {
		name := fmt.Sprintf("L(m,%g)", q.p)
		if !slices.Contains(series, name) {
			series = append(series, name)
		}
		ci := h.times.interval(h.y[i], h.replicates, i)
		f.Residuals = append(f.Residuals, Residual{Series: name, X: q.m, XName: "bytes", Measured: h.y[i], Lo: ci[0], Hi: ci[1],
			Fitted: h.transfer.At(q.m, q.p), N: h.times.n[h.points[i]]})
	}
	f.judge(r2(f.Residuals, series...), h.transfer.condition, series...)
	if e, ok := h.leaveOut(); ok {
		f.Quality.LeaveOneOut = &e
	}
}

// leaveOut is the mean relative error at each size when the fit has not seen that size.
func (h *hku) leaveOut() (float64, bool) {
	fit := bilinear
	gs := Cost{}
	if h.form == TransferForm {
		fit, gs = limited, h.gs.Cost
	}
	sum, n := 0.0, 0
	lo, hi := h.fit.Domain["bytes"][0], h.fit.Domain["bytes"][1]
	seen := map[float64]bool{}
	for _, out := range h.at {
		if seen[out.m] || lo == hi {
			continue
		}
		seen[out.m] = true
		var at []loadPoint
		var y, w []float64
		for i, q := range h.at {
			if q.m != out.m {
				at, y, w = append(at, q), append(y, h.y[i]), append(w, h.weights[i])
			}
		}
		if len(at) == 0 {
			continue
		}
		t, err := fit(at, y, w, gs)
		if err != nil {
			continue
		}
		for i, q := range h.at {
			if q.m == out.m && h.y[i] != 0 {
				sum += math.Abs((h.y[i] - t.At(q.m, q.p)) / h.y[i])
				n++
			}
		}
	}
	return sum / float64(n), n > 0
}
