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
	"calib/internal/lsq"
	"calib/internal/params"
	"calib/internal/units"
)

// Transfer is the transfer time of a packet of m bytes while p hosts communicate in pairs,
//
//	L(m, p) = T(m, p) − O_s(m) − O_r(m) − U_r(m),
//
// T half a round trip of load, the costs those of Overhead. Its function has the form
//
//	l0 + l1·p + tau·m·max(1, p·m/(N·g_s(m))),
//
// N [B/s] the aggregate rate of the network and g_s that of Gap, where the data show that limit: it must be better than
// l0 + l1·p + tau·m by BIC clearly, stretch T by a material share, and do so in the 95% interval. Otherwise the
// function is the latter, and the parameter N has a bound. Least squares are relative to T, which holds the noise, and
// exact. Intervals include those of the costs.
//
// Where gather was measured, its times are compared with eq. 8, which nothing was fitted to. Source: Tam, Wang 2000,
// section 3.2, table 1, eq. 8.
var Transfer = fit.Model{Name: "cluster", Needs: []string{names.Overhead, names.Load}, Fit: fitTransfer, Draw: transferPlots}

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
	fitted     transferFit
	limited    bool
	l          []params.Transfer // by replicate
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
		h.Note("o-r-unknown", "O_r is not known and is taken as zero: L holds it")
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
	var used []*fit.Batch
	for _, b := range whole {
		q := loadPoint{float64(b.Point[names.FactorBytes]), float64(2 * b.Point[names.FactorPairs])}
		if q.m > h.packet {
			h.LeaveOut(b, fit.WhyLarge)
			continue
		}
		for _, l := range b.Lines {
			t.AddTeam(t.Duration(q), resample.Team(l.Ranks), b.Dir, b.Round, len(l.NS), fit.HalfTrips(l)...)
		}
		used = append(used, b)
		h.WidenDomain("bytes", q.m)
		h.WidenDomain("hosts", q.p)
	}
	h.Account(used)
	h.at = slices.SortedFunc(maps.Keys(t.Index), func(a, b loadPoint) int {
		return cmp.Or(cmp.Compare(a.p, b.p), cmp.Compare(a.m, b.m))
	})
	for _, q := range h.at {
		h.points = append(h.points, t.Index[q])
	}
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
			h.Add(params.Warnf(params.NotPositive, "L(%g, %g) is not positive: O_s, U_r and O_r together are longer than half the round trip. "+
				"Some work of the hosts is counted twice", h.at[i].m, h.at[i].p).Of("L"))
			return
		}
	}
}

// fitL fits L with or without the aggregate limit.
func (h *transfer) fitL() error {
	flat, err := bilinear(h.at, h.y.Values, h.weights, params.Cost{})
	if err != nil {
		return err
	}
	h.fitted = flat
	h.l = h.refit(bilinear)
	if h.gs == nil {
		h.Warn("g-s-unknown", "g_s is not known: whether the network has an aggregate limit cannot be seen; measure gap")
		return nil
	}
	offer := func(q loadPoint) float64 { return q.offered(h.gs.Cost) }
	where := slices.MaxFunc(h.at, func(a, b loadPoint) int { return cmp.Compare(offer(a), offer(b)) })
	most := offer(where)
	bent, err := limited(h.at, h.y.Values, h.weights, h.gs.Cost)
	if err == nil && !oneLoad(h.at) && h.shows(flat, bent, where) {
		h.fitted, h.limited = bent, true
		return nil
	}
	h.Unknown("N", "B/s", "aggregate rate of the network", h.least(most, where), math.Inf(1), fmt.Sprintf(
		"up to %g hosts with packets of %g B, which can offer %s, L does not show it",
		where.p, where.m, units.Format(most, "B/s")))
	h.Add(params.Warnf("aggregate-limit-not-reached", "the aggregate limit N of the network was not reached with up to %g hosts; more hosts "+
		"that offer more than %s together would show it", where.p, units.Format(most, "B/s")).With("offered", most))
	return nil
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
	return most / (1 + math.Max(material*t, h.y.PointScatter(i)[1]-h.y.Values[i])/bytes)
}

// refit fits a form to every replicate, with its g_s.
func (h *transfer) refit(fit transferFitter) []params.Transfer {
	numbers := make([]int, len(h.y.Replicates))
	for k := range numbers {
		numbers[k] = k
	}
	return resample.Map(numbers, func(k int) (params.Transfer, error) {
		t, err := fit(h.at, h.y.Replicates[k], h.weights, h.gs.replicate(k))
		return t.Transfer, err
	})
}

// shows reports whether the data show the limit of bent, and then keeps its replicates.
func (h *transfer) shows(flat, bent transferFit, where loadPoint) bool {
	n := len(h.at)
	if n < 5 || lsq.BIC(flat.RSS, n, 3)-lsq.BIC(bent.RSS, n, 4) < lsq.Clearly {
		return false
	}
	k := slices.Index(h.at, where)
	stretch := func(t params.Transfer) float64 {
		return t.Tau * where.m * (t.Stretch(where.m, where.p) - 1) / h.times.Values[h.points[k]]
	}
	l := h.refit(limited)
	e := stretch(bent.Transfer)
	if len(l) == 0 || e < material || resample.Scatter(h.times, e, l, stretch)[0] <= 0 {
		return false
	}
	h.l = l
	return true
}

