package loggp

import (
	"math"

	"calib/fit"
	"calib/internal/lists"
	"calib/internal/lsq"
	"calib/internal/plot"
	"calib/params"
)

const (
	// roundTripOff is the share of a round trip by which LogGP may miss it before it is warned of.
	roundTripOff = 0.1
	// ratioSlack is by how much the bounds of eq. 18 may be passed: its two sides are measured apart from each other,
	// and the overheads per byte are in one of them only.
	ratioSlack = 0.05
	// ratioPackets is the longest message, in packets, that eq. 18 is checked for; the ratio is nearest to 3/4 below
	// it.
	ratioPackets = 64
)

// identity compares half of PRTT(1,0,s) of each size within a packet with L + o_s(s) + o_r(s) + gap(s) − gap(1), which
// holds at the smallest size by construction.
func (p *prttData) identity(gap *lsq.Segments, send, receive *busyTime, latency float64) {
	if !fit.Finite(latency) {
		return
	}
	points := params.Series{Name: "PRTT(1,0,s)/2", Quantity: params.HalfRoundTrip, XName: "bytes"}
	worst, at := 0.0, 0.0
	for _, q := range p.gaps {
		if q.bytes > p.packet {
			break
		}
		v, ci := p.times.Of(func(values []float64) float64 { return values[q.one] / 2 })
		points.Add(q.bytes, v, ci,
			latency+send.At(q.bytes)+receive.At(q.bytes)+gap.At(q.bytes)-gap.At(p.gaps[0].bytes), p.times.N[q.one])
		if e := points.Points[len(points.Points)-1].Relative(); math.Abs(e) > math.Abs(worst) {
			worst, at = e, q.bytes
		}
	}
	if len(points.Points) > 0 {
		p.fit.Series = append(p.fit.Series, points)
	}
	if len(points.Points) < 2 {
		p.fit.Note(params.RoundTripOff, "half the round trip was not held against L + o_s + o_r + (s−1)·G: fewer than two "+
			"sizes are within a packet of %g B", p.packet)
		return
	}
	if math.Abs(worst) > roundTripOff {
		p.fit.Add(params.Warnf(params.RoundTripOff, "half the round trip is %s from L + o_s + o_r + (s−1)·G at %g B: "+
			"LogGP does not fit messages within a packet, T(x) does",
			percent(worst), at).With("worst", worst))
		return
	}
	p.fit.Add(params.Notef(params.RoundTripOff, "half the round trip is within %.1f%% of L + o_s + o_r + (s−1)·G at "+
		"every size within a packet", 100*math.Abs(worst)).With("worst", worst))
}

// hyperbola checks eq. 18 of Stoica, Sultan, Keyes 1994, which bounds the times that the two models have for a message
// of n packets by one another,
//
//	3/4 ≤ T_hyp(n)/T_LogGP(n) ≤ 1,  T_hyp = a'²/(a' + (n−1)·b) + (n−1)·b,  T_LogGP = a' + (n−1)·p·G.
//
// a' is half the round trip of the smallest message, p·G the time per packet by the gap, and b that by the slope of
// long round trips, which is other data.
func (p *prttData) hyperbola(gap *lsq.Segments) {
	sizes := sizesOf(p.gaps)
	times := lists.Map(p.gaps, func(q slope) float64 { return p.times.Values[q.one] / 2 })
	from := firstAbove(sizes, p.packet)
	if len(sizes)-from < 2 {
		p.fit.Note(params.Eq18, "LogGP is not compared with the hyperbola: "+
			"fewer than two sizes above a packet of %g B", p.packet)
		return
	}
	l, err := lsq.RelativeLine(sizes[from:], times[from:])
	if err != nil {
		p.fit.Warn(params.Eq18, "LogGP is not compared with the hyperbola: %v", err)
		return
	}
	c := gap.Coef()
	g := c[len(c)-1] * p.packet
	lo, hi := math.Inf(1), math.Inf(-1)
	for n := 1.0; n <= ratioPackets; n++ {
		ratio := params.ServiceTime(n-1, times[0], l.C1*p.packet) / (times[0] + (n-1)*g)
		lo, hi = math.Min(lo, ratio), math.Max(hi, ratio)
	}
	if lo < 0.75-ratioSlack || hi > 1+ratioSlack {
		p.fit.Warn(params.Eq18, "T by hyperbola over T by LogGP, 1 to %d packets: %.3f to %.3f, outside [3/4, 1] (eq. 18): "+
			"the slope of long round trips and the gap per byte are not the same", ratioPackets, lo, hi)
		return
	}
	p.fit.Note(params.Eq18, "T by hyperbola over T by LogGP, 1 to %d packets: %.3f to %.3f, within [3/4, 1] (eq. 18)",
		ratioPackets, lo, hi)
}

func logGPPlots(f *params.Fit) []plot.Plot {
	gap, lines, trips := f.Of(params.Gap), f.Of(params.Overhead), f.Of(params.HalfRoundTrip)
	return []plot.Plot{{
		ID: "loggp-gap", Section: fit.SectionLogGP, Title: "Gap between messages by their size",
		Says: fit.Sentences("g, the gap of 1 byte, is "+fit.ValueWords(f, "g")+" and G, the gap per byte of long messages, "+
			fit.ValueWords(f, "G"), fit.Misses("The function is", gap...)),
		X: fit.SizeAxis(true), Y: fit.TimeAxis("gap", true), Series: fit.SeriesNames(gap), Line: "gap",
		Curves: fit.CostCurves(f, true, gap), Below: true,
	}, {
		ID: "loggp-overheads", Section: fit.SectionLogGP, Title: "Time that sender and receiver are busy with a message",
		Says: fit.Sentences(fit.ParameterWords(f, "o_s"), fit.ParameterWords(f, "o_r"),
			"The sender waits before each send for o_s, the receiver before each receive for o_r"),
		X: fit.SizeAxis(true), Y: fit.TimeAxis("time of a host", false), Curves: fit.CostCurves(f, true, lines),
		Series: fit.SeriesNames(lines),
	}, {
		ID: "loggp-round-trip", Section: fit.SectionLogGP, Title: "Half a round trip beside L + o_s + o_r + (s − 1)·G",
		Says: fit.Sentences("L is "+fit.ValueWords(f, "L")+", from the smallest message; the larger ones show whether the "+
			"sum holds", fit.Misses("The sum is", trips...)),
		X: fit.SizeAxis(false), Y: fit.TimeAxis("half round trip", false), Series: fit.SeriesNames(trips),
		Line: "L + o_s + o_r + (s − 1)·G", Below: true,
	}}
}
