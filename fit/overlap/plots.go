package overlap

import (
	"calib/fit"
	"calib/internal/params"
)

// modelPlots are the gain by granularity for each message size, with the model's line and peak; the
// transfer by size, by either thread; and the penalty factor (figure 19).
func modelPlots(f *params.Fit) []params.Plot {
	var out []params.Plot
	model, err := Read(&params.Params{Fits: []*params.Fit{f}, Parameters: f.Parameters, Functions: f.Functions})
	for _, s := range f.Of(params.HidingGain) {
		bytes := s.Factors["bytes"]
		words, n := SizeWords(bytes), namesAt(int64(bytes))
		p := params.Plot{
			ID: "overlap-" + fit.SizeID(int64(bytes)), Section: fit.SectionOverlap, Title: "Gain of computing while messages of " + words + " are under way",
			X: params.Axis{Name: "computation over transfer", Unit: "1", Log: true}, Y: params.Axis{Name: "gain over computing and communicating in turn", Unit: "1"},
			Series: []string{s.Name}, Line: "eq. 4", Marks: fit.Mark(f, n.peak, "largest gain at"), Below: true,
		}
		says := "No gain is largest: see the warnings"
		if _, _, _, ok := f.Parameters[n.gainMax].Ends(); ok {
			says = "A second thread gains most, a factor " + fit.ValueWords(f, n.gainMax) + ", where computing takes " + fit.ValueWords(f, n.peak) + " of the transfer"
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
				p.Curves = fit.Traced(s.Name, fit.Spread(lo, hi, true, gamma), x.Gain, nil, nil)
			}
		}
		out = append(out, p)
	}
	for _, s := range f.Of(params.InTurnTime) {
		bytes := int64(s.Factors["bytes"])
		out = append(out, params.Plot{
			ID: "overlap-in-turn-" + fit.SizeID(bytes), Section: fit.SectionOverlap, Title: "Computing and communicating in turn, messages of " + fit.SizeWords(bytes),
			Says: fit.Sentences("Eq. 4 takes the time of both to be the sum of each alone", fit.Misses("That is", s)),
			X:    params.Axis{Name: "computation over transfer", Unit: "1", Log: true}, Y: params.Axis{Name: "time over the sum of both alone", Unit: "1"},
			Series: []string{s.Name}, Line: "1",
		})
	}
	if times := f.Of(params.ExchangeTime, params.HandedTime); len(times) > 0 {
		out = append(out, params.Plot{
			ID: "overlap-transfer", Section: fit.SectionOverlap, Title: "Transfer both ways at once, by the thread that computes and by a second one",
			Says: fit.Sentences(fit.FunctionWords(f, "t_tr", "t_lh")), X: fit.SizeAxis(true), Y: fit.TimeAxis("transfer", true),
			Series: fit.SeriesNames(times), Line: "c0 + c1·m",
		})
	}
	if factor := f.Of(params.PenaltyFactor); len(factor) > 0 {
		out = append(out, params.Plot{
			ID: "overlap-penalty", Section: fit.SectionOverlap, Title: "Penalty of handing the transfer to a second thread",
			Says: fit.Sentences("The transfer by the second thread over that by the first, without a computation"), X: fit.SizeAxis(true),
			Y: params.Axis{Name: "penalty factor", Unit: "1"}, Series: fit.SeriesNames(factor),
		})
	}
	return out
}
