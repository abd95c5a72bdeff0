package loggp

import (
	"fmt"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/hyperbolic"
	"calib/fit/resample"
	"calib/internal/lists"
	"calib/internal/lsq"
	"calib/internal/units"
	"calib/params"
)

// seriesGap is the residual series that the quality of LogGP is stated of.
const seriesGap = "gap(s)"

const labelGap = "gap between messages by their size"

// straight is the relative residual within which one line stands for gap at all sizes.
const straight = 0.05

// gapOf fits gap(s) to relative residuals: one line where it is within 5% of every value, and segments otherwise, where
// there are enough sizes for two. Of fewer than three sizes above a packet [B] one segment may have two sizes: else the
// last would reach far into the packet, where a byte costs less.
func gapOf(sizes, values []float64, packet float64) (*lsq.Segments, error) {
	l, err := lsq.RelativeLine(sizes, values)
	if err != nil {
		return nil, err
	}
	worst := 0.0
	for i, s := range sizes {
		worst = math.Max(worst, math.Abs(l.At(s)/values[i]-1))
	}
	g := &lsq.Segments{Segments: []lsq.Segment{{Line: l, Distinct: len(sizes)}}, Cond: l.Cond}
	if worst <= straight {
		return g, nil
	}
	var opt lsq.SegmentOptions
	if n := len(sizes) - firstAbove(sizes, packet); len(sizes) < 6 || n > 0 && n < 3 { // too few for two segments of three
		opt.Max, opt.MinSizes = 2, 2
	}
	if seg, err := lsq.FitSegments(sizes, values, opt); err == nil && len(seg.Segments) > 1 {
		return seg, nil
	}
	return g, nil
}

// firstAbove is the index of the first size that is larger than a packet, or the number of sizes.
func firstAbove(sizes []float64, packet float64) int {
	i, _ := slices.BinarySearch(sizes, math.Nextafter(packet, math.Inf(1)))
	return i
}

func (p *prttData) fitGap() (*lsq.Segments, error) {
	sizes, gaps := sizesOf(p.gaps), p.slopes(p.gaps)
	values := gaps.Values
	g, err := gapOf(sizes, values, p.packet)
	if err != nil {
		return nil, err
	}
	reps := resample.Map(gaps.Replicates, func(y []float64) ([]float64, error) {
		return lsq.WithinBreaks(sizes, y, g)
	})
	c := g.Coef()
	// g is the gap that was measured at the smallest size, less what its bytes take: a cost with a floor lies off the line
	// there.
	small, ofSmall := gaps.Of(func(y []float64) float64 { return y[0] - c[1]*(sizes[0]-1) })
	p.fit.Found("g", "s", "gap between messages of 1 byte", small, ofSmall, p.wakeUp()...)
	long, ci := c[len(c)-1], p.times.Interval(c[len(c)-1], reps, len(c)-1)
	full, above := p.fromFull(long, sizes, values), firstAbove(sizes, p.packet)
	perByte := func([]float64) float64 { return math.NaN() }
	switch {
	case full:
		perByte = func(y []float64) float64 { return p.perPacket(sizes, y) }
		long, ci = gaps.Of(perByte)
	case len(sizes)-above > 1: // whatever the gaps of a packet are, a floor among them
		perByte = func(y []float64) float64 {
			l, err := lsq.RelativeLine(sizes[above:], y[above:])
			if err != nil {
				return math.NaN()
			}
			return l.C1
		}
		long, ci = gaps.Of(perByte)
	}
	p.shortLong = lists.Map(gaps.Replicates,
		func(y []float64) []float64 { return []float64{y[0] - c[1]*(sizes[0]-1), perByte(y)} })
	var misfit []params.Term
	if !full {
		_, misfit = fit.LineMisfit(lsq.Segment{}, sizes[above:], values[above:], 0, ci, ci)
	}
	p.longGap(long, full, sizes, values, ci, misfit)
	if long <= 0 {
		p.fit.Add(params.Warnf("not-positive", "G is not positive: the gap does not grow with the size").Of("G"))
	}
	oneLine := len(g.Segments) == 1
	if oneLine {
		p.lineFunction("gap", labelGap, g.Segments[0].Line, reps, sizes, values,
			func(y []float64) (lsq.Line, error) { return g.Segments[0].Refit(sizes, y) })
	} else {
		fit.SegmentsFunction(p.fit, "gap", labelGap, sizes, gaps, g)
		p.fit.Add(params.Notef("several-segments", "gap(s) is not one line within 5%%: %d segments by BIC; g is of "+
			"the smallest message, G of those longer than a packet", len(g.Segments)).Of("gap"))
	}
	points := p.fit.AddSeries(params.Series{Name: seriesGap, Quantity: params.Gap, Symbol: "gap", XName: "bytes"}, sizes,
		gaps, g.At)
	for i, s := range sizes {
		if e := math.Abs(points.Points[i].Relative()); oneLine && e > straight {
			p.fit.Add(params.Warnf("off-the-form", "gap(s) is not a line, and too few sizes were measured for "+
				"segments: %.0f%% off at %g B", 100*e, s).Of("gap").With("off", e).With("bytes", s))
		}
	}
	return g, nil
}

// wakeUp is the term of g for receivers that sleep: a lone message wakes one, and the last of many may find it awake.
func (p *prttData) wakeUp() []params.Term {
	if v, _ := hyperbolic.WakeupTime(p.fit.Prepared); v > 0 {
		most := v / (p.gaps[0].n - 1)
		return []params.Term{fit.Uniform("wake-up", most, "a lone message wakes its receiver, the last of many need not")}
	}
	return nil
}

