package fit

import (
	"fmt"
	"math"
	"strconv"

	"calib/internal/lsq"
)

// seriesGap is the residual series that the quality of LogGP is stated of.
const seriesGap = "gap(s)"

// straight is the relative residual within which one line stands for gap at all sizes.
const straight = 0.05

// gapFit is gap(s): a line, or segments.
type gapFit struct {
	line      line
	seg       *lsq.Segments // nil for a line
	condition float64
}

func (g *gapFit) at(s float64) float64 {
	if g.seg != nil {
		return g.seg.Predict(s)
	}
	return g.line.at(s)
}

// coefficients are c0 and c1 of each part in turn.
func (g *gapFit) coefficients() []float64 {
	if g.seg == nil {
		return []float64{g.line.c0, g.line.c1}
	}
	var out []float64
	for _, s := range g.seg.Segments {
		out = append(out, s.Intercept, s.Slope)
	}
	return out
}

// gapOf fits gap(s) to relative residuals: one line where it is within 5% of every value, and segments otherwise, where
// there are enough sizes for two.
func gapOf(sizes, values []float64) (*gapFit, error) {
	l, sol, err := fitLine(sizes, values, nil)
	if err != nil {
		return nil, err
	}
	g := &gapFit{line: l, condition: sol.Cond}
	worst := 0.0
	for i, s := range sizes {
		worst = math.Max(worst, math.Abs(l.at(s)/values[i]-1))
	}
	if worst <= straight {
		return g, nil
	}
	w, err := lsq.RelativeWeights(values)
	if err != nil {
		return nil, err
	}
	opt := lsq.SegmentOptions{AllowFlat: true}
	if len(sizes) < 6 { // too few for two segments of three
		opt.Max, opt.MinDistinct = 2, 2
	}
	if seg, err := lsq.Segmented(sizes, values, w, opt); err == nil && len(seg.Segments) > 1 {
		g.seg = seg
	}
	return g, nil
}

// fitGap fits gap(s) and records it with g and G.
func (p *prttData) fitGap() (*gapFit, error) {
	sizes, values := sizesOf(p.gaps), slopesAt(p.gaps, p.times.values)
	g, err := gapOf(sizes, values)
	if err != nil {
		return nil, err
	}
	each := p.times.apply(func(v []float64) ([]float64, error) { return slopesAt(p.gaps, v), nil })
	var reps [][]float64
	for _, y := range each {
		if c, err := g.refit(sizes, y); err == nil {
			reps = append(reps, append(c, c[0]+c[1])) // the last is g
		}
	}
	c := g.coefficients()
	small, long := c[0]+c[1], c[len(c)-1]
	p.fit.found("g", "s", "gap between messages of 1 byte", small, p.times.interval(small, reps, len(c)))
	p.fit.found("G", "s/B", "gap per byte of a long message", long, p.times.interval(long, reps, len(c)-1))
	if long <= 0 {
		p.fit.warn("G is not positive: the gap does not grow with the size")
	}
	if g.seg == nil {
		p.function("gap", "gap between messages by their size", g.line, reps, sizes)
	} else {
		p.segmentsFunction(g.seg, reps)
		p.fit.note("gap(s) is not one line within 5%%: %d segments by BIC; g is of the first, G of the last", len(g.seg.Segments))
	}
	for i, s := range sizes {
		ci := p.times.interval(values[i], each, i)
		r := Residual{Series: seriesGap, X: s, XName: "bytes", Measured: values[i], Lo: ci[0], Hi: ci[1], Fitted: g.at(s),
			N: p.times.n[p.gaps[i].one] + p.times.n[p.gaps[i].many]}
		if e := math.Abs(r.Relative()); g.seg == nil && e > straight {
			p.fit.warn("gap(s) is not a line, and too few sizes were measured for segments: %.0f%% off at %g bytes", 100*e, s)
		}
		p.fit.Residuals = append(p.fit.Residuals, r)
	}
	return g, nil
}

