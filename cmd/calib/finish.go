package main

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/progress"
	"calib/internal/rundir"
	"calib/reports"
)

// longPlan is the forecast above which a person at a terminal is asked first.
const longPlan = 20 * time.Minute

// confirm asks before long work, at a terminal and without --yes.
func (j *job) confirm(s *bench.Schedule) error {
	f, err := forecast(s)
	if err != nil {
		return err
	}
	long := time.Duration(f.MinutesLo*float64(time.Minute)) > longPlan
	if !long || j.c.Bool("yes") || j.c.Bool("json") || !progress.IsTerminal(os.Stdin) {
		return nil
	}
	if err := reports.PlanText(j.c.App.ErrWriter, f, reports.Options{}); err != nil {
		return err
	}
	fmt.Fprint(j.c.App.ErrWriter, "Go on? [y/N] ")
	answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil || !strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y") {
		return usagef("not started; --plan quick is shorter, --yes does not ask")
	}
	return nil
}

// record writes how the walk ended into run.json.
func (j *job) record(s *bench.Schedule, stopper *bench.Stopper, infos []dataset.Host) error {
	if j.result == nil {
		return nil
	}
	return j.dir.Update(func(r *rundir.Run) {
		r.Slots = rundir.Slots{Planned: s.Slots() * s.Plan.Rounds.Min, Done: j.result.Slots + j.result.Had, Failed: len(j.result.Failures)}
		r.Stops = stops(stopper)
		r.Failures = j.failures(infos)
		r.Warnings = j.notes
	})
}

// stops are the summary's entries for run.json: those of keys that were measured to a goal.
func stops(t *bench.Stopper) []dataset.Stop {
	return slices.DeleteFunc(t.Summary(), func(s dataset.Stop) bool { return s.Reason == dataset.StopFree })
}

// failures are the slots given up and the hosts lost, before measuring and while.
func (j *job) failures(infos []dataset.Host) []dataset.Failure {
	out := slices.Clone(j.result.Failures)
	for _, l := range j.lost {
		out = append(out, dataset.Failure{Host: l.name, Error: l.err.Error()})
	}
	for _, h := range slices.Sorted(maps.Keys(j.result.Lost)) {
		out = append(out, dataset.Failure{Host: infos[h].Name, Error: j.result.Lost[h]})
	}
	return out
}

// finish decides status and exit code of a measuring run from how it ended, and closes its files.
func (j *job) finish(err error) error {
	j.show.Done()
	if j.dir == nil {
		return err
	}
	status, code := rundir.StatusComplete, exitOK
	switch {
	case j.interrupted(err):
		status, code, err = rundir.StatusInterrupted, exitInterrupted, j.saved(errInterrupted)
	case err != nil:
		status, code = rundir.StatusFailed, codeOf(err)
		if j.savedSlots() > 0 {
			status, code, err = rundir.StatusPartial, exitPartial, j.saved(err)
		}
	case j.result.Partial() || len(j.lost) > 0:
		status, code, err = rundir.StatusPartial, exitPartial, j.saved(j.partial())
	case j.unfit != nil:
		code, err = exitFailed, fmt.Errorf("all was measured and is saved in %s, but not fitted", j.dir.Path())
	}
	if j.unfit != nil {
		err = errors.Join(err, j.unfit)
	}
	end := j.dir.Update(func(r *rundir.Run) { r.End(status, code, time.Now()) })
	if j.log != nil {
		j.log.Info("end", "status", status, "exit", code, "err", fmt.Sprint(err))
	}
	if err == nil && end == nil {
		return j.closeFiles()
	}
	return withCode(code, errors.Join(err, end, j.closeFiles()))
}

func (j *job) interrupted(err error) bool {
	return j.c.Context.Err() != nil || j.result != nil && j.result.Interrupted
}

// partial says what is missing.
func (j *job) partial() error {
	var parts []string
	for _, f := range j.dir.Run().Failures {
		if f.Host != "" {
			parts = append(parts, "host "+f.Host+" was lost: "+f.Error)
		} else {
			parts = append(parts, f.Error)
		}
	}
	if len(parts) > 4 {
		parts = append(parts[:4], fmt.Sprintf("and %d more (%s)", len(parts)-4, rundir.RunFile))
	}
	return fmt.Errorf("partial: %s", strings.Join(parts, "; "))
}

// saved adds to err where the measurements are and how to go on.
func (j *job) saved(err error) error {
	n := j.savedSlots()
	if n == 0 {
		return fmt.Errorf("%w; nothing was measured yet", err)
	}
	return fmt.Errorf("%w; %d slots are saved: calib run --resume %s goes on, calib fit %s uses what is there",
		err, n, j.dir.Path(), j.dir.Path())
}

func (j *job) closeFiles() error {
	var errs []error
	if j.sink != nil {
		errs = append(errs, j.sink.Close())
	}
	if j.log != nil {
		errs = append(errs, j.log.Close())
	}
	if j.dir != nil {
		errs = append(errs, j.dir.Close())
	}
	return errors.Join(errs...)
}

// filesOf lists what a run directory holds, by name.
func filesOf(dir string) map[string]string {
	out := map[string]string{}
	for _, name := range []string{rundir.RunFile, rundir.SamplesFile, rundir.ParamsFile, rundir.ReportFile,
		rundir.HTMLFile, rundir.LogFile} {
		if path := filepath.Join(dir, name); exists(path) {
			out[name] = path
		}
	}
	return out
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
