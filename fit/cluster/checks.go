package cluster

import (
	"fmt"
	"math"
	"slices"

	"calib/fit"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/plot"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

// cluster returns the cluster model of the estimate.
func (h *transfer) cluster() Cluster {
	c := Cluster{Os: h.os.Cost, Ur: h.ur.Cost, Or: h.or.cost(), Gs: h.gs.cost(), Gr: h.gs.cost(), L: h.fitted.Transfer,
		BL: math.Inf(1), MTU: h.packet}
	if h.gr != nil {
		c.Gr = h.gr.Cost
	}
	return c
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
		h.Note("gathers-unchecked", "gathers are not compared with eq. 8: g_s or g_r is not known; measure gap and "+
			"gather")
		return
	}
	r := h.Prepared.New(h.Model, names.Gather, h.Source)
	used := r.WithoutSlow(r.Usable(h.Prepared.LineBatches(names.Gather, names.PhaseGather)))
	c := &curves[gatherKind]{}
	var kinds []gatherKind
	for _, b := range used {
		k := gatherKind{senders: b.Point[names.FactorSenders], window: b.Point[names.FactorWindow]}
		kinds = append(kinds, k)
		c.add(k, float64(b.Point[names.FactorBytes]), b, b.Timings(), fit.Seconds(b.Lines[0].NS)...)
	}
	if len(kinds) == 0 {
		return
	}
	est := fit.Draw(r, &c.table)
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
				h.Warn("gathers-unchecked", "gathers are not compared with eq. 8: %v", err)
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
		h.Add(params.Notef("gathers-predicted", "eq. 8 is off %d gathers without loss by %.1f%% on average and by %.1f%% at "+
			"most (%s)", len(errs), 100*stats.Mean(errs), 100*worst, where).With("mean", stats.Mean(errs)).With("worst", worst))
	}
}

func transferPlots(f *params.Fit) []plot.Plot {
	times := f.Of(params.TransferTime)
	fn := f.Functions["L_cluster"]
	fn.CI95 = nil // bands would lie over one another
	curves := lists.Flat(times,
		func(s params.Series) []plot.Curve { return fit.FunctionCurve(s.Name, fn, s, s.Factors["hosts"], false) })
	gathers := func(windows bool) []params.Series {
		return lists.Where(f.Of(params.GatherTime),
			func(s params.Series) bool { return (s.Factors["window"] < s.Factors["senders"]) == windows })
	}
	return []plot.Plot{{
		ID: "l-m-p", Section: fit.SectionCluster, Title: "Time of a packet in the network while p hosts communicate",
		Says: fit.Sentences(fit.FunctionWords(f, "L_cluster"), fit.Misses("L_cluster is", times...)), Below: true,
		X: fit.SizeAxis(false), Y: fit.TimeAxis("L_cluster(m, p)", false), Series: fit.SeriesNames(times), Curves: curves,
	},
		gatherPlot("gather", "Gather: p' senders at once", gathers(false)),
		gatherPlot("gather-window", "Gather: p' senders, w at once", gathers(true)),
	}
}

func gatherPlot(id, title string, series []params.Series) plot.Plot {
	return plot.Plot{
		ID: id, Section: fit.SectionCluster, Title: title,
		Says: fit.Sentences("Measured gathers of M bytes from each sender, beside eq. 8", "Eq. 8 is not fitted to them",
			fit.Misses("Eq. 8 is", series...)),
		X: plot.Axis{Name: "bytes from each sender, M", Unit: "B", Log: true}, Y: fit.TimeAxis("time of the gather", true),
		Series: fit.SeriesNames(series), Below: true,
	}
}
