package overlap

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/interp"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/lsq"
	"calib/internal/plot"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

// Model is communication latency hiding, from experiment overlap:
//
//	r_op                  rate of the control computation [steps/s]
//	t_tr(m)               transfer of one message, t_cs + m/r_com (eq. 3), by ping-pong [s]
//	t_both(m)             transfer of a message each way at once [s]
//	t_lh(m)               the same, handed to a second thread [s]
//	gamma_h, i_cs         r_op/r_com [steps/B] and t_cs·r_op [steps]
//
// and, for each message size <M> (such as 64KiB) at which the granularity was swept, the parameters of Fixed:
//
//	exchange_<M>          transfer both ways at once, by the thread that computes [s]
//	both_ways_gain_<M>    two messages one after the other, by ping-pong, over both at once (figure 20)
//	f_<M>                 fraction of the computation that hides communication
//	hiding_overhead_<M>   what handing over costs the thread that computes, for each message [s]
//	Omega_<M>             the same over the computation, where the gain is largest
//	penalty_<M>           transfer by the second thread over that by the first
//	gain_max_<M>          largest gain, at granularity gamma_peak_<M> = t_calc/t_com, which is
//	work_peak_<M>         steps of computation for each message
//
// Measured gains are ratios of steps in turn (I.1) to steps with a second thread (I.3), the model's by eq. 4 with these
// parameters. f and the overhead are fitted to the times of I.3 alone, the penalty is measured without computing: no
// gain is fitted, and none of the times of I.1. Source: Strumpen 1994, eq. 1 to 6, figures 19 to 21.
var Model = fit.Model{Name: names.Overlap, Needs: []string{names.Overlap}, Fit: fitModel, Draw: modelPlots}

// fitModel returns fit.ErrNeeds without a transfer.
func fitModel(p *fit.Prepared) (*params.Fit, error) {
	d := &data{Result: p.New(names.Overlap, names.Overlap, "Strumpen 1994 eq. 3, 4")}
	used := d.read()
	if len(d.sizes(direct)) == 0 {
		return nil, fit.Needs("no transfer without loss")
	}
	d.Account(used)
	var err error
	if d.est, err = fit.Resample(d.Result, &d.table, "no transfer without loss"); err != nil {
		return nil, err
	}
	d.transfers()
	d.penalties()
	var judged []params.Series
	for _, bytes := range d.sizes(timeRatio) {
		if s, ok := d.hiding(bytes); ok {
			judged = append(judged, s)
		}
	}
	for _, s := range p.Samples(names.Overlap, names.PhaseSkipped) {
		if len(s.NS) == 0 { // another program's
			continue
		}
		d.Count(1, "points", func(n int) params.Finding {
			return params.Notef("steps-skipped", "%d batches were not measured because they would take too long (such as %s "+
				"of computation at granularity %d%% for %d B)", n, units.Format(float64(s.NS[0])*1e-9, "s"),
				s.Point[names.FactorGranularity], s.Point[names.FactorBytes])
		})
	}
	d.judge(judged)
	d.crowded(p)
	return d.Fit, nil
}

