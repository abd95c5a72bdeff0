package fit

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"calib/internal/dataset"
)

// HKUGap is the smallest interval between two packets of one host, as a function of their payload m [B]: g_s(m), a line,
// or a floor and a line above it where the data show a floor. Its samples hold one message a segment, which the segment
// counter must prove: what was merged in spite of that is left out.
//
// g_s_merged(m) is the interval between messages that the kernel may merge into segments, as most programs send them. It
// is a line like g_s, or, where a line misses a size by more than 5%, straight lines over ranges of the size in the form
// of Segmented. Source: Tam, Wang 2000, section 3.2 and table 1.
type HKUGap struct{}

// Name implements Model.
func (HKUGap) Name() string { return "hku-gap" }

// Needs implements Model.
func (HKUGap) Needs() []string { return []string{"gap"} }

const (
	labelGs = "interval between packets that one host sends"
	// mergedShare is by how much segments may differ from messages and still prove one segment a message.
	mergedShare = 0.02
	whyMerged   = "messages not one a segment"
	whyLarge    = "larger than a packet"
	whyNoWindow = "no interval"
	// bent is by how much a line may miss a merged size.
	bent = 0.05
)

// Fit implements Model. It returns ErrNeeds where neither kind of message was measured at two sizes.
func (m HKUGap) Fit(d *dataset.Dataset, s Settings) (*Fit, error) {
	f, _, err := fitGap(d, s)
	return f, err
}

// fitGap also returns g_s, nil where it is not known.
func fitGap(d *dataset.Dataset, s Settings) (*Fit, *costFit, error) {
	const model = "hku-gap"
	f := newFit(model, "gap", sourceHKU)
	c := f.loadGap(d)
	if len(c.table.points) == 0 {
		return nil, nil, needs(model, "no stream of messages without loss")
	}
	r, err := c.table.resample(s.replicates(), s.seed(d, model))
	if err != nil {
		return nil, nil, err
	}
	f.sayRounds(r.rounds)
	own, merged := c.costData(r, curveOwn, math.Inf(1)), c.costData(r, curveMerged, math.Inf(1))
	if len(own.sizes) < 2 && len(merged.sizes) < 2 {
		return nil, nil, needs(model, "streams of messages measured at fewer than two sizes without loss")
	}
	var costs []*costFit
	var gs *costFit
	if len(own.sizes) >= 2 {
		if gs, err = f.fitCost("g_s", labelGs, own, true); err != nil {
			return nil, nil, fmt.Errorf("model %s: %w", model, err)
		}
		costs = append(costs, gs)
		f.sayLine("g_s", own, gs)
	} else {
		f.unknown("g_s", "s", labelGs, 0, math.Inf(1), "fewer than two sizes were sent one message a segment")
	}
	if len(merged.sizes) >= 2 {
		cost, err := f.fitMerged(merged)
		if err != nil {
			return nil, nil, fmt.Errorf("model %s: %w", model, err)
		}
		costs = append(costs, cost)
	}
	return f.finishCosts(costs), gs, nil
}

// sayLine warns where a cost is not what its form can hold.
func (f *Fit) sayLine(name string, d *costData, c *costFit) {
	if off, m := furthest(d, c.At); off > bent {
		f.warn("%s(%g) is %.0f%% off its function: it is neither a line nor a floor and a line", name, m, 100*off)
	}
}

const (
	curveOwn    = "own segments"
	curveMerged = "merged"
)

// loadGap gathers the intervals of both kinds of messages.
func (f *Fit) loadGap(d *dataset.Dataset) *curves {
	lines := f.withoutSlow(f.usable(lineBatches(d, "gap", "gap")), findSlow(d))
	packet, known := packetBytes(lines)
	if !known {
		f.note("the kernel did not report the segment size: a packet is taken to hold %g bytes", packet)
	}
	c := &curves{}
	var used []batch
	for i := range lines {
		b := &lines[i]
		m, name := float64(b.point["bytes"]), curveOwn
		if b.point["merge"] != 0 {
			name = curveMerged
		}
		v := intervals(b.lines[0])
		switch {
		case name == curveOwn && m > packet:
			f.leaveOut(b, whyLarge)
		case name == curveOwn && mergedSegments(b.lines[0]):
			f.leaveOut(b, whyMerged)
		case v == nil:
			f.leaveOut(b, whyNoWindow)
		default:
			c.add(name, m, b, b.timings(), v...)
			used = append(used, *b)
		}
	}
	f.account(d, used)
	f.sayMerged()
	return c
}

// sayMerged warns of what was left out because messages were not one a segment.
func (f *Fit) sayMerged() {
	if n := f.LeftOutWhy[whyMerged]; n > 0 {
		f.warn("%d timings are left out: the kernel did not send one segment a message, so that their intervals are not "+
			"those of packets", n)
	}
}

// intervals returns the time per message of a stream [s]: that of the common window where there is one, else the raw
// intervals; nil where neither says anything.
func intervals(l *dataset.Sample) []float64 {
	if ns, n := l.Aux["window_ns"], l.Aux["window_messages"]; ns > 0 && n > 0 && finite(ns/n) {
		return []float64{ns / n * 1e-9}
	}
	if len(l.NS) == 0 || slices.Min(l.NS) < 0 || slices.Max(l.NS) == 0 {
		return nil
	}
	return seconds(l.NS)
}

// mergedSegments reports whether the counters contradict one segment a message; what was sent again does not count.
func mergedSegments(l *dataset.Sample) bool {
	n := l.Aux["messages"]
	return n > 0 && l.TCP != nil && l.TCP.DataSegsOut > 0 &&
		math.Abs(float64(l.TCP.DataSegsOut-l.TCP.Retrans)/n-1) > mergedShare
}

// fitMerged fits a line to what the kernel may merge, or segments where a line misses it.
func (f *Fit) fitMerged(d *costData) (*costFit, error) {
	const name, label = "g_s_merged", "interval between messages that the kernel may merge into segments"
	before := len(f.Residuals)
	c, err := f.fitCost(name, label, d, true)
	if err != nil {
		return nil, err
	}
	off, m := furthest(d, c.At)
	if off <= bent {
		return c, nil
	}
	seg, err := segments(d.sizes, d.values)
	if err != nil || len(seg.Segments) < 2 {
		f.warn("%s(%g) is %.0f%% off its function", name, m, 100*off)
		return c, nil
	}
	var reps [][]float64
	for _, r := range d.replicates {
		if v, err := withinBreaks(d.sizes, r, seg); err == nil {
			reps = append(reps, v)
		}
	}
	fn := f.function(SegmentsForm, label, map[string][2]float64{"bytes": {d.sizes[0], d.sizes[len(d.sizes)-1]}})
	from := 0.0
	for i, g := range seg.Segments {
		at := "_" + strconv.Itoa(i+1)
		if i > 0 {
			from = seg.Breaks()[i-1]
		}
		fn.Coeff["from"+at] = from
		fn.set("c0"+at, g.Intercept, d.from.interval(g.Intercept, reps, 2*i))
		fn.set("c1"+at, g.Slope, d.from.interval(g.Slope, reps, 2*i+1))
		fn.Domain["bytes"+at] = [2]float64{g.Lo, g.Hi}
	}
	f.Functions[name] = fn
	f.Residuals = f.Residuals[:before]
	f.costResiduals(name, d, seg.Predict)
	f.note("%s is %d lines over ranges of the size: a single one misses it by %.0f%%", name, len(seg.Segments), 100*off)
	c.predictive = false
	return c, nil
}
