package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/lsq"
	"calib/internal/units"
	"calib/params"
)

// Transfer is the transfer time of a packet of m bytes while p hosts communicate in pairs,
//
//	L(m, p) = T(m, p) − O_s(m) − O_r(m) − U_r(m),
//
// T half a round trip of load, the costs those of Overhead. Its function has the form
//
//	l1·p + max(floor, l0 + tau·m·max(1, p·m/(N·g_s(m)))),
//
// N [B/s] the aggregate rate of the network and g_s that of Gap, where the data show that limit, and with a floor where
// they show one: each must be better by BIC clearly and at sizes that the fit has not seen, change T by a material
// share, and do so in the 95% interval. Otherwise the function is l0 + l1·p + tau·m, and the parameter N has a bound.
// Least squares are relative to T, which holds the noise. Intervals include those of the costs.
//
// Where gather was measured, its times are compared with eq. 8, which nothing was fitted to. Source: Tam, Wang 2000,
// section 3.2, table 1, eq. 8.
var Transfer = fit.Model{Name: "cluster", Needs: []string{names.Overhead, names.Load},
	Fit: fitTransfer, Draw: transferPlots}

type transfer struct {
	*fit.Result
	at         []loadPoint
	points     []int // of at, in the table
	times      *resample.Estimates
	os, ur, or *costFit
	gs, gr     *costFit
	packet     float64
	y          *resample.Estimates // L by point
	weights    []float64           // of y
	transferForm
	fitted transferFit
	l      []params.Transfer // by replicate
}

type loadPoint struct{ m, p float64 }

// offered is the load that p hosts can offer where one sends a message every g_s(m) [B/s].
func (q loadPoint) offered(gs params.Cost) float64 { return q.p * q.m / gs.Of(q.m) }

// fitTransfer returns fit.ErrNeeds without the costs of Overhead or load at two sizes.
func fitTransfer(p *fit.Prepared) (*params.Fit, error) {
	o, err := fit.Shared(p, fitOverhead)
	if err != nil {
		return nil, err
	}
	if o.os == nil || o.ur == nil {
		return nil, fit.Needs("O_s or U_r was measured at fewer than two sizes")
	}
	h := &transfer{Result: p.New("cluster", names.Load, source+", eq. 8"), os: o.os, ur: o.ur, or: o.or}
	if err := h.load(); err != nil {
		return nil, err
	}
	h.gs = gsOf(p) // without it there is no limit to look for
	if h.or == nil {
		h.Note("o-r-unknown", "O_r is not known. It is taken as zero, so L_cluster includes it")
	}
	h.subtract()
	if err := h.fitL(); err != nil {
		return nil, err
	}
	h.record()
	h.gathers()
	return h.Result.Fit, nil
}

// load gathers the half round trips of complete batches by size and hosts.
func (h *transfer) load() error {
	whole := h.WithoutSlow(h.Usable(h.Complete(h.Prepared.Batches(names.Load, names.PhaseLoad), false)))
	var known bool
	if h.packet, known = fit.PacketBytes(whole); known {
		h.Found(packetParameter, "B", "payload of one packet", h.packet, [2]float64{h.packet, h.packet})
	} else {
		h.packet = h.Packet(whole)
	}
	var t resample.Table[loadPoint]
	h.Account(h.Sift(whole, func(b *fit.Batch) string {
		q := loadPoint{float64(b.Point[names.FactorBytes]), float64(2 * b.Point[names.FactorPairs])}
		if q.m > h.packet {
			return fit.WhyLarge
		}
		for _, l := range b.Lines {
			t.AddTeam(t.Duration(q), resample.Team(l.Ranks), b.Dir, b.Round, len(l.NS), fit.HalfTrips(l)...)
		}
		h.WidenDomain("bytes", q.m)
		h.WidenDomain("hosts", q.p)
		return ""
	}))
	h.at = slices.SortedFunc(maps.Keys(t.Index), func(a, b loadPoint) int {
		return cmp.Or(cmp.Compare(a.p, b.p), cmp.Compare(a.m, b.m))
	})
	h.points = lists.Map(h.at, func(q loadPoint) int { return t.Index[q] })
	if d := h.Domain["bytes"]; !(d[0] < d[1]) {
		return fit.Needs("load measured at fewer than two sizes within a packet without loss")
	}
	h.times = fit.Draw(h.Result, &t)
	h.CheckRounds(h.times.Rounds)
	return nil
}

