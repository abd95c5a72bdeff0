package cluster

import (
	"calib/fit/params"
	"calib/fit/plots"
)

// Plots implements fit.Plotter: the parts on top of each other, beside half the round trip.
func (Stamps) Plots(f *params.Fit) []params.Plot {
	half := f.Named("half(m)")
	if len(half.Points) == 0 {
		return nil
	}
	series := f.Of(params.CostOfSize)
	return []params.Plot{{
		ID: "stamps", Section: plots.Cluster, Title: "Where the time of a message goes",
		Says: plots.Sentences("The parts of a message by the stamps of kernels, each on top of those before it, and half the round trip of the same messages",
			plots.Parameter(f, "stamps_cost")),
		X: plots.SizeAxis(false), Y: plots.TimeAxis("time of a message", false), Series: []string{half.Name}, Line: "sum of the parts", Areas: stackedParts(f),
	}, {
		ID: "stamps-parts", Section: plots.Cluster, Title: "The parts of a message by stamps",
		Says: plots.Sentences("The same parts beside each other, with what a receiver that polls takes and what lies between network interfaces where they are known",
			plots.Functions(f, "stamps_O_s", "stamps_queue", "stamps_L", "stamps_wakeup", "stamps_U_r")),
		X: plots.SizeAxis(false), Y: plots.TimeAxis("time", false), Series: plots.Names(series), Curves: plots.Costs(f, false, series),
	}}
}

// stackedParts are the measured parts as areas, each on top of the one before it.
func stackedParts(f *params.Fit) []params.Curve {
	var out []params.Curve
	var base []float64
	for _, q := range stampParts {
		s := f.Named(q.symbol + "(m)")
		c := params.Curve{Name: q.symbol}
		for i, p := range s.Points {
			if len(base) <= i {
				base = append(base, 0)
			}
			top := base[i] + p.Measured
			c.X, c.Y = append(c.X, p.X), append(c.Y, top)
			c.Lo, c.Hi = append(c.Lo, min(base[i], top)), append(c.Hi, max(base[i], top))
			base[i] = top
		}
		if len(c.X) > 0 {
			out = append(out, c)
		}
	}
	return out
}
