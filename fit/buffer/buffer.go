// Package buffer estimates B_L, the buffer of the port to one receiver in the cluster model of Tam and Wang. It builds
// on package cluster, whose g_s says how fast a sender fills the port (eq. 3).
package buffer

import (
	"fmt"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/cluster"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/lsq"
	"calib/internal/plot"
	"calib/params"
)

// Buffer estimates B_L, the packets that the port to one receiver holds before it drops, twice and independently:
//
//   - B_L and B_L_bytes by datagrams. Of k datagrams that p' senders send at once, the receiver gets
//
//     min(k, B + x·D/A − ½),  x = k − p',  A and D the rates [1/s] of arrival at the port and of departure from it:
//
//     eq. 4 in counts. The burst lasts (k/p' − 1)·g_s, and (k − p')·D/A packets depart during it. The one under way at
//     its end does not count, which is half a packet on average. Function lasting has x for a k that p' does not
//     divide. B and D/A are fitted; the knee is searched (fitKnee);
//
//   - B_L_tcp by the delay of a probe through the port while TCP streams saturate it, over that when idle (probeBatch).
//
// A buffer counts packets or bytes, and bursts of two sizes tell which (method count). B_L is in packets. Where the
// buffer counts bytes, these are packets of the largest size measured, and B_L_bytes has a value; otherwise it has
// none. Estimates of several sizes and numbers of senders are combined by inverse variance. Where they differ by more
// than their intervals allow, the interval is widened (Birge 1932, Phys. Rev. 40, 207). Packets are counted whole,
// which moves an estimate by up to half a packet: a uniform error of that size is added to every interval in
// quadrature.
//
// A port that never overflowed has a lower bound only. Source: Tam, Wang 2000, eq. 3, 4 and section 3.2.
var Buffer = fit.Model{Name: "cluster-buffer", Needs: []string{names.Flood}, Fit: fitBuffer, Draw: bufferPlots}

const (
	labelBL      = "packets that the port to a receiver holds (datagram bursts)"
	labelBLBytes = "bytes that the port to a receiver holds (datagram bursts)"
	labelBLTCP   = "packets that the port to a receiver holds (delay of a probe behind TCP streams)"

	// agreement is by how much the two methods may differ, whatever their intervals.
	agreement = 0.1
	// wholePacket is the 95% half-width [packets] of the error of counting whole packets, uniform within ± ½: 1.96/√12.
	wholePacket = 0.5658
)

// estimate is a B_L with its replicates.
type estimate struct {
	value float64
	reps  []float64 // by replicate, NaN where it failed
	half  float64   // half-width to add in quadrature
	birge float64   // factor of the half-width of the rest, at least 1
	terms []params.Term
}

type floodData struct {
	fit     *fit.Result
	table   resample.Table[floodKey]
	bursts  []*burstGroup
	full    []*burstGroup  // those that overflowed the port
	held    [][]*fit.Batch // that kept the port full, by size, ascending
	probes  []*probeGroup
	segment float64 // of the streams behind which probes waited [B], 0 where it is not known
	times   *resample.Estimates
	gs      func(m float64) float64 // by experiment gap, nil where it was not run; for checks and bounds only
}

// floodKey is a point of the table: a quantity at a setting.
type floodKey struct {
	what                   byte
	bytes, senders, packet int64
}

// Values in the table.
const (
	floodReceived = 'n' // datagrams received of a burst
	floodGap      = 'g' // interval between their arrivals [s]
	floodHeld     = 'h' // datagrams held by the full port
	floodProbe    = 'p' // B_L of a batch of probes [packets]
)

// fitBuffer returns fit.ErrNeeds without a burst or a batch of probes.
func fitBuffer(prepared *fit.Prepared) (*params.Fit, error) {
	p := &floodData{fit: prepared.New("cluster-buffer", names.Flood, "Tam, Wang 2000 eq. 3, 4")}
	bursts := p.loadBursts()
	held := p.loadHeld()
	probes := p.loadProbes()
	p.fit.Account(bursts, held, probes)
	var err error
	if p.times, err = fit.Resample(p.fit, &p.table, "no burst of datagrams and no probe of a saturated port"); err != nil {
		return nil, err
	}
	p.gs = cluster.SendGap(prepared)
	p.fitBursts()
	p.fitProbes()
	p.agree()
	series := p.burstSeries()
	p.fit.Judge(fit.R2(1, series...), p.condition(), series...)
	p.fit.LeaveOneOut(p.leaveOneOut())
	return p.fit.Fit, nil
}

func (p *floodData) interval(e estimate) [2]float64 {
	ci := resample.IntervalOf(p.times, e.value, e.reps, func(v float64) float64 { return v })
	k := math.Max(1, e.birge)
	return resample.Widen(e.value, [2]float64{e.value - k*(e.value-ci[0]), e.value + k*(ci[1]-e.value)}, e.half)
}

// recorded is the interval of a parameter: one round has none.
func (p *floodData) recorded(e estimate, rounds int) [2]float64 {
	if rounds < 2 {
		return [2]float64{e.value, e.value}
	}
	return p.interval(e)
}

