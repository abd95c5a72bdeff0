package cluster

import (
	"math"
	"slices"

	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/lsq"
	"calib/internal/plot"
	"calib/params"
)

// Gap is the smallest interval between two packets of one host, as a function of their payload m [B]: g_s(m), a line,
// or a floor and a line above it where the data show a floor. Its samples hold one message a segment, and the segment
// counter must prove it: samples of merged messages are left out.
//
// g_s_merged(m) is the interval between messages that the kernel may merge into segments, as most programs send them.
// It is a line like g_s, or, where a line misses a size by more than 5%, straight lines over ranges of the size.
// Source: Tam, Wang 2000, section 3.2 and table 1.
var Gap = fit.Model{Name: "cluster-gap", Needs: []string{names.Gap}, Fit: func(p *fit.Prepared) (*params.Fit, error) {
	g, err := fit.Shared(p, fitGap)
	return g.fit, err
}, Draw: gapPlots}

const (
	labelGs     = "interval between packets that one host sends"
	labelMerged = "interval between messages that the kernel may merge into segments"
	gapMerged   = "g_s_merged"
	// mergedShare is by how much segments may differ from messages and still prove one segment a message.
	mergedShare = 0.02
	whyMerged   = "messages not one a segment"
	whyNoWindow = "no interval"
)

type gap struct {
	fit *params.Fit
	gs  *costFit
}

// gsOf returns g_s of a run, nil where it is not known.
func gsOf(p *fit.Prepared) *costFit {
	g, _ := fit.Shared(p, fitGap)
	return g.gs
}

// SendGap returns g_s of a run by the size, nil where it is not known.
func SendGap(p *fit.Prepared) func(m float64) float64 {
	if gs := gsOf(p); gs != nil {
		return gs.Of
	}
	return nil
}

func fitGap(p *fit.Prepared) (out gap, err error) {
	r := p.New("cluster-gap", names.Gap, source)
	c := loadGap(r)
	est, err := fit.Resample(r, &c.table, "no stream of messages without loss")
	if err != nil {
		return out, err
	}
	own, merged := c.of(est, false, 0, math.Inf(1)), c.of(est, true, 0, math.Inf(1))
	if len(own.sizes) < 2 && len(merged.sizes) < 2 {
		return out, fit.Needs("streams of messages measured at fewer than two sizes without loss")
	}
	var costs []*costFit
	if len(own.sizes) >= 2 {
		if out.gs, err = fitCost(r, "g_s", labelGs, own, true); err != nil {
			return out, err
		}
		costs = append(costs, out.gs)
		checkForm(r, own, out.gs)
	} else {
		r.Unknown("g_s", "s", labelGs, 0, math.Inf(1), "fewer than two sizes were sent one message a segment")
	}
	if len(merged.sizes) >= 2 {
		cost, err := fitMerged(r, merged)
		if err != nil {
			return out, err
		}
		costs = append(costs, cost)
	}
	out.fit = finishCosts(r, costs...)
	return out, nil
}

// loadGap gathers the intervals of messages one a segment, and of those that the kernel may merge. A stream goes to all
// receivers of a team by turns: what one of them holds up, it holds up for all.
func loadGap(r *fit.Result) *curves[bool] {
	streams := r.WithoutSlow(r.Usable(r.Prepared.Batches(names.Gap, names.PhaseGap, (*fit.Batch).First)))
	used := map[*dataset.Sample]bool{}
	for _, l := range lists.Flat(streams, func(b *fit.Batch) []*dataset.Sample { return b.Lines }) {
		used[l] = true
	}
	lines := r.WithoutSlow(slices.DeleteFunc(r.Prepared.LineBatches(names.Gap, names.PhaseGap),
		func(b *fit.Batch) bool { return !used[b.Lines[0]] })) // where every stream has a slow host, all but its lines
	packet, c := r.Packet(lines), &curves[bool]{}
	r.Account(r.Sift(lines, func(b *fit.Batch) string {
		m, merge := float64(b.Point[names.FactorBytes]), b.Point[names.FactorMerge] != 0
		v := intervals(b.Lines[0])
		switch {
		case !merge && m > packet:
			return fit.WhyLarge
		case !merge && mergedSegments(b.Lines[0]):
			return whyMerged
		case v == nil:
			return whyNoWindow
		}
		c.add(merge, m, b, b.Timings(), v...)
		return ""
	}))
	warnOfMerged(r)
	return c
}

