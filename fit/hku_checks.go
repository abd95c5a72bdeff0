package fit

import (
	"fmt"
	"math"
	"slices"

	"calib/internal/dataset"
	"calib/internal/stats"
	"calib/internal/units"
)

const (
	seriesRTT = "RTT(m)"
	// identityOff is the mean relative error of the identity above which a fit warns.
	identityOff = 0.05
)

// cluster returns the cluster model of the estimate.
func (h *hku) cluster() Cluster {
	c := Cluster{Os: h.os.Cost, Ur: h.ur.Cost, L: h.transfer.Transfer, BL: math.Inf(1), MTU: h.packet}
	if h.or != nil {
		c.Or = h.or.Cost
	}
	if h.gs != nil {
		c.Gs = h.gs.Cost
	}
	c.Gr = c.Gs
	if h.gr != nil {
		c.Gr = h.gr.Cost
	}
	return c
}

// identity holds 2(O_s + L + O_r + U_r) against the round trips of pingpong, which L was not fitted to, at the sizes that
// both saw.
func (h *hku) identity(d *dataset.Dataset, s Settings) {
	f := h.fit
	p, err := loadPingpong(d, s, f.Model, f.Source, 1)
	if err != nil {
		f.note("no ping-pong: 2(O_s + L + O_r + U_r) is not held against a round trip of other data")
		return
	}
	var at []int
	for i, m := range p.sizes {
		if m >= f.Domain["bytes"][0] && m <= f.Domain["bytes"][1] {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		f.note("ping-pong has no size that load has: 2(O_s + L + O_r + U_r) is not held against its round trip")
		return
	}
	whole := h.cluster()
	mean := func(c Cluster, half []float64) float64 {
		sum := 0.0
		for _, i := range at {
			sum += c.oneWay(p.sizes[i], 2)/half[i] - 1
		}
		return sum / float64(len(at))
	}
	var reps [][]float64
	for k, r := range p.times.replicates {
		c := Cluster{Os: h.os.replicate(k), Ur: h.ur.replicate(k), Or: h.or.replicate(k), L: h.l[k%len(h.l)]}
		reps = append(reps, []float64{mean(c, r)})
	}
	v := mean(whole, p.times.values)
	f.found("identity_hku", "1", "2(O_s + L + O_r + U_r) over the round trip, less one, mean over sizes", v,
		p.times.interval(v, reps, 0))
	h.sayIdentity(p, at, whole)
}

// sayIdentity records the round trips beside the identity, and says how far they are apart.
func (h *hku) sayIdentity(p *pingpong, at []int, c Cluster) {
	var errs []float64
	worst, where := 0.0, 0.0
	for _, i := range at {
		m, v := p.sizes[i], p.times.values[i]
		ci := p.times.interval(v, p.times.replicates, i)
		r := Residual{Series: seriesRTT, X: m, XName: "bytes", Measured: 2 * v, Lo: 2 * ci[0], Hi: 2 * ci[1],
			Fitted: 2 * c.oneWay(m, 2), N: p.times.n[i]}
		h.fit.Residuals = append(h.fit.Residuals, r)
		e := math.Abs(r.Relative())
		errs = append(errs, e)
		if e > worst {
			worst, where = e, m
		}
	}
	text := fmt.Sprintf("2(O_s + L + O_r + U_r) misses the round trip of ping-pong by %.1f%% on average over %d sizes, and by "+
		"%.1f%% at most, at %g bytes", 100*stats.Mean(errs), len(errs), 100*worst, where)
	if stats.Mean(errs) > identityOff {
		h.fit.warn("%s", text)
	} else {
		h.fit.note("%s", text)
	}
}

// gathers holds the times of gathers without loss against eq. 8.
func (h *hku) gathers(d *dataset.Dataset, s Settings) {
	totals := d.Select("gather", phaseGather)
	if len(totals) == 0 {
		return
	}
	if _, h.gr, _ = fitGather(d, s); h.gr == nil || h.gs == nil {
		h.fit.note("gathers are not held against eq. 8: g_s or g_r is not known")
		return
	}
	lines := newFit(h.fit.Model, "gather", h.fit.Source).usable(lineBatches(d, "gather", phaseGather))
	c := &curves{}
	var kinds []gatherTotal
	for i := range lines {
		b := &lines[i]
		g := gatherTotal{senders: b.point["senders"], window: b.point["window"]}
		if g.senders < 1 || g.window < 1 {
			continue
		}
		if !slices.Contains(kinds, g) {
			kinds = append(kinds, g)
		}
		c.add(g.series(), float64(b.point["bytes"]), b, b.timings(), seconds(b.lines[0].NS)...)
	}
	if len(kinds) == 0 {
		return
	}
	r, err := c.table.resample(s.replicates(), s.seed(d, h.fit.Model))
	if err != nil {
		h.fit.warn("gathers are not held against eq. 8: %v", err)
		return
	}
	sortTotals(kinds)
	h.gatherResiduals(kinds, c, r)
}

// series names the residuals of one kind of gather.
func (g gatherTotal) series() string {
	if g.window == g.senders {
		return fmt.Sprintf("T_gather(M), p'=%d", g.senders)
	}
	return fmt.Sprintf("T_gather(M), p'=%d, w=%d", g.senders, g.window)
}

func (h *hku) gatherResiduals(kinds []gatherTotal, c *curves, r *sampled) {
	model := h.cluster()
	var errs []float64
	worst, where := 0.0, ""
	for _, g := range kinds {
		data := c.costData(r, g.series(), math.Inf(1))
		for i, m := range data.sizes {
			fitted, err := model.GatherTime(int(g.senders), m, int(g.window))
			if err != nil {
				h.fit.warn("gathers are not held against eq. 8: %v", err)
				return
			}
			ci := data.interval(i)
			q := Residual{Series: g.series(), X: m, XName: "bytes", Measured: data.values[i], Lo: ci[0], Hi: ci[1],
				Fitted: fitted, N: data.n[i]}
			h.fit.Residuals = append(h.fit.Residuals, q)
			e := math.Abs(q.Relative())
			errs = append(errs, e)
			if e > worst {
				worst, where = e, fmt.Sprintf("%d senders of %s, %d at once", g.senders, units.Bytes(m), g.window)
			}
		}
	}
	if len(errs) > 0 {
		h.fit.note("eq. 8 misses %d gathers without loss by %.1f%% on average and by %.1f%% at most (%s)",
			len(errs), 100*stats.Mean(errs), 100*worst, where)
	}
}
