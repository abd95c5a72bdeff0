package measuring

import (
	"slices"

	"calib/bench/experiments"
	"calib/cmd/calib/internal/command"
	"calib/fit/regress"
	"calib/internal/dataset/names"
)

// checkBreaks looks for the sizes that the breaks part, before anything is measured.
func (j *job) checkBreaks() error {
	breaks := j.detail.Fit.Settings(0).Breaks
	if len(breaks) == 0 {
		return nil
	}
	p := j.detail.Plan
	if !slices.Contains(p.Names(experiments.All), names.Pingpong) {
		return command.Usagef("--breaks: the plan does not measure %s, whose times they part", names.Pingpong)
	}
	var sizes []float64
	e, _ := experiments.Lookup(names.Pingpong)
	for _, point := range e.Design(p.LimitsOn(len(j.list))) {
		sizes = append(sizes, float64(point[names.FactorBytes]))
	}
	slices.Sort(sizes)
	if err := regress.CheckBreaks(slices.Compact(sizes), breaks); err != nil {
		return command.Usagef("--breaks: %w; give others, or other --sizes", err)
	}
	return nil
}
