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
	s, err := scheduleOf(j.detail.Plan, len(j.list))
	if err != nil {
		return err
	}
	if !slices.Contains(s.Plan.Names(experiments.All), names.Pingpong) {
		return command.Usagef("--breaks: the plan does not measure %s, whose times they part", names.Pingpong)
	}
	var sizes []float64
	e, _ := experiments.Lookup(names.Pingpong)
	for _, p := range e.Design(s.Limits) {
		sizes = append(sizes, float64(p[names.FactorBytes]))
	}
	slices.Sort(sizes)
	if err := regress.CheckBreaks(slices.Compact(sizes), breaks); err != nil {
		return command.Usagef("--breaks: %w; give others, or other --sizes", err)
	}
	return nil
}