// transfers records r_op, the transfers by size, and what eq. 3 makes of those of one message.
func (d *data) transfers() {
	_, steps := d.bySize(stepTime)
	rate := func(v []float64) float64 { return 1 / stats.Mean(resample.Pick(v, steps)) }
	if len(steps) > 0 {
		v, ci := d.est.Of(rate)
		d.Found("r_op", "steps/s", "rate of the control computation of a host", v, ci)
	}
	for _, q := range []struct {
		name, label string
		quantity    params.Quantity
		kind        kind
	}{
		{"t_both", "transfer of a message each way at once", params.ExchangeTime, direct},
		{"t_lh", "transfer of a message each way at once by a second thread", params.HandedTime, handed},
	} {
		x, points := d.bySize(q.kind)
		d.line(q.name, q.label, q.quantity, x, d.est.Select(points))
	}
	const why = "it needs ping-pong at two sizes from the smallest to the largest of experiment overlap"
	both, points := d.bySize(direct)
	way, err := d.Prepared.Pingpong(d.Model, 2)
	var x []float64
	var at []int
	if err == nil {
		for i, m := range way.Sizes {
			if m >= both[0] && m <= both[len(both)-1] {
				x, at = append(x, m), append(at, i)
			}
		}
		d.bothWays(way, both, points)
	}
	var line lsq.Line
	var lines []lsq.Line
	if len(x) > 1 {
		line, lines = d.line("t_tr", "transfer of one message (eq. 3)", params.Time, x, way.Times.Select(at))
	}
	for _, q := range []struct {
		name, unit, label string
		of                func(lsq.Line) float64 // γ_h/r_op = 1/r_com, i_cs/r_op = t_cs
	}{
		{"gamma_h", "steps/B", "hardware granularity: steps of computation in the time of a byte",
			func(l lsq.Line) float64 { return l.C1 }},
		{"i_cs", "steps", "steps of computation in the startup time of a transfer",
			func(l lsq.Line) float64 { return l.C0 }},
	} {
		if line.C1 <= 0 || len(steps) == 0 {
			d.Unknown(q.name, q.unit, q.label, 0, math.Inf(1), why)
			continue
		}
		var drawn [][]float64
		for k, v := range d.est.Replicates {
			if len(lines) > 0 {
				drawn = append(drawn, []float64{rate(v) * q.of(lines[k%len(lines)])})
			}
		}
		v := rate(d.est.Values) * q.of(line)
		d.Found(q.name, q.unit, q.label, v, d.est.Interval(v, drawn, 0))
	}
}

// bothWays records what sending both ways at once gains at the swept sizes, over ping-pong of the same size. Between
// two of its sizes T is a line.
func (d *data) bothWays(way *fit.Pingpong, both []float64, points []int) {
	for _, m := range d.sizes(timeRatio) {
		i := points[slices.Index(both, float64(m))]
		gain := func(times, v []float64) float64 {
			var t interp.PiecewiseLinear
			if float64(m) < way.Sizes[0] || float64(m) > way.Sizes[len(way.Sizes)-1] || t.Fit(way.Sizes, times) != nil {
				return math.NaN()
			}
			return 2 * t.Predict(float64(m)) / v[i]
		}
		v := gain(way.Times.Values, d.est.Values)
		if math.IsNaN(v) {
			continue
		}
		var drawn [][]float64
		for k, r := range d.est.Replicates {
			if n := len(way.Times.Replicates); n > 0 {
				drawn = append(drawn, []float64{gain(way.Times.Replicates[k%n], r)})
			}
		}
		d.Found(named("both_ways_gain", m), "1", "two messages of "+fit.SizeWords(m)+
			" one after the other, over both at once", v, d.est.Interval(v, drawn, 0))
	}
}

// line records times by size, and a line through them as a function where there are two sizes.
func (d *data) line(name, label string, quantity params.Quantity, x []float64,
	times *resample.Estimates) (line lsq.Line, drawn []lsq.Line) {
	if len(x) == 0 {
		return line, nil
	}
	s := params.Series{Name: name + "(m)", Quantity: quantity, XName: "bytes"}
	fitted := func(y []float64) (lsq.Line, error) { return lsq.RelativeLine(x, y) }
	line, err := fitted(times.Values)
	if len(x) < 2 || err != nil {
		d.AddSeries(s, x, times, nil)
		return lsq.Line{}, nil
	}
	drawn = resample.Map(times.Replicates, fitted)
	fn := d.Function(params.Line, label, map[string][2]float64{"m": {x[0], x[len(x)-1]}})
	numbers := func(l lsq.Line) []float64 { return []float64{l.C0, l.C1} }
	v, _, ci, off := fit.Uncertain(times, line, drawn, numbers, func(i int) float64 { return line.At(x[i]) }, 2, fitted)
	for j, name := range []string{"c0", "c1"} {
		fn.Set(name, v[j], fit.Add(v[j], ci[j], off[j]))
	}
	d.Functions[name], s.Symbol = fn, name
	d.AddSeries(s, x, times, line.At)
	return line, drawn
}

// bySize are the message sizes of a kind, ascending, and its points.
func (d *data) bySize(kind kind) (sizes []float64, points []int) {
	of := d.sizes(kind)
	return lists.Map(of, func(b int64) float64 { return float64(b) }),
		lists.Map(of, func(b int64) int { return d.table.Index[key{kind, b, 0}] })
}

