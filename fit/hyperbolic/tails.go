package hyperbolic

import (
	"fmt"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/lsq"
	"calib/internal/plot"
	"calib/internal/stats"
	"calib/params"
)

// Tails are the half round trips of pingpong that one message in a hundred, and one in a thousand, exceeds: p99 and
// p999 [s] of the smallest size, and by size the functions T_p99 and T_p999, of form.Pieces as that of Segmented. A
// quantile is that of all timings of a size, from every pair that is not slow and every round: also of messages whose
// segments were sent again, which other models leave out. Its interval is that of order statistics, of as many
// independent timings as they are worth (resample.WorthOf); a size with too few to have one is left out. Means of
// messages have no such quantile.
//
// Source: David and Nagaraja 2003, Order Statistics, section 7.1; Hoefler and Belli 2015, Scientific Benchmarking of
// Parallel Computing Systems, rule 8.
var Tails = fit.Model{Name: "tails", Needs: []string{names.Pingpong}, Fit: fitTails, Draw: tailsPlots}

var tails = [...]struct {
	name, words string
	p           float64
}{{"p99", "one message in a hundred", 0.99}, {"p999", "one message in a thousand", 0.999}}

// fitTails returns fit.ErrNeeds for fewer than three sizes.
func fitTails(p *fit.Prepared) (*params.Fit, error) {
	r := p.New("tails", names.Pingpong, "David and Nagaraja 2003, section 7.1")
	q, err := r.Timings(3)
	if err != nil {
		return nil, err
	}
	sorted := make([][]float64, len(q.Sizes))
	resample.Each(len(sorted), func(i int) {
		sorted[i] = slices.Concat(q.Rounds[i]...)
		slices.Sort(sorted[i])
	})
	for _, t := range tails {
		s := params.Series{Name: "T_" + t.name + "(x)", Quantity: params.TailTime, XName: "bytes",
			Factors: map[string]float64{"quantile": t.p}}
		label := "time that " + t.words + " of the smallest size exceeds"
		if q.Means {
			r.Unknown(t.name, "s", label, 0, math.Inf(1), "each timing is the mean of many messages, and hides the slow ones")
			continue
		}
		for i, x := range q.Sizes {
			all := sorted[i]
			v := stats.SortedQuantile(all, t.p)
			worth := resample.WorthOf(q.Rounds[i], v)
			ci, ok := resample.SortedQuantileCI(all, t.p, worth)
			switch {
			case ok && i == 0:
				r.Found(t.name, "s", label, v, ci)
			case i == 0:
				few := fmt.Sprintf("an interval needs %d timings; there are %d of %g B", minTimings(t.p), len(all), x)
				if worth < len(all) {
					few += fmt.Sprintf(", which count as %d because rounds differ", worth)
				}
				r.Unknown(t.name, "s", label, stats.SortedQuantile(all, 0.5), math.Inf(1), few)
			}
			if ok {
				s.Add(x, v, ci, v, len(all))
			}
		}
		if len(s.Points) > 0 {
			tailBySize(r, "T_"+t.name, t.words, &s, q)
			r.Series = append(r.Series, s)
		}
	}
	r.Judge(math.NaN(), math.NaN(), r.Series...)
	return r.Fit, nil
}

// minTimings is the least number of timings of which a quantile has an interval: the largest of n exceeds it with a
// probability of 1 − pⁿ.
func minTimings(p float64) int { return int(math.Ceil(math.Log((1-stats.Level)/2) / math.Log(p))) }

// tailBySize fits lines over ranges of the size to a tail, where there are sizes enough, and puts their values into s.
func tailBySize(r *fit.Result, name, words string, s *params.Series, q *fit.Timings) {
	x := lists.Map(s.Points, func(q params.Residual) float64 { return q.X })
	y := lists.Map(s.Points, func(q params.Residual) float64 { return q.Measured })
	seg, err := lsq.FitCurve(x, y, q.Breaks, q.Packet)
	if err != nil {
		return
	}
	fit.SegmentsFunction(r, name, "time that "+words+" exceeds, by its size", x, &resample.Estimates{Values: y}, seg)
	fn := r.Functions[name]
	fn.Status = params.StatusProvisional
	fn.Why = "its lines have no intervals: those of its points are in " + params.PointsFile
	r.Functions[name] = fn
	for i := range s.Points {
		s.Points[i].Fitted = seg.At(s.Points[i].X)
	}
	s.Symbol = name
}

func tailsPlots(f *params.Fit) []plot.Plot {
	series := f.Of(params.TailTime)
	return []plot.Plot{{
		ID: "tails", Section: fit.SectionPingpong, Title: "Slow messages by their size, idle network", X: fit.SizeAxis(true),
		Says: fit.Sentences("One message in a hundred (p99), and one in a thousand (p999), takes longer"),
		Y:    fit.TimeAxis("half round trip", true), Series: fit.SeriesNames(series), Curves: fit.CostCurves(f, true, series),
	}}
}
