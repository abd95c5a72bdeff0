package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"calib/bench"
	"calib/bench/experiments"
	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/exit"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/reports"
	"calib/run/coord"
	"calib/run/plan"
)

// walk measures the schedule, and writes to run.json how that ended.
func (r *run) walk(ctx context.Context, f *fleet, schedule *plan.Schedule, have []dataset.Sample) error {
	steering, err := r.steering(schedule, f)
	if err != nil {
		return err
	}
	spent := r.checked
	switch {
	case len(have) > 0: // a run that is resumed has had its check and its probe
		spent = 0
	case r.Probe != nil:
		spent += r.Probe.Took
	}
	r.Show.Phase("measure")
	measured := make(chan struct{})
	defer close(measured)
	go func() {
		for {
			select {
			case <-time.After(time.Second):
				r.Show.Tick()
			case <-measured:
				return
			}
		}
	}()
	walked, err := coord.Walk(ctx, f.agents, coord.Config{
		Run: r.id, Names: namesOf(f.hosts), Schedule: schedule, Steering: steering, Have: have, Spent: spent,
		Deadline: func(s bench.Slot) units.Nanos { return slotDeadline(schedule, s) },
		Sink:     r.sink.Append,
		Progress: func(p coord.Progress) {
			var label string
			if p.Exp != "" {
				label = fmt.Sprintf("%s, round %d", p.Exp, p.Round+1)
			}
			r.Show.MayEnd(time.Duration(p.Least))
			r.Show.Update(p.Done, 1, time.Duration(p.Spent), label)
		},
		Slot: func(s bench.Slot, took time.Duration) {
			ms := float64(took.Microseconds()) / 1000
			r.log.Debug("slot", "id", s.ID, "round", s.Round, "exp", s.Exp, "ms", ms)
		},
		Note: r.note,
	})
	r.walked, r.state = *walked, Measured
	if steering != nil && len(steering.States()) > 0 {
		said := "targets that are not met: " + steering.Open()
		if walked.TargetsMet {
			said = fmt.Sprintf("all targets are met or beyond reach after %s", units.GroupedPlural(walked.Rounds, "round"))
		}
		r.Show.Note(said)
	}
	return errors.Join(err, r.dir.Update(func(run *rundir.Run) {
		done := r.saved()
		run.Slots = rundir.Slots{Planned: schedule.Planned(), Done: done, Failed: len(walked.Failures)}
		run.Stops, run.Failures, run.Warnings = walked.Stops, r.failures(f.hosts), r.notes
	}))
}

// steering returns nil where there is no target, or no round after the least.
func (r *run) steering(s *plan.Schedule, f *fleet) (*plan.Steering, error) {
	var measured []string
	for _, e := range s.Estimate().ByExp {
		measured = append(measured, e.Name)
	}
	targets := defaultTargets(measured, s.Limits.Hosts, r.Plan.Target)
	if r.Targets != "" {
		var err error
		if targets, err = ParseTargets(r.Targets); err == nil {
			err = targets.check(measured)
		}
		if err != nil {
			return nil, exit.Usagef("--%w", err)
		}
	}
	if len(targets) == 0 || s.MaxRounds() <= s.Rounds {
		return nil, nil
	}
	log := func(text string) { r.log.Info(text) }
	return plan.NewSteering(s, newLook(targets, fit.Settings{}), targets.experiments(), r.header(f), log, time.Now), nil
}

// slotDeadline bounds a slot: what it sends at 100 kB/s, ten times as long as is expected, and time to begin.
func slotDeadline(s *plan.Schedule, slot bench.Slot) units.Nanos {
	d := 30 * units.Second
	e, ok := experiments.Lookup(slot.Exp)
	if !ok {
		return d
	}
	for _, p := range slot.Points {
		c := e.Cost(s.Limits, p)
		d += 10*c.Time + units.Nanos(min(c.Bytes, units.GiB))*10*units.Microsecond
	}
	return min(d, 10*60*units.Second)
}

// leftNotes say what the budget has no room for, one line each.
func leftNotes(s *plan.Schedule) []string {
	var out []string
	if s.Rounds < s.Plan.Rounds.Min {
		rounds := units.GroupedPlural(s.Rounds, "round")
		out = append(out, fmt.Sprintf("the budget has room for %s: intervals need %d", rounds, s.Plan.Rounds.Min))
	}
	return append(out, reports.LeftText(forecast(s))...)
}
