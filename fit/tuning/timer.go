package tuning

import (
	"math"
	"slices"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/params"
	"calib/internal/stats"
)

// Timer is the instrument: timer_cost [s], one reading of the clock, which every timing includes once, as the median
// over blocks of calls in a row; and timer_resolution [s], the smallest step the clock was seen to take, as the median
// over hosts and rounds. Clock offsets between hosts that were found on the way are summed up in a note.
var Timer = fit.Model{Name: "timer", Needs: []string{names.Clock}, Fit: fitTimer}

// fitTimer returns fit.ErrNeeds without blocks of calls.
func fitTimer(p *fit.Prepared) (*params.Fit, error) {
	r := p.New("timer", names.Clock, "median over blocks of calls")
	var t resample.Table[string]
	blocks := r.Usable(p.LineBatches(names.Clock, names.PhaseCost))
	for i := range blocks {
		b := &blocks[i]
		calls := b.Lines[0].Aux[names.AuxCalls]
		if !(calls >= 1) {
			continue
		}
		v := fit.Seconds(b.Lines[0].NS)
		for k := range v {
			v[k] /= calls
		}
		t.AddTeam(t.OneWay(names.PhaseCost), b.Team(), 0, b.Round, b.Timings(), v...)
	}
	if t.Len() == 0 {
		return nil, fit.Needs("no blocks of clock readings")
	}
	steps := r.Usable(p.LineBatches(names.Clock, names.PhaseStep))
	for i := range steps {
		b := &steps[i]
		t.AddTeam(t.OneWay(names.PhaseStep), b.Team(), 0, b.Round, b.Timings(), float64(slices.Min(b.Lines[0].NS))*1e-9)
	}
	r.Account(blocks, steps)
	est, err := fit.Draw(r, &t)
	if err != nil {
		return nil, err
	}
	r.Found("timer_cost", "s", "one reading of the clock", est.Values[0], est.Point(0))
	if len(steps) > 0 {
		r.Found("timer_resolution", "s", "smallest step of the clock", est.Values[1], est.Point(1))
	}
	s := params.Series{Name: "timer", Quantity: params.TimerCost, XName: "calls"}
	fit.Tabulate(&s, 1, est, 0)
	r.Series = append(r.Series, s)
	r.Judge(math.NaN(), math.NaN(), s)
	noteOffsets(r, p)
	return r.Fit, nil
}

// noteOffsets sums up how certain the clock offsets between hosts are.
func noteOffsets(r *fit.Result, p *fit.Prepared) {
	var bounds []float64
	for _, o := range p.Samples(names.Clock, names.PhaseOffset) {
		if b := o.Aux[names.AuxBound]; b > 0 && fit.Finite(b) {
			bounds = append(bounds, b*1e-9)
		}
	}
	if len(bounds) > 0 {
		median, worst := stats.Median(bounds), stats.Quantile(bounds, 1)
		r.Add(params.Notef(params.ClockOffsets, "clock offsets between hosts are certain to ± %.3g s (median; ± %.3g s at worst)",
			median, worst).With("median", median).With("worst", worst))
	}
}