// subtract takes the hosts' costs off the half round trips, in the data and in each replicate.
func (h *transfer) subtract() {
	h.y = h.times.Select(h.points)
	h.weights = lsq.Weights(h.y.Values, h.y.Replicates)
	less := func(half []float64, os, ur, or params.Cost) {
		for i, q := range h.at {
			half[i] = half[i] - os.Of(q.m) - ur.Of(q.m) - or.Of(q.m)
		}
	}
	less(h.y.Values, h.os.Cost, h.ur.Cost, h.or.cost())
	for k, r := range h.y.Replicates {
		less(r, h.os.replicate(k), h.ur.replicate(k), h.or.replicate(k))
	}
	for i, v := range h.y.Values {
		if v <= 0 {
			h.Add(params.Warnf("not-positive", "L_cluster(%g, %g) is not positive: O_s, U_r and O_r together are longer "+
				"than half the round trip. Some work of the hosts is counted twice", h.at[i].m, h.at[i].p).Of("L_cluster"))
			return
		}
	}
}

// fitL fits L with or without a floor and the aggregate limit. A limit may hide a floor, which is looked for again.
func (h *transfer) fitL() (err error) {
	if h.fitted, err = h.fit(h.at, h.y.Values, h.weights, params.Cost{}); err != nil {
		return err
	}
	h.l = h.refit(h.transferForm)
	h.seekFloor()
	if h.gs == nil {
		h.Warn("g-s-unknown", "g_s is not known: whether the network has an aggregate limit cannot be seen; measure gap")
		return nil
	}
	offer := func(q loadPoint) float64 { return q.offered(h.gs.Cost) }
	where := slices.MaxFunc(h.at, func(a, b loadPoint) int { return cmp.Compare(offer(a), offer(b)) })
	if !oneLoad(h.at) && h.take(transferForm{h.flat, true}, where, func(t params.Transfer) float64 {
		return t.Tau * where.m * (t.Stretch(where.m, where.p) - 1)
	}) {
		h.seekFloor()
		return nil
	}
	most := offer(where)
	h.Unknown("N", "B/s", "aggregate rate of the network", h.least(most, where), math.Inf(1), fmt.Sprintf(
		"%g hosts with packets of %g B, which can offer %s together, do not reach it; more hosts would",
		where.p, where.m, units.Format(most, "B/s")))
	h.Add(params.Warnf("aggregate-limit-not-reached", "the aggregate limit N of the network was not reached with up to "+
		"%g hosts; more hosts that offer more than %s together would show it", where.p, units.Format(most, "B/s")).
		With("offered", most))
	return nil
}

// unknowns is how many coefficients are fitted: of one number of hosts none is l1.
func (h *transfer) unknowns() int {
	return 2 + lists.Count([]bool{h.limited, h.flat > 0, !oneLoad(h.at)}, func(is bool) bool { return is })
}

// seekFloor takes the floor with the smallest sum of squares, where the data show it. At least three sizes are above.
func (h *transfer) seekFloor() {
	best, least := h.transferForm, math.Inf(1)
	sizes := h.sizes()
	for _, m := range sizes[:max(0, len(sizes)-3)] {
		form := transferForm{m, h.limited}
		if f, err := form.fit(h.at, h.y.Values, h.weights, h.gs.cost()); err == nil && f.RSS < least {
			best, least = form, f.RSS
		}
	}
	if best.flat > 0 && h.flat == 0 {
		h.take(best, h.at[0], func(t params.Transfer) float64 { return t.Floor - t.Line(h.at[0].m, h.at[0].p) })
	}
}

// sizes are those of load, ascending.
func (h *transfer) sizes() []float64 {
	out := lists.Map(h.at, func(q loadPoint) float64 { return q.m })
	slices.Sort(out)
	return slices.Compact(out)
}

// least is the lower bound of N where the data do not show it. Load offered most [B/s] at where: a smaller N would have
// made the half round trip there longer by more than a material share, and by more than its interval hides.
func (h *transfer) least(most float64, where loadPoint) float64 {
	i := slices.Index(h.at, where)
	t := h.times.Values[h.points[i]]
	bytes := h.fitted.Tau * where.m
	if bytes <= 0 {
		return 0
	}
	return most / (1 + math.Max(params.Material*t, h.y.PointScatter(i)[1]-h.y.Values[i])/bytes)
}

// refit fits a form to every replicate, with its g_s.
func (h *transfer) refit(form transferForm) []params.Transfer {
	return resample.Map(lists.Upto(len(h.y.Replicates)), func(k int) (params.Transfer, error) {
		t, err := form.fit(h.at, h.y.Replicates[k], h.weights, h.gs.replicate(k))
		return t.Transfer, err
	})
}