// refit returns the coefficients for other values, between the same breaks.
func (g *gapFit) refit(sizes, values []float64) ([]float64, error) {
	if g.seg != nil {
		return withinBreaks(sizes, values, g.seg)
	}
	l, _, err := fitLine(sizes, values, nil)
	return []float64{l.c0, l.c1}, err
}

// function records a line by size; reps hold c0 and c1 first.
func (p *prttData) function(name, label string, l line, reps [][]float64, sizes []float64) {
	p.addFunction(name, Function{
		Form: LineForm, Unit: "s", Label: label,
		Coeff:  map[string]float64{"c0": l.c0, "c1": l.c1},
		CI95:   map[string][2]float64{"c0": p.times.interval(l.c0, reps, 0), "c1": p.times.interval(l.c1, reps, 1)},
		Domain: map[string][2]float64{"m": {sizes[0], sizes[len(sizes)-1]}},
	})
}

// segmentsFunction records function "gap" in the form of Segmented.
func (p *prttData) segmentsFunction(seg *lsq.Segments, reps [][]float64) {
	first, last := seg.Segments[0], seg.Segments[len(seg.Segments)-1]
	fn := Function{Form: SegmentsForm, Unit: "s", Label: "gap between messages by their size", Coeff: map[string]float64{},
		CI95: map[string][2]float64{}, Domain: map[string][2]float64{"bytes": {first.Lo, last.Hi}}}
	from := append([]float64{0}, seg.Breaks()...)
	for i, s := range seg.Segments {
		name := "_" + strconv.Itoa(i+1)
		fn.Coeff["from"+name], fn.Coeff["c0"+name], fn.Coeff["c1"+name] = from[i], s.Intercept, s.Slope
		fn.CI95["c0"+name] = p.times.interval(s.Intercept, reps, 2*i)
		fn.CI95["c1"+name] = p.times.interval(s.Slope, reps, 2*i+1)
		fn.Domain["bytes"+name] = [2]float64{s.Lo, s.Hi}
	}
	p.addFunction("gap", fn)
}

func (p *prttData) addFunction(name string, fn Function) {
	fn.Model, fn.Source = p.fit.Model, p.fit.Source
	if p.fit.Functions == nil {
		p.fit.Functions = map[string]Function{}
	}
	p.fit.Functions[name] = fn
}

// smallestRoundTrip is PRTT(1,0,s) [s] of the smallest size.
func (p *prttData) smallestRoundTrip() float64 { return p.times.values[p.gaps[0].one] }

// latency records L.
func (p *prttData) latency(send, receive *busyTime) float64 {
	const label = "time of a message of 1 byte in the network, without the overheads of both ends"
	first := p.gaps[0]
	if first.bytes > 1 {
		p.fit.note("L, o_s and o_r are taken from a round trip of %g bytes, the smallest measured", first.bytes)
	}
	half := p.smallestRoundTrip() / 2
	if send == nil || receive == nil {
		p.fit.unknown("L", "s", label, 0, half, "the overheads were not measured: half a round trip holds them too")
		return math.NaN()
	}
	v := half - send.at(first.bytes) - receive.at(first.bytes)
	reps := make([][]float64, 0, len(p.times.replicates))
	for i, r := range p.times.replicates {
		o, q := send.reps[i], receive.reps[i]
		reps = append(reps, []float64{r[first.one]/2 - o[0] - q[0] - (o[1]+q[1])*first.bytes})
	}
	p.fit.found("L", "s", label, v, p.times.interval(v, reps, 0))
	if v <= 0 {
		p.fit.warn("L is not positive: the overheads take up the whole round trip")
	}
	return v
}

// percent writes a relative difference; one that rounds to zero has no minus sign.
func percent(v float64) string { return fmt.Sprintf("%+.1f%%", math.Round(1000*v)/10+0) }
