package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"calib/bench"
	"calib/bench/experiments"
	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/exit"
	"calib/internal/lists"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/params"
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
			r.Show.Update(p.Done, 1, time.Duration(p.Spent), label)
		},
		Slot: func(s bench.Slot, took time.Duration) {
			ms := float64(took.Microseconds()) / 1000
			r.log.Debug("slot", "id", s.ID, "round", s.Round, "exp", s.Exp, "ms", ms)
		},
		Note: r.note,
	})
	r.walked, r.measured = *walked, true
	if steering != nil && len(steering.States()) > 0 {
		said, missed := "targets are met after "+units.Plural(walked.Rounds, "round"), steering.Missed()
		switch {
		case !walked.TargetsMet:
			said = "targets not met: " + missed + ". calib explain NAME RUN says why"
		case missed != "":
			said += ", but for those that more rounds cannot meet: " + missed
		}
		r.Show.Note(said)
	}
	return errors.Join(err, r.dir.Update(func(run *rundir.Run) {
		done := r.saved()
		run.Slots = rundir.Slots{Planned: schedule.Planned(), Done: done,
			Failed: lists.Count(walked.Failures, func(f dataset.Failure) bool { return f.Slot != nil })}
		run.Failures, run.Warnings = r.failures(f.hosts), r.notes
	}))
}

// steering returns nil where there is no target, or no round after the least.
func (r *run) steering(s *plan.Schedule, f *fleet) (*plan.Steering, error) {
	measured := lists.Map(s.Estimate().ByExp, func(e plan.ExpForecast) string { return e.Name })
	targets := defaultTargets(measured, s.Limits.Hosts, r.Plan.Target)
	if r.Targets != "" {
		var err error
		if targets, err = ParseTargets(r.Targets, slices.Concat(measured, s.Left)); err != nil {
			return nil, exit.Usagef("--%w", err)
		}
		left := func(exp string) bool { return slices.Contains(s.Left, exp) }
		for _, name := range slices.Sorted(maps.Keys(targets)) {
			exps := needs(name)
			if i := slices.IndexFunc(exps, left); i >= 0 {
				r.note(fmt.Sprintf("no target for %s: there is no time for experiment %s: give more (--budget), or name it "+
					"in --only", name, exps[i]))
				delete(targets, name)
			}
		}
	}
	if len(targets) == 0 || s.MaxRounds() <= s.Rounds {
		return nil, nil
	}
	log := func(text string) { r.log.Info(text) }
	look := newLook(targets, fit.Settings{}, r.opening)
	return plan.NewSteering(s, look, targets.experiments(), r.header(f), log), nil
}

// slotDeadline bounds a slot: what it sends at 100 kB/s, ten times as long as is expected, and time to begin.
func slotDeadline(s *plan.Schedule, slot bench.Slot) units.Nanos {
	d := 30 * units.Second
	e, _ := experiments.Lookup(slot.Exp) // the schedule is made of these
	for _, p := range slot.Points {
		c := e.Cost(s.Limits, p)
		d += 10*c.Time + units.Nanos(min(c.Bytes, units.GiB))*10*units.Microsecond
	}
	return min(d, 10*60*units.Second)
}

// failures are the slots given up, and the hosts and links lost before and during measuring.
func (r *run) failures(list []dataset.Host) []dataset.Failure {
	out := slices.Concat(r.walked.Failures, r.lost)
	for _, h := range slices.Sorted(maps.Keys(r.walked.Lost)) {
		out = append(out, dataset.Failure{Host: list[h].Name, Error: r.walked.Lost[h]})
	}
	byHosts := func(a, b coord.Link) int { return slices.Compare(a[:], b[:]) }
	for _, l := range slices.SortedFunc(maps.Keys(r.walked.Cut), byHosts) {
		out = append(out, dataset.Failure{Link: []string{list[l[0]].Name, list[l[1]].Name}, Error: r.walked.Cut[l]})
	}
	return out
}