// take takes a form with one coefficient more where the data show it, and reports whether they do. effect is what it
// changes at a point [s].
func (h *transfer) take(form transferForm, where loadPoint, effect func(params.Transfer) float64) bool {
	n, k := len(h.at), h.unknowns()
	f, err := form.fit(h.at, h.y.Values, h.weights, h.gs.cost())
	if err != nil || n < 5 || lsq.BIC(h.fitted.RSS, n, k)-lsq.BIC(f.RSS, n, k+1) < lsq.Clearly {
		return false
	}
	if now, ok := h.withoutSize(h.transferForm); ok {
		if then, _ := h.withoutSize(form); then >= now {
			return false
		}
	}
	time := h.times.Values[h.points[slices.Index(h.at, where)]]
	share := func(t params.Transfer) float64 { return effect(t) / time }
	l, e := h.refit(form), share(f.Transfer)
	if len(l) == 0 || e < params.Material || resample.Scatter(h.times, e, l, share)[0] <= 0 {
		return false
	}
	h.transferForm, h.fitted, h.l = form, f, l
	return true
}

func (h *transfer) record() {
	form := map[[2]bool]string{{}: params.Bilinear, {true, false}: params.Limited, {false, true}: params.FlooredBilinear,
		{true, true}: params.FlooredLimited}[[2]bool{h.limited, h.flat > 0}]
	fn := h.Function(form, "time of a packet in the network while p hosts communicate",
		map[string][2]float64{"m": h.Domain["bytes"], "p": h.Domain["hosts"]})
	fn.Source = source
	coefficients := []string{"l0", "l1", "tau", "N", "floor"}
	numbers := func(t params.Transfer) []float64 { return []float64{t.L0, t.L1, t.Tau, t.N, t.Floor} }
	at := func(i int) float64 { return h.fitted.At(h.at[i].m, h.at[i].p) }
	v, rows, ci, misfit := fit.Uncertain(h.y, h.fitted.Transfer, h.l, numbers, at, h.unknowns(),
		func(y []float64) (params.Transfer, error) {
			t, err := h.fit(h.at, y, h.weights, h.gs.cost())
			return t.Transfer, err
		})
	for j, name := range coefficients {
		if name == "N" && !h.limited || name == "floor" && h.flat == 0 {
			continue
		}
		terms := misfit[j]
		if name == "l0" || name == "floor" {
			terms = append(terms, h.Prepared.ClockReading(1)...)
		}
		fn.Set(name, v[j], fit.Add(v[j], ci[j], terms))
	}
	h.Functions["L_cluster"] = fn
	own := []string{"L_cluster.l0", "L_cluster.l1", "L_cluster.tau", "L_cluster.N", "L_cluster.floor"}
	h.Together(own, rows)
	costs := []*costFit{h.os, h.ur, h.or} // each replicate of L is less one of theirs
	if h.limited {
		costs = append(costs, h.gs)
	}
	together(h.Result, own, [][][]float64{rows}, costs...)
	if oneLoad(h.at) {
		h.Warn("one-load", "load was measured with %g hosts only: l1 is not separable from l0, which holds both", h.at[0].p)
	}
	for i, q := range h.at {
		if i == 0 || q.p != h.at[i-1].p {
			h.Series = append(h.Series, params.Series{Name: fmt.Sprintf("L_cluster(m, %g)", q.p), Symbol: "L_cluster",
				Quantity: params.TransferTime, Factors: map[string]float64{"hosts": q.p}, XName: "bytes"})
		}
		h.Series[len(h.Series)-1].Add(q.m, h.y.Values[i], h.y.Point(i), h.fitted.At(q.m, q.p), h.y.N[i])
	}
	series := h.Of(params.TransferTime)
	h.Judge(fit.R2(h.unknowns(), series...), h.fitted.Cond, series...)
	h.LeaveOneOut(h.withoutSize(h.transferForm))
}

// withoutSize is the mean relative error at each size between the smallest and the largest when the fit has not seen
// that size.
func (h *transfer) withoutSize(form transferForm) (float64, bool) {
	sizes := h.sizes()
	if len(sizes) < 3 { // one size leaves tau open
		return 0, false
	}
	sum, n := 0.0, 0
	for _, m := range sizes[1 : len(sizes)-1] {
		var at []loadPoint
		var y, w []float64
		for i, q := range h.at {
			if q.m != m {
				at, y, w = append(at, q), append(y, h.y.Values[i]), append(w, h.weights[i])
			}
		}
		t, err := form.fit(at, y, w, h.gs.cost())
		for i, q := range h.at {
			if err == nil && q.m == m && h.y.Values[i] != 0 {
				sum += math.Abs((h.y.Values[i] - t.At(q.m, q.p)) / h.y.Values[i])
				n++
			}
		}
	}
	return sum / float64(n), n > 0
}