// penalties records the penalty factor by size (figure 19).
func (d *data) penalties() {
	if x, points := d.bySize(penalty); len(x) > 0 {
		d.AddSeries(params.Series{Name: "penalty(m)", Quantity: params.PenaltyFactor, XName: "bytes", Unit: "1"}, x,
			d.est.Select(points), nil)
	}
}

// judge states how far the gains of the model are from those measured.
func (d *data) judge(gains []params.Series) {
	if len(gains) == 0 {
		d.JudgeTable()
		return
	}
	d.Judge(math.NaN(), math.NaN(), gains...)
	mean, worst, _ := params.Misfit(gains...)
	d.Add(params.Notef("gain-misfit", "the gain by eq. 4 is off the measured gain by %.1f%% on average, and by %.1f%% "+
		"at worst", 100*mean, 100*worst).With("mean", mean).With("worst", worst))
}

// modelPlots are the gain by granularity for each message size, with the model's line and peak; the
// transfer by size, by either thread; and the penalty factor (figure 19).
func modelPlots(f *params.Fit) []plot.Plot {
	var out []plot.Plot
	over := plot.Axis{Name: "computation over transfer", Unit: "1", Log: true}
	model, err := Read(&params.Params{Fits: []*params.Fit{f}, Parameters: f.Parameters, Functions: f.Functions})
	for _, s := range f.Of(params.HidingGain) {
		bytes := s.Factors["bytes"]
		words, peak, most := SizeWords(bytes), named("gamma_peak", int64(bytes)), named("gain_max", int64(bytes))
		p := plot.Plot{
			ID: "overlap-" + fit.SizeID(int64(bytes)), Section: fit.SectionOverlap, Marks: fit.Mark(f, peak, "largest gain at"),
			Title: "Gain of computing while messages of " + words + " are under way", Series: []string{s.Name}, Line: "eq. 4",
			X: over, Y: plot.Axis{Name: "gain over computing and communicating in turn", Unit: "1"}, Below: true,
		}
		says := "No gain is largest: see the warnings"
		if _, _, _, ok := f.Parameters[most].Ends(); ok {
			says = "A second thread gains most, a factor " + fit.ValueWords(f, most) + ", where computing takes " +
				fit.ValueWords(f, peak) + " of the transfer"
		}
		p.Says = fit.Sentences(says, fit.Misses("Eq. 4 is", s))
		for _, first := range f.Of(params.SendFirstGain) {
			if first.Factors["bytes"] == bytes {
				p.Series = append(p.Series, first.Name)
			}
		}
		if lo, hi, ok := params.Span(s); ok && err == nil {
			if x, size := model.Near(bytes); size == bytes {
				gamma, _, _ := x.Peak()
				p.Curves = fit.Traced(s.Name, fit.Spread(lo, hi, true, gamma), x.Gain, x.Gain, x.Gain)
			}
		}
		out = append(out, p)
	}
	for _, s := range f.Of(params.InTurnTime) {
		bytes := int64(s.Factors["bytes"])
		out = append(out, plot.Plot{
			ID: "overlap-in-turn-" + fit.SizeID(bytes), Section: fit.SectionOverlap, Series: []string{s.Name}, Line: "1",
			Title: "Computing and communicating in turn, messages of " + fit.SizeWords(bytes),
			Says:  fit.Sentences("Eq. 4 takes the time of both to be the sum of each alone", fit.Misses("That is", s)),
			X:     over, Y: plot.Axis{Name: "time over the sum of both alone", Unit: "1"},
		})
	}
	return append(out, plot.Plot{
		ID: "overlap-transfer", Section: fit.SectionOverlap,
		Title: "Transfer of one message, and both ways at once by the thread that computes and by a second one",
		Says:  fit.Sentences(fit.FunctionWords(f, "t_tr", "t_both", "t_lh")),
		X:     fit.SizeAxis(true), Y: fit.TimeAxis("transfer", true),
		Series: fit.SeriesNames(f.Of(params.Time, params.ExchangeTime, params.HandedTime)), Line: "c0 + c1·m",
	}, plot.Plot{
		ID: "overlap-penalty", Section: fit.SectionOverlap, X: fit.SizeAxis(true),
		Title: "Penalty of handing the transfer to a second thread", Y: plot.Axis{Name: "penalty factor", Unit: "1"},
		Says:   fit.Sentences("The transfer by the second thread over that by the first, without a computation"),
		Series: fit.SeriesNames(f.Of(params.PenaltyFactor)),
	})
}
