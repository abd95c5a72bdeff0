package measuring

import (
	"slices"
	"time"

	"calib/cmd/calib/internal/command"
	"calib/fit"
	"calib/internal/dataset"
	"calib/run/judge"
	"calib/run/plan"
)

// targetsOf are the targets that a user named, or those of the numbers of record that the schedule gives.
func (d *detail) targetsOf(s *plan.Schedule) (judge.Targets, error) {
	var measured []string
	for _, e := range s.Estimate().ByExp {
		measured = append(measured, e.Name)
	}
	if d.Targets == "" {
		return judge.DefaultTargets(measured, s.Limits.Hosts, d.Plan.Target), nil
	}
	t, err := judge.ParseTargets(d.Targets, judge.Known())
	if err == nil {
		err = t.Check(measured)
	}
	if err != nil {
		return nil, command.Usagef("--%w", err)
	}
	return t, nil
}

// newSteering returns nil where there is no target, or no round after the least.
func (j *job) newSteering(s *plan.Schedule, hosts []dataset.Host) (*plan.Steering, error) {
	targets, err := j.detail.targetsOf(s)
	if err != nil || len(targets) == 0 || s.MaxRounds() <= s.Rounds {
		return nil, err
	}
	run := j.dir.Run()
	header := dataset.Header{Run: run.ID, Seed: run.Seed, Plan: run.Plan, Hosts: slices.Clone(hosts)}
	log := func(text string) { j.log.Info(text) }
	return plan.NewSteering(s, judge.New(targets, fit.Settings{}), targets.Experiments(), header, log, time.Now), nil
}