func (h *transfer) record() {
	fn := h.Function(params.Bilinear, "time of a packet in the network while p hosts communicate",
		map[string][2]float64{"m": h.Domain["bytes"], "p": h.Domain["hosts"]})
	coefficients := []string{"l0", "l1", "tau"}
	if h.limited {
		fn.Form, coefficients = params.Limited, append(coefficients, "N")
	}
	fn.Source = source
	numbers := func(t params.Transfer) []float64 { return []float64{t.L0, t.L1, t.Tau, t.N} }
	var rows [][]float64
	for _, t := range h.l {
		rows = append(rows, numbers(t))
	}
	v := numbers(h.fitted.Transfer)
	var ci [][2]float64
	for j := range coefficients {
		ci = append(ci, h.times.Interval(v[j], rows, j))
	}
	fitter, gs := h.form()
	at := func(i int) float64 { return h.fitted.At(h.at[i].m, h.at[i].p) }
	misfit := fit.OfMisfit(h.y.Values, at, len(coefficients), func(y []float64) ([]float64, error) {
		t, err := fitter(h.at, y, h.weights, gs)
		return numbers(t.Transfer), err
	}, ci...)
	for j, name := range coefficients {
		terms := misfit[j]
		if name == "l0" {
			terms = append(terms, h.Prepared.OneMessage(1)...)
		}
		fn.Set(name, v[j], fit.Add(v[j], ci[j], terms))
	}
	h.Functions["L"] = fn
	h.Together([]string{"L.l0", "L.l1", "L.tau", "L.N"}, rows)
	if oneLoad(h.at) {
		h.Warn("one-load", "load was measured with %g hosts only: l1 is not separable from l0, which holds both", h.at[0].p)
	}
	for i, q := range h.at {
		if i == 0 || q.p != h.at[i-1].p {
			h.Series = append(h.Series, params.Series{Name: fmt.Sprintf("L(m,%g)", q.p), Quantity: params.TransferTime,
				Factors: map[string]float64{"hosts": q.p}, XName: "bytes"})
		}
		h.Series[len(h.Series)-1].Add(q.m, h.y.Values[i], h.y.Point(i), h.fitted.At(q.m, q.p), h.y.N[i])
	}
	series := h.Of(params.TransferTime)
	h.Judge(fit.R2(len(coefficients), series...), h.fitted.Cond(), series...)
	if e, ok := h.withoutSize(); ok {
		h.Quality.LeaveOneOut = &e
	}
}

// form is how L was fitted.
func (h *transfer) form() (transferFitter, params.Cost) {
	if h.limited {
		return limited, h.gs.Cost
	}
	return bilinear, params.Cost{}
}

// withoutSize is the mean relative error at each size between the smallest and the largest when the fit has not seen
// that size.
func (h *transfer) withoutSize() (float64, bool) {
	fitter, gs := h.form()
	var sizes []float64
	for _, q := range h.at {
		sizes = append(sizes, q.m)
	}
	slices.Sort(sizes)
	if sizes = slices.Compact(sizes); len(sizes) < 3 { // one size leaves tau open
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
		t, err := fitter(at, y, w, gs)
		for i, q := range h.at {
			if err == nil && q.m == m && h.y.Values[i] != 0 {
				sum += math.Abs((h.y.Values[i] - t.At(q.m, q.p)) / h.y.Values[i])
				n++
			}
		}
	}
	return sum / float64(n), n > 0
}

// transferFit is L(m, p) with the solution of the linear problem at the best limit.
type transferFit struct {
	params.Transfer
	*lsq.Solution
}

// transferFitter fits L for one form. w are weights; gs is used by the form with an aggregate limit.
type transferFitter func(at []loadPoint, y, w []float64, gs params.Cost) (transferFit, error)

// bilinear fits l0 + l1·p + tau·m. Where there is one p only, l1 is not separable from l0, and zero.
func bilinear(at []loadPoint, y, w []float64, _ params.Cost) (transferFit, error) {
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
	f := transferFit{Transfer: params.Transfer{L0: sol.Coef[0], Tau: sol.Coef[1]}, Solution: sol}
	if !one {
		f.L1 = sol.Coef[2]
	}
	return f, nil
}

func oneLoad(at []loadPoint) bool {
	return !slices.ContainsFunc(at, func(q loadPoint) bool { return q.p != at[0].p })
}

// limited fits l0 + l1·p + tau·m·max(1, q/N), q = p·m/g_s(m) the load that p hosts can offer [B/s], exactly: the points
// with q > N are those of the largest q, and once it is known which they are, L is linear in l0, l1, tau and tau/N.
// Every way to part the points by q is tried, and every N on the q of a point, where a minimum may lie as well.
func limited(at []loadPoint, y, w []float64, gs params.Cost) (transferFit, error) {
	offer := func(q loadPoint) float64 { return q.offered(gs) }
	var offers []float64
	for _, q := range at {
		if v := offer(q); v > 0 && fit.Finite(v) {
			offers = append(offers, v)
		}
	}
	slices.Sort(offers)
	offers = slices.Compact(offers)
	var best transferFit
	try := func(f transferFit, err error) {
		if err == nil && f.Tau > 0 && (best.Solution == nil || f.RSS < best.RSS) {
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
	if best.Solution == nil {
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
	return transferFit{Transfer: params.Transfer{L0: c[0], L1: c[1], Tau: c[2], N: c[2] / c[3]}, Solution: sol}, nil
}
