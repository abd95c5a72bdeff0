package buffer

import (
	"math"
	"slices"

	"calib/fit"
	"calib/internal/params"
)

func bufferPlots(f *params.Fit) []params.Plot {
	var out []params.Plot
	if series := f.Of(params.ArrivalRatio); len(series) > 0 {
		p := params.Plot{
			ID: "arrival-ratio", Section: fit.SectionCluster, Title: "Share of a burst of datagrams that arrives",
			Says: describe(f),
			X:    params.Axis{Name: "datagrams in the burst, k", Log: true}, Y: params.Axis{Name: "share that arrives"}, Series: fit.SeriesNames(series),
			Marks: slices.Concat(fit.Mark(f, "B_L", "B_L"), fit.Mark(f, "B_L_tcp", "B_L by TCP")),
		}
		for _, s := range series {
			p.Curves = append(p.Curves, kneeCurve(s)...)
		}
		out = append(out, p)
	}
	// One number of senders is a number, not a plot: it is a mark above.
	probes := f.Of(params.ProbedBuffer)
	if lo, hi, ok := params.Span(probes...); ok && lo < hi {
		out = append(out, params.Plot{
			ID: "b-l-probe", Section: fit.SectionCluster, Title: "Packets that the port to a receiver holds, by the delay of a probe",
			Says: fit.Sentences("The delay that TCP streams of p' senders add to a probe, in packets", fit.ParameterWords(f, "B_L_tcp")),
			X:    params.Axis{Name: "senders, p'"}, Y: params.Axis{Name: "packets held", Unit: "packets"}, Series: fit.SeriesNames(probes),
		})
	}
	return out
}

// describe says where the port overflows.
func describe(f *params.Fit) string {
	tcp := ""
	if _, ok := f.Parameters["B_L_tcp"]; ok {
		tcp = "By the delay behind TCP streams, " + fit.ParameterWords(f, "B_L_tcp")
	}
	if _, _, _, ok := f.Parameters["B_L"].Ends(); !ok {
		return fit.Sentences("All datagrams of a burst arrive until the port to the receiver is full", fit.ParameterWords(f, "B_L"), tcp)
	}
	return fit.Sentences("All datagrams of a burst arrive until the port to the receiver is full: "+fit.ParameterWords(f, "B_L"),
		"What leaves the port while the burst lasts moves the knee a little to the right of it", tcp)
}

// kneeCurve draws the fit of one group of bursts: the knee fitted anew to the ratios measured, of which the fit holds
// no parameters, at bursts of equal parts from every sender.
func kneeCurve(s params.Series) []params.Curve {
	senders := s.Factors["senders"]
	var k, received []float64
	for _, r := range s.Points {
		if r.X > 0 && fit.Finite(r.X*r.Measured) {
			k, received = append(k, r.X), append(received, r.X*r.Measured)
		}
	}
	if senders < 1 || len(k) < 3 || !slices.IsSorted(k) {
		return nil
	}
	q, err := fitKnee(k, received, senders)
	if err != nil {
		return nil
	}
	var x []float64
	for _, v := range fit.Spread(k[0], k[len(k)-1], true) {
		x = append(x, math.Max(1, math.Round(v/senders))*senders)
	}
	// B − ½ + rho·(k − p') = k where the port overflows first.
	knee := (q.c - q.rho*senders) / (1 - q.rho)
	if knee > x[0] && knee < x[len(x)-1] {
		x = append(x, fit.Rounded(knee))
	}
	slices.Sort(x)
	return fit.Traced(s.Name, slices.Compact(x), func(v float64) float64 {
		return math.Min(1, (q.c+q.rho*math.Max(0, v-senders))/v)
	}, nil, nil)
}
