package cluster

import (
	"fmt"
	"math"
	"slices"

	"calib/fit"
	"calib/internal/dataset/names"
	"calib/internal/params"
	"calib/internal/stats"
	"calib/internal/units"
)

// identityOff is the mean relative error of the identity above which a fit warns.
const identityOff = 0.05

// cluster returns the cluster model of the estimate.
func (h *transfer) cluster() Cluster {
	c := Cluster{Os: h.os.Cost, Ur: h.ur.Cost, Or: h.or.cost(), Gs: h.gs.cost(), Gr: h.gs.cost(), L: h.fitted.Transfer,
		BL: math.Inf(1), MTU: h.packet}
	if h.gr != nil {
		c.Gr = h.gr.Cost
	}
	return c
}

// identity compares 2(O_s + L + O_r + U_r) with the round trips of pingpong, which L was not fitted to, at the sizes
// that both saw.
func (h *transfer) identity() {
	q, err := h.Prepared.Pingpong(h.Model, 1)
	if err != nil {
		h.Note(params.IdentityUnchecked, "no ping-pong: 2(O_s + L + O_r + U_r) is not compared with a round trip of other data")
		return
	}
	var at []int
	for i, m := range q.Sizes {
		if m >= h.Domain["bytes"][0] && m <= h.Domain["bytes"][1] {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		h.Note(params.IdentityUnchecked, "ping-pong has no size that load has: 2(O_s + L + O_r + U_r) is not compared with its round trip")
		return
	}
	whole := h.cluster()
	mean := func(c Cluster, half []float64) float64 {
		sum := 0.0
		for _, i := range at {
			sum += c.oneWay(q.Sizes[i], 2)/half[i] - 1
		}
		return sum / float64(len(at))
	}
	var reps [][]float64
	for k, r := range q.Times.Replicates {
		c := Cluster{Os: h.os.replicate(k), Ur: h.ur.replicate(k), Or: h.or.replicate(k), L: h.l[k%len(h.l)]}
		reps = append(reps, []float64{mean(c, r)})
	}
	v := mean(whole, q.Times.Values)
	h.Found("identity_cluster", "1", "2(O_s + L + O_r + U_r) over the round trip, less one, mean over sizes", v, q.Times.Interval(v, reps, 0))
	h.compareRoundTrips(q, at, whole)
}

// compareRoundTrips records the round trips beside the identity, and says how far they are apart.
func (h *transfer) compareRoundTrips(q *fit.Pingpong, at []int, c Cluster) {
	s := params.Series{Name: "RTT(m)", Quantity: params.RoundTrip, XName: "bytes"}
	var errs []float64
	worst, where := 0.0, 0.0
	for _, i := range at {
		m, v := q.Sizes[i], q.Times.Values[i]
		ci := q.Times.Point(i)
		s.Add(m, 2*v, [2]float64{2 * ci[0], 2 * ci[1]}, 2*c.oneWay(m, 2), q.Times.N[i])
		e := math.Abs(s.Points[len(s.Points)-1].Relative())
		errs = append(errs, e)
		if e > worst {
			worst, where = e, m
		}
	}
	h.Series = append(h.Series, s)
	found := params.Notef("identity", "2(O_s + L + O_r + U_r) misses the round trip of ping-pong by %.1f%% on average over %d sizes, and by "+
		"%.1f%% at most, at %g B", 100*stats.Mean(errs), len(errs), 100*worst, where).With("mean", stats.Mean(errs)).With("worst", worst)
	if stats.Mean(errs) > identityOff {
		found.Level = params.Warning
	}
	h.Add(found)
}

// gathers compares the times of gathers without loss with eq. 8.
func (h *transfer) gathers() {
	if len(h.Prepared.Samples(names.Gather, names.PhaseGather)) == 0 {
		return
	}
	if g, err := fit.Shared(h.Prepared, fitGather); err == nil {
		h.gr = g.gr
	}
	if h.gr == nil || h.gs == nil {
		h.Note(params.GathersUnchecked, "gathers are not compared with eq. 8: g_s or g_r is not known")
		return
	}
	lines := h.Prepared.New(h.Model, names.Gather, h.Source).Usable(h.Prepared.LineBatches(names.Gather, names.PhaseGather))
	c := &curves[gatherKind]{}
	var kinds []gatherKind
	for _, b := range lines {
		k := gatherKind{senders: b.Point[names.FactorSenders], window: b.Point[names.FactorWindow]}
		kinds = append(kinds, k)
		c.add(k, float64(b.Point[names.FactorBytes]), b, b.Timings(), fit.Seconds(b.Lines[0].NS)...)
	}
	if len(kinds) == 0 {
		return
	}
	est := fit.Draw(h.Result, &c.table)
	slices.SortFunc(kinds, gatherKind.compare)
	model := h.cluster()
	var errs []float64
	worst, where := 0.0, ""
	for _, k := range slices.Compact(kinds) {
		s := params.Series{Name: fmt.Sprintf("T_gather(M), p'=%d", k.senders), Quantity: params.GatherTime, XName: "bytes",
			Factors: map[string]float64{"senders": float64(k.senders), "window": float64(k.window)}}
		if k.window != k.senders {
			s.Name += fmt.Sprintf(", w=%d", k.window)
		}
		data := c.of(est, k, 0, math.Inf(1))
		for i, m := range data.sizes {
			fitted, err := model.GatherTime(int(k.senders), m, int(k.window))
			if err != nil {
				h.Warn(params.GathersUnchecked, "gathers are not compared with eq. 8: %v", err)
				return
			}
			s.Add(m, data.Values[i], data.Point(i), fitted, data.N[i])
			e := math.Abs(s.Points[i].Relative())
			errs = append(errs, e)
			if e > worst {
				worst, where = e, fmt.Sprintf("%d senders of %s, %d at once", k.senders, units.Bytes(m), k.window)
			}
		}
		h.Series = append(h.Series, s)
	}
	if len(errs) > 0 {
		h.Add(params.Notef("gathers-predicted", "eq. 8 misses %d gathers without loss by %.1f%% on average and by %.1f%% at most (%s)",
			len(errs), 100*stats.Mean(errs), 100*worst, where).With("mean", stats.Mean(errs)).With("worst", worst))
	}
}

func transferPlots(f *params.Fit) []params.Plot {
	times, trips := f.Of(params.TransferTime), f.Of(params.RoundTrip)
	fn := f.Functions["L"]
	fn.CI95 = nil // bands would lie over one another
	var curves []params.Curve
	for _, s := range times {
		curves = append(curves, fit.FunctionCurve(s.Name, fn, s, s.Factors["hosts"], false)...)
	}
	var together, windows []params.Series
	for _, s := range f.Of(params.GatherTime) {
		if s.Factors["window"] < s.Factors["senders"] {
			windows = append(windows, s)
		} else {
			together = append(together, s)
		}
	}
	return []params.Plot{{
		ID: "l-m-p", Section: fit.SectionCluster, Title: "Time of a packet in the network while p hosts communicate",
		Says: fit.Sentences(fit.FunctionWords(f, "L"), fit.Misses("L is", times...)),
		X:    fit.SizeAxis(false), Y: fit.TimeAxis("L(m, p)", false), Series: fit.SeriesNames(times), Curves: curves, Below: true,
	}, {
		ID: "round-trip", Section: fit.SectionCluster, Title: "Round trip of ping-pong beside 2(O_s + L + O_r + U_r)",
		Says: fit.Sentences("Nothing was fitted to these round trips", fit.Misses("2(O_s + L + O_r + U_r) is", trips...)),
		X:    fit.SizeAxis(false), Y: fit.TimeAxis("round trip", false), Series: fit.SeriesNames(trips), Line: "2(O_s + L + O_r + U_r)", Below: true,
	},
		gatherPlot("gather", "Gather: p' senders at once", together),
		gatherPlot("gather-window", "Gather: p' senders, w at once", windows),
	}
}

func gatherPlot(id, title string, series []params.Series) params.Plot {
	return params.Plot{
		ID: id, Section: fit.SectionCluster, Title: title,
		Says: fit.Sentences("Measured gathers of M bytes from each sender beside eq. 8, which nothing here was fitted to",
			fit.Misses("Eq. 8 is", series...)),
		X: params.Axis{Name: "bytes from each sender, M", Unit: "B", Log: true}, Y: fit.TimeAxis("time of the gather", true),
		Series: fit.SeriesNames(series), Below: true,
	}
}