func warnOfMerged(r *fit.Result) {
	if n := r.LeftOutWhy[whyMerged]; n > 0 {
		r.Add(params.Warnf("merged-messages", "%d timings are left out: the kernel did not send one segment a message, so "+
			"that their intervals are not those of packets", n).With("timings", float64(n)))
	}
}

// intervals returns the time per message of a stream [s]: that of the common window where there is one, else the raw
// intervals; nil where neither tells it.
func intervals(l *dataset.Sample) []float64 {
	if ns, n := l.Aux[names.AuxWindow], l.Aux[names.AuxWindowMessages]; ns > 0 && n > 0 && fit.Finite(ns/n) {
		return []float64{ns / n * 1e-9}
	}
	if len(l.NS) == 0 || slices.Min(l.NS) < 0 || slices.Max(l.NS) == 0 {
		return nil
	}
	return fit.Seconds(l.NS)
}

// mergedSegments reports whether the counters contradict one segment a message. Segments that were sent again do not
// count.
func mergedSegments(l *dataset.Sample) bool {
	n := l.Aux[names.AuxMessages]
	return n > 0 && l.TCP != nil && l.TCP.DataSegsOut > 0 &&
		math.Abs(float64(l.TCP.DataSegsOut-l.TCP.Retrans)/n-1) > mergedShare
}

// fitMerged fits a line to what the kernel may merge, or segments where a line misses it.
func fitMerged(r *fit.Result, d *costData) (*costFit, error) {
	c, err := fitCost(r, gapMerged, labelMerged, d, true)
	if err != nil {
		return nil, err
	}
	off, m := d.furthest(c.Of)
	if off <= bent {
		return c, nil
	}
	seg, err := lsq.FitSegments(d.sizes, d.Values, lsq.SegmentOptions{})
	if err != nil || len(seg.Segments) < 2 {
		r.Add(params.Warnf("off-the-form", "%s(%g) is %.0f%% off its function", gapMerged, m, 100*off).
			Of(gapMerged).With("off", off).With("bytes", m))
		return c, nil
	}
	fit.SegmentsFunction(r, gapMerged, labelMerged, d.sizes, d.Estimates, seg)
	r.Series = r.Series[:len(r.Series)-1]
	d.series(r, gapMerged, seg.At)
	r.Add(params.Notef("several-segments", "%s is %d lines over ranges of the size: a single one misses it by %.0f%%",
		gapMerged, len(seg.Segments), 100*off).Of(gapMerged))
	c.left = nil
	return c, nil
}

func gapPlot(f *params.Fit, symbol string) plot.Plot {
	s := pointsOf(f, symbol)
	return plot.Plot{
		ID: "gaps", Title: "Smallest interval between packets of one host, sending and receiving",
		Section: fit.SectionCluster, Says: fit.Sentences(fit.FunctionWords(f, symbol), fit.Misses(symbol+" is", s...)),
		X: fit.SizeAxis(false), Y: fit.TimeAxis("interval", false), Series: fit.SeriesNames(s), Line: symbol,
		Curves: fit.CostCurves(f, false, s), Below: true,
	}
}

// pointsOf is the series of a cost, where it has points.
func pointsOf(f *params.Fit, symbol string) []params.Series {
	if s := f.Named(symbol + "(m)"); len(s.Points) > 0 {
		return []params.Series{s}
	}
	return nil
}

func gapPlots(f *params.Fit) []plot.Plot {
	merged := pointsOf(f, gapMerged)
	return []plot.Plot{gapPlot(f, "g_s"), {
		ID: "g-s-merged", Section: fit.SectionCluster, Title: "Interval between messages that the kernel may merge",
		Says: fit.Sentences(fit.FunctionWords(f, gapMerged),
			"Programs that send small messages in a row pay this rather than g_s"),
		X: fit.SizeAxis(true), Y: fit.TimeAxis("interval", true), Series: fit.SeriesNames(merged), Line: gapMerged,
		Curves: fit.CostCurves(f, true, merged), Below: true,
	}}
}