// close decides status and exit code from how measuring and fitting ended, and closes the files. A new run that has
// no samples.jsonl leaves no directory. One that could not go on leaves run.json as it was.
func (r *run) close(ctx context.Context, err, unfit error) error {
	interrupted := ctx.Err() != nil || r.walked.Interrupted
	if err != nil && r.sink == nil && r.Resume == "" {
		code := exit.CodeOf(err)
		if interrupted {
			code, err = exit.Interrupted, exit.ErrInterrupted
		}
		err = exit.With(code, errors.Join(err, r.closeLog(), r.dir.Discard()))
		r.dir = nil
		return err
	}
	status, code := rundir.StatusComplete, exit.OK
	switch thin := r.thin(); {
	case interrupted:
		status, code, err = rundir.StatusInterrupted, exit.Interrupted, r.goesOn(exit.ErrInterrupted)
	case !r.begun:
		code, err = exit.CodeOf(err), r.goesOn(err)
	case err != nil && r.saved() == 0:
		status, code = rundir.StatusFailed, exit.CodeOf(err)
	case err != nil:
		status, code, err = rundir.StatusPartial, exit.Partial, r.goesOn(err)
	case r.walked.Partial() || len(r.lost) > 0:
		status, code, err = rundir.StatusPartial, exit.Partial, r.goesOn(r.partial())
	case errors.Is(unfit, ErrReports):
		code, err = exit.Failed, fmt.Errorf("all was measured and fitted, and is saved in %s", r.dir.Path())
	case thin != "":
		status, code, err = rundir.StatusPartial, exit.Partial, r.goesOn(fmt.Errorf("partial: %s", thin))
	case unfit != nil:
		code, err = exit.Failed, fmt.Errorf("all was measured and is saved in %s, but not fitted", r.dir.Path())
	}
	err = errors.Join(err, unfit)
	var end error
	if r.sink != nil {
		end = r.sink.Close() // which may cut off what a failing disk has lost
	}
	if r.begun {
		end = errors.Join(end, r.dir.Seal(), r.dir.Update(func(run *rundir.Run) { run.End(status, code, time.Now()) }))
	}
	r.log.Info("end", "status", r.dir.Run().Status, "exit", code, "err", fmt.Sprint(err))
	err = errors.Join(err, end, r.closeLog(), r.dir.Close())
	return exit.With(cmp.Or(code, exit.Failed), err) // files that cannot be closed are a failure, whatever is in them
}

// thin says why a run in which nothing failed is partial all the same: too much of it was lost to the network, or not
// measured in time.
func (r *run) thin() string {
	switch missing := r.dir.Run().Slots.Missing(); {
	case r.spoilt > params.MaxDiscarded:
		return fmt.Sprintf("%.0f%% of the timings were lost to retransmissions and timeouts, and at most %.0f%% may "+
			"be: find the lossy link first (calib check), then measure again", 100*r.spoilt, 100*params.MaxDiscarded)
	case missing > params.MaxMissing:
		return fmt.Sprintf("%.0f%% of the plan was not measured within the budget, and at most %.0f%% may be missing: "+
			"give more time (--budget)", 100*missing, 100*params.MaxMissing)
	}
	return ""
}

// partial is the error of a run that lacks hosts or slots.
func (r *run) partial() error {
	var parts []string
	for _, f := range r.dir.Run().Failures {
		switch {
		case f.Host != "":
			parts = append(parts, "host "+f.Host+" was lost: "+f.Error)
		case len(f.Link) > 0:
			parts = append(parts, "the link between "+strings.Join(f.Link, " and ")+" was left out: "+f.Error)
		default:
			parts = append(parts, f.Error)
		}
	}
	if len(parts) > 4 {
		parts = append(parts[:4], fmt.Sprintf("and %d more (%s)", len(parts)-4, rundir.RunFile))
	}
	return fmt.Errorf("partial: %s", strings.Join(parts, "; "))
}

// saved counts the slots in samples.jsonl. A run that failed before it was measured has those that it goes on from.
func (r *run) saved() int {
	if r.measured {
		return max(r.held, r.walked.Slots+r.walked.Had)
	}
	d, err := r.dir.Samples()
	if err != nil {
		return 0
	}
	return len(d.Survey().Slots)
}

// goesOn adds to err where the measurements are and how to go on.
func (r *run) goesOn(err error) error {
	n, dir := r.saved(), reports.ShellWord(r.dir.Path())
	if n == 0 {
		return fmt.Errorf("%w; nothing was measured yet", err)
	}
	return fmt.Errorf("%w; %s %s saved. To go on: calib run --resume %s. To fit them: calib fit %[4]s",
		err, units.Plural(n, "slot"), map[bool]string{true: "is", false: "are"}[n == 1], dir)
}