// merge combines estimates of the same quantity by inverse variance. It needs at least one.
func (p *floodData) merge(all []estimate) estimate {
	if len(all) == 1 {
		return all[0]
	}
	w := make([]float64, len(all))
	values := make([]float64, len(all))
	out := estimate{reps: make([]float64, len(all[0].reps))}
	exact := false
	for i, e := range all {
		values[i] = e.value
		ci := p.whole(e)
		half := (ci[1] - ci[0]) / 2
		w[i] = 1 / (half * half)
		out.half = math.Max(out.half, e.half) // neither rounding nor the terms are independent between settings of one port
		out.terms = largest(out.terms, e.terms)
		exact = exact || !fit.Finite(w[i])
	}
	if exact {
		w = slices.Repeat([]float64{1}, len(all))
	}
	out.value = lsq.WeightedMean(values, w)
	chi2 := 0.0
	for i, e := range all {
		chi2 += w[i] * (e.value - out.value) * (e.value - out.value) * resample.HalfWidth(1) * resample.HalfWidth(1)
	}
	if !exact {
		out.birge = math.Sqrt(chi2 / float64(len(all)-1))
	}
	for r := range out.reps {
		var v, wr []float64
		for i, e := range all {
			if fit.Finite(e.reps[r]) {
				v, wr = append(v, e.reps[r]), append(wr, w[i])
			}
		}
		out.reps[r] = lsq.WeightedMean(v, wr) // NaN where all failed
	}
	return out
}

// largest joins two lists of terms: of each name the largest.
func largest(a, b []params.Term) []params.Term {
	out := slices.Clone(a)
	for _, t := range b {
		i := slices.IndexFunc(out, func(o params.Term) bool { return o.Name == t.Name })
		switch {
		case i < 0:
			out = append(out, t)
		case t.U > out[i].U:
			out[i] = t
		}
	}
	return out
}

// scaled is a parameter with a value in another unit.
func scaled(p params.Parameter, by float64) params.Parameter {
	v := *p.Value * by
	p.Value = &v
	if p.CI95 != nil {
		p.CI95 = &[2]float64{p.CI95[0] * by, p.CI95[1] * by}
	}
	return p
}

// agree says whether the two methods find the same buffer. Where the buffer counts bytes, what it holds of the
// datagrams is what it holds of segments only in bytes.
func (p *floodData) agree() {
	a, okA := p.fit.Parameters["B_L"]
	b, okB := p.fit.Parameters["B_L_tcp"]
	if !okA || !okB {
		return
	}
	if bytes := p.fit.Parameters["B_L_bytes"]; bytes.Value != nil && p.segment > 0 {
		a = scaled(bytes, 1/(p.segment+params.SegmentHeaders))
	}
	switch {
	case a.Value != nil && b.Value != nil:
		apart := *b.Value / *a.Value - 1
		overlap := a.CI95 != nil && b.CI95 != nil && a.CI95[0] <= b.CI95[1] && b.CI95[0] <= a.CI95[1]
		text := fmt.Sprintf("B_L by the delay of a probe is %+.1f%% from that by datagrams", 100*apart)
		found := params.Notef("buffer-methods", "%s: the two methods agree", text)
		if !overlap && math.Abs(apart) > agreement {
			found = params.Warnf("buffer-methods", "%s: the two methods do not agree. They may meet different "+
				"bottlenecks, or the buffer counts bytes and their packets differ in size", text)
		}
		p.fit.Add(found.With("difference", apart))
	case a.Value != nil && b.Bound != nil && b.Bound[0] > (1+agreement)**a.Value:
		p.fit.Warn("buffer-methods", "TCP streams filled the port with %.4g packets without loss, "+
			"more than B_L by datagrams", b.Bound[0])
	case b.Value != nil && a.Bound != nil && a.Bound[0] > (1+agreement)**b.Value:
		p.fit.Warn("buffer-methods", "a burst of datagrams filled the port with %.4g packets without loss, "+
			"more than B_L by TCP", a.Bound[0])
	}
}

func bufferPlots(f *params.Fit) []plot.Plot {
	ratios, probes := f.Of(params.ArrivalRatio), f.Of(params.ProbedBuffer)
	if lo, hi, _ := params.Span(probes...); !(lo < hi) {
		probes = nil // one number of senders is a number, not a plot: it is a mark
	}
	return []plot.Plot{{
		ID: "arrival-ratio", Section: fit.SectionCluster, Title: "Share of a burst of datagrams that arrives",
		Says: describe(f), Series: fit.SeriesNames(ratios),
		X: plot.Axis{Name: "datagrams in the burst, k", Log: true}, Y: plot.Axis{Name: "share that arrives"},
		Marks: slices.Concat(fit.Mark(f, "B_L", "B_L"), fit.Mark(f, "B_L_tcp", "B_L by TCP")),
	}, {
		ID: "b-l-probe", Section: fit.SectionCluster, Series: fit.SeriesNames(probes),
		Title: "Packets that the port to a receiver holds, by the delay of a probe", Says: fit.Sentences(
			"The delay that TCP streams of p' senders add to a probe, in packets", fit.ParameterWords(f, "B_L_tcp")),
		X: plot.Axis{Name: "senders, p'"}, Y: plot.Axis{Name: "packets held", Unit: "packets"},
	}}
}

// describe says where the port overflows.
func describe(f *params.Fit) string {
	tcp := ""
	if _, ok := f.Parameters["B_L_tcp"]; ok {
		tcp = "By the delay behind TCP streams, " + fit.ParameterWords(f, "B_L_tcp")
	}
	const full = "All datagrams of a burst arrive until the port to the receiver is full"
	if _, _, _, ok := f.Parameters["B_L"].Ends(); !ok {
		return fit.Sentences(full, fit.ParameterWords(f, "B_L"), tcp)
	}
	return fit.Sentences(full+": "+fit.ParameterWords(f, "B_L"),
		"Packets leave during the burst, so that the curve bends slightly above it", tcp)
}
