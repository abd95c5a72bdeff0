package fit

import (
	"fmt"
	"math"
	"slices"

	"calib/internal/units"
)

const (
	seriesArrival = "arrival ratio, "
	seriesProbe   = "B_L by probe"
)

// Plots implements Plotter.
func (Flood) Plots(f *Fit) []Plot {
	var out []Plot
	if series := f.seriesNamed(seriesArrival); len(series) > 0 {
		p := Plot{
			ID: "arrival-ratio", Section: sectionCluster, Title: "Share of a burst of datagrams that arrives",
			Says: f.floodWords(),
			X:    Axis{Name: "datagrams in the burst, k", Log: true}, Y: Axis{Name: "share that arrives"}, Series: series,
			Marks: slices.Concat(f.mark("B_L", "B_L"), f.mark("B_L_tcp", "B_L by TCP")),
		}
		for _, s := range series {
			p.Curves = append(p.Curves, f.kneeCurve(s)...)
		}
		out = append(out, p)
	}
	// One number of senders is a number, not a plot: it is a mark above.
	if lo, hi, ok := f.seriesSpan(seriesProbe); ok && lo < hi {
		out = append(out, Plot{
			ID: "b-l-probe", Section: sectionCluster, Title: "Packets that the port to a receiver holds, by the delay of a probe",
			Says: sentences("The delay that TCP streams of p' senders add to a probe, in packets", f.paramWords("B_L_tcp")),
			X:    Axis{Name: "senders, p'"}, Y: Axis{Name: "packets held", Unit: "packets"}, Series: []string{seriesProbe},
		})
	}
	return out
}

// floodWords says where the port overflows.
func (f *Fit) floodWords() string {
	tcp := ""
	if _, ok := f.Parameters["B_L_tcp"]; ok {
		tcp = "By the delay behind TCP streams, " + f.paramWords("B_L_tcp")
	}
	if _, _, _, ok := f.ends("B_L"); !ok {
		return sentences("All datagrams of a burst arrive until the port to the receiver is full", f.paramWords("B_L"), tcp)
	}
	return sentences("All datagrams of a burst arrive until the port to the receiver is full: "+f.paramWords("B_L"),
		"What leaves the port while the burst lasts moves the knee a little to the right of it", tcp)
}

// kneeCurve draws the fit of one group of bursts: the knee fitted anew to the ratios measured, of which the fit holds no
// parameters, at bursts of equal parts from every sender.
func (f *Fit) kneeCurve(series string) []Curve {
	var bytes, senders int64
	if _, err := fmt.Sscanf(series, seriesArrival+"m=%d, p'=%d", &bytes, &senders); err != nil || senders < 1 {
		return nil
	}
	var k, received []float64
	for _, r := range f.Residuals {
		if r.Series == series && r.X > 0 && finite(r.X*r.Measured) {
			k, received = append(k, r.X), append(received, r.X*r.Measured)
		}
	}
	if len(k) < 3 || !slices.IsSorted(k) {
		return nil
	}
	q, err := fitKnee(k, received, float64(senders))
	if err != nil {
		return nil
	}
	var x []float64
	for _, v := range spread(k[0], k[len(k)-1], true) {
		x = append(x, math.Max(1, math.Round(v/float64(senders)))*float64(senders))
	}
	// B − ½ + rho·(k − p') = k where the port overflows first.
	knee := (q.c - q.rho*float64(senders)) / (1 - q.rho)
	if knee > x[0] && knee < x[len(x)-1] {
		x = append(x, rounded(knee))
	}
	slices.Sort(x)
	return traced(series, slices.Compact(x), func(v float64) float64 {
		return math.Min(1, (q.c+q.rho*math.Max(0, v-float64(senders)))/v)
	}, nil, nil)
}

// mark marks a parameter that is an x of the plot.
func (f *Fit) mark(name, label string) []Mark {
	v, lo, hi, ok := f.ends(name)
	if !ok {
		return nil
	}
	m := Mark{X: v, Label: label + " " + units.Format(v, f.Parameters[name].Unit)}
	if lo < hi {
		m.Lo, m.Hi = lo, hi
	}
	return []Mark{m}
}
