package measuring

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/runfiles"
	"calib/internal/dataset"
	"calib/internal/params"
	"calib/internal/rundir"
	"calib/run/coord"
	"calib/run/plan"
)

// record writes to run.json how measuring ended.
func (j *job) record(s *plan.Schedule, infos []dataset.Host) error {
	if j.result == nil {
		return nil
	}
	return j.dir.Update(func(r *rundir.Run) {
		r.Slots = rundir.Slots{Planned: s.Planned(), Done: j.result.Slots + j.result.Had, Failed: len(j.result.Failures)}
		r.Stops = j.result.Stops
		r.Failures = j.failures(infos)
		r.Warnings = j.notes
	})
}

// failures are the slots given up, and the hosts and links lost before and during measuring.
func (j *job) failures(infos []dataset.Host) []dataset.Failure {
	out := slices.Concat(j.result.Failures, j.lost)
	for _, h := range slices.Sorted(maps.Keys(j.result.Lost)) {
		out = append(out, dataset.Failure{Host: infos[h].Name, Error: j.result.Lost[h]})
	}
	for _, l := range slices.SortedFunc(maps.Keys(j.result.Cut), func(a, b coord.Link) int { return slices.Compare(a[:], b[:]) }) {
		out = append(out, dataset.Failure{Link: []string{infos[l[0]].Name, infos[l[1]].Name}, Error: j.result.Cut[l]})
	}
	return out
}

// finish decides status and exit code of a measuring run from how it ended, and closes its files. A run that failed before there was
// a file for samples leaves no directory.
func (j *job) finish(err error) error {
	j.show.Done()
	if j.dir == nil {
		return err
	}
	if err != nil && j.sink == nil && j.c.String("resume") == "" {
		return j.discard(err)
	}
	status, code := rundir.StatusComplete, command.ExitOK
	switch {
	case j.interrupted(err):
		status, code, err = rundir.StatusInterrupted, command.ExitInterrupted, j.saved(command.ErrInterrupted)
	case err != nil:
		status, code = rundir.StatusFailed, command.CodeOf(err)
		if j.savedSlots() > 0 {
			status, code, err = rundir.StatusPartial, command.ExitPartial, j.saved(err)
		}
	case j.result.Partial() || len(j.lost) > 0:
		status, code, err = rundir.StatusPartial, command.ExitPartial, j.saved(j.partial())
	case errors.Is(j.unfit, runfiles.ErrReports):
		code, err = command.ExitFailed, fmt.Errorf("all was measured and fitted, and is saved in %s", j.dir.Path())
	case j.thin() != "":
		status, code, err = rundir.StatusPartial, command.ExitPartial, j.saved(fmt.Errorf("partial: %s", j.thin()))
	case j.unfit != nil:
		code, err = command.ExitFailed, fmt.Errorf("all was measured and is saved in %s, but not fitted", j.dir.Path())
	}
	if j.unfit != nil {
		err = errors.Join(err, j.unfit)
	}
	var end error
	if j.sink != nil {
		end = j.sink.Close() // which may cut off what a failing disk has lost
	}
	end = errors.Join(end, j.dir.Seal(), j.dir.Update(func(r *rundir.Run) { r.End(status, code, time.Now()) }))
	if j.log != nil {
		j.log.Info("end", "status", status, "exit", code, "err", fmt.Sprint(err))
	}
	if err == nil && end == nil {
		return j.closeFiles()
	}
	return command.WithCode(code, errors.Join(err, end, j.closeFiles()))
}

// discard removes what a run without samples has written.
func (j *job) discard(err error) error {
	code := command.CodeOf(err)
	if j.interrupted(err) {
		code, err = command.ExitInterrupted, command.ErrInterrupted
	}
	var end error
	if j.log != nil {
		end = j.log.Close()
	}
	end = errors.Join(end, j.dir.Discard())
	j.dir = nil
	return command.WithCode(code, errors.Join(err, end))
}

// thin says why a run in which nothing failed is partial all the same: too much of it was lost to the network, or not measured in time.
func (j *job) thin() string {
	const so = "what is left says little of the network"
	lost := j.spoilt
	if j.params != nil {
		lost = j.params.Discarded()
	}
	switch missing := j.dir.Run().Slots.Missing(); {
	case lost > params.MostDiscarded:
		return fmt.Sprintf("%.0f%% of the timings were lost to retransmissions and timeouts, more than %.0f%%: %s", 100*lost, 100*params.MostDiscarded, so)
	case missing > params.MostMissing:
		return fmt.Sprintf("%.0f%% of the planned slots were not measured within the budget, more than %.0f%%: %s", 100*missing, 100*params.MostMissing, so)
	}
	return ""
}

// spoiltShare is the share of the timings whose batches lost segments or timed out.
func spoiltShare(seen *dataset.Survey) float64 {
	return float64(seen.Spoilt) / float64(max(1, seen.Timings))
}

func (j *job) interrupted(err error) bool {
	return j.c.Context.Err() != nil || j.result != nil && j.result.Interrupted
}

// partial is the error of a run that lacks hosts or slots.
func (j *job) partial() error {
	var parts []string
	for _, f := range j.dir.Run().Failures {
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

// saved adds to err where the measurements are and how to go on.
func (j *job) saved(err error) error {
	n := j.savedSlots()
	if n == 0 {
		return fmt.Errorf("%w; nothing was measured yet", err)
	}
	return fmt.Errorf("%w; %d slots are saved: calib run --resume %s goes on, calib fit %s uses what is there",
		err, n, quote(j.dir.Path()), quote(j.dir.Path()))
}

func (j *job) closeFiles() error {
	var err error
	if j.log != nil {
		err = j.log.Close()
	}
	return errors.Join(err, j.dir.Close())
}