// longGap records G, the slope at the largest message. Where that fits into one packet, the slope is that within a
// packet: what another packet costs is in no gap. Where it is the only one above a packet, the slope is between the
// two, unless it is that of full packets. In both cases G is between this slope and the whole gap a byte. Where these
// two are as good as equal, either is G.
func (p *prttData) longGap(slope float64, full bool, sizes, values []float64, ci [2]float64, misfit []params.Term) {
	const label = "gap per byte of a long message"
	n := len(sizes)
	above, most := n-firstAbove(sizes, p.packet), values[n-1]/sizes[n-1]
	if above > 1 || most <= (1+straight)*slope || full {
		p.fit.Found("G", "s/B", label, slope, ci, misfit...)
		return
	}
	p.fit.Unknown("G", "s/B", label, math.Max(0, slope), most, fmt.Sprintf("prtt has %s above a packet of %g B, and "+
		"G needs two: --sizes 1,1KiB,4KiB,16KiB", units.Plural(above, "size"), p.packet))
}

// nearlyFull is the part of a packet that a message fills which costs about what a full packet does.
const nearlyFull = 0.9

// fromFull reports whether a slope is that from a message which nearly fills a packet to the only size above a packet.
func (p *prttData) fromFull(slope float64, sizes, values []float64) bool {
	n := len(sizes)
	if n < 2 || n-firstAbove(sizes, p.packet) != 1 || sizes[n-2] < nearlyFull*p.packet {
		return false
	}
	step := slopeBetween(sizes, values, n-2)
	return math.Abs(slope-step) <= straight*step
}

// perPacket is the slope between the two largest sizes, were their packets full: what their last packets have room for
// takes as long as within a packet.
func (p *prttData) perPacket(sizes, values []float64) float64 {
	n := len(sizes)
	within := slopeBetween(sizes, values, max(0, n-3))
	var x, y [2]float64
	for i := range x {
		k := n - 2 + i
		x[i] = math.Ceil(sizes[k]/p.packet) * p.packet
		y[i] = values[k] + within*(x[i]-sizes[k])
	}
	return (y[1] - y[0]) / (x[1] - x[0])
}

// slopeBetween is the slope from the k-th size to the next.
func slopeBetween(sizes, values []float64, k int) float64 {
	return (values[k+1] - values[k]) / (sizes[k+1] - sizes[k])
}

// lineFunction records the function l, a line that was fitted to values by their sizes. reps hold its C0 and C1 in each
// replicate; refit is the fit, for other values. It returns the interval of l(1) by the replicates alone, and as terms
// what the misfit adds to it.
func (p *prttData) lineFunction(name, label string, l lsq.Line, reps [][]float64, sizes, values []float64,
	refit func(y []float64) (lsq.Line, error)) (one [2]float64, misfit []params.Term) {
	fn := p.fit.Function(params.Line, label, map[string][2]float64{"m": {sizes[0], sizes[len(sizes)-1]}})
	c0, c1 := p.times.Interval(l.C0, reps, 0), p.times.Interval(l.C1, reps, 1)
	one = resample.DifferenceOf(p.times, l.At(1), reps, func(r []float64) float64 { return r[0] + r[1] })
	of := fit.OfMisfit(values, func(i int) float64 { return l.At(sizes[i]) }, 2, func(y []float64) ([]float64, error) {
		l, err := refit(y)
		return []float64{l.C0, l.C1, l.At(1)}, err
	}, c0, c1, one)
	fn.Set("c0", l.C0, fit.Add(l.C0, c0, of[0]))
	fn.Set("c1", l.C1, fit.Add(l.C1, c1, of[1]))
	p.fit.Together([]string{name + ".c0", name + ".c1"}, reps)
	p.fit.Functions[name] = fn
	return one, of[2]
}

func (p *prttData) latency(send, receive *busyTime) float64 {
	const label = "time of a message of 1 byte in the network, without the overheads of both ends"
	first := p.gaps[0]
	if first.bytes > 1 {
		p.fit.Note("smallest-size", "L, o_s and o_r are taken from a round trip of %g B, the smallest measured", first.bytes)
	}
	half := p.times.Values[first.one] / 2
	if send == nil || receive == nil {
		p.fit.Unknown("L", "s", label, 0, half, "the overheads were not measured: half a round trip holds them too")
		return math.NaN()
	}
	v := half - send.At(first.bytes) - receive.At(first.bytes)
	reps := make([][]float64, 0, len(p.times.Replicates))
	for i, r := range p.times.Replicates {
		o, q := send.reps[i], receive.reps[i]
		reps = append(reps, []float64{r[first.one]/2 - o[0] - q[0] - (o[1]+q[1])*first.bytes, o[0] + o[1], q[0] + q[1]})
	}
	p.fit.Together([]string{"L", send.name, receive.name, "g", "G"}, reps, p.shortLong)
	ci := resample.DifferenceOf(p.times, v, reps, func(r []float64) float64 { return r[0] })
	p.fit.Difference("L", "s", label, v, ci, slices.Concat(p.fit.Prepared.ClockReading(1), send.misfit, receive.misfit)...)
	l := p.fit.Parameters["L"]
	if v <= 0 && (l.CI95 == nil || l.CI95[1] <= 0) { // else it may be zero
		const why = "o_s + o_r is longer than half a round trip: the pauses between messages let hosts fall " +
			"asleep, or some work is counted twice; keep CPUs awake, and measure again"
		l.Withhold(params.StatusInconsistent, "L is not positive: "+why)
		p.fit.Parameters["L"] = l
		p.fit.Add(params.Warnf("not-positive", "L is not positive: %s", why).Of("L"))
	}
	return v
}

// percent writes a relative difference; one that rounds to zero has no minus sign.
func percent(v float64) string { return fmt.Sprintf("%+.1f%%", math.Round(1000*v)/10+0) }
