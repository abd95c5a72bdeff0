package coord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/units"
)

const (
	// grace is what an agent gets beyond the slot's deadline to say why it failed.
	grace = 3 * time.Second
	// settle is how long the other ranks go on after the first has failed: theirs may be the failure that says more.
	settle = 500 * time.Millisecond
)

// errSlotOver is why a call is given up whose agent did not end the slot itself.
var errSlotOver = errors.New("no end of the slot, and no reason, long after its deadline")

// run does one slot of the walk.
func (w *walker) run(ctx context.Context, s bench.Slot, allowed units.Nanos) ([]dataset.Sample, error) {
	samples, err := together(ctx, w.agents, s.Teams, bench.Task{
		Run: w.Run, Slot: s.ID, Round: s.Round, Exp: s.Exp, Points: s.Points, Reps: float64(s.Effort), Epoch: w.Schedule.Epoch(s.Round),
		Deadline: allowed, Recv: min(Recv, allowed),
	})
	if err != nil {
		return nil, fmt.Errorf("slot %d: %s: %w", s.ID, s.Exp, err)
	}
	return samples, nil
}

// slotError is what the ranks of a slot failed with, those apart that were only told to end.
type slotError struct {
	errs  []error // in the order of teams and ranks
	hosts []int   // of the teams in which a rank failed
}

// errorsShown bounds the errors that the text of a slotError lists.
const errorsShown = 3

func (e *slotError) Error() string {
	var texts []string
	for _, err := range e.errs {
		if text := err.Error(); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if n := len(texts) - errorsShown; n > 0 {
		texts = append(texts[:errorsShown], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(texts, "; ")
}

// Unwrap makes errors.Is see every rank's.
func (e *slotError) Unwrap() []error { return e.errs }

// together does a task on some teams at once and returns the samples ordered by team and rank. Where a rank fails, the
// error is a *slotError.
func together(ctx context.Context, agents []Agent, teams [][]int, task bench.Task) (all []dataset.Sample, err error) {
	got, errs := perform(ctx, agents, teams, task, settle)
	if err := failedSlot(teams, errs); err != nil {
		return nil, err
	}
	for _, team := range got {
		all = append(all, slices.Concat(team...)...)
	}
	return all, nil
}

// perform does a task on some teams at once, and returns what came of it by team and rank; of the task, team and rank
// are filled in. It ends for everyone when a rank has failed, and a time has passed since.
func perform(ctx context.Context, agents []Agent, teams [][]int, task bench.Task, settle time.Duration) (
	got [][][]dataset.Sample, errs [][]error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(task.Deadline)+grace, errSlotOver)
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var wg sync.WaitGroup
	var once sync.Once
	got, errs = make([][][]dataset.Sample, len(teams)), make([][]error, len(teams))
	for i, team := range teams {
		got[i], errs[i] = make([][]dataset.Sample, len(team)), make([]error, len(team))
		for rank, host := range team {
			t := task
			t.Team, t.Rank = team, rank
			wg.Go(func() {
				if got[i][rank], errs[i][rank] = agents[host].Run(ctx, t); errs[i][rank] != nil {
					once.Do(func() { time.AfterFunc(settle, func() { end(errOther) }) })
				}
			})
		}
	}
	wg.Wait()
	return got, errs
}

// errOther is why a rank was ended that had not failed itself.
var errOther = errors.New("ended because another rank failed")

// failedSlot collects the ranks' errors; nil where there is none.
func failedSlot(teams [][]int, errs [][]error) error {
	var own, told slotError
	for i, team := range teams {
		failed := false
		for _, err := range errs[i] {
			switch {
			case err == nil:
			case errors.Is(err, errOther) || errors.Is(err, context.Canceled):
				told.errs = append(told.errs, err)
			default:
				own.errs, failed = append(own.errs, err), true
			}
		}
		if failed {
			own.hosts = append(own.hosts, team...)
		}
	}
	switch {
	case len(own.errs) > 0:
		return &own
	case len(told.errs) > 0:
		return &told
	}
	return nil
}

// findLost asks every agent of a failed slot whether it still answers, and reports whether one does not. After an
// interrupt no agent counts as lost.
func (w *walker) findLost(interrupt context.Context, s bench.Slot) bool {
	ctx, cancel := context.WithTimeoutCause(interrupt, helloTimeout, errNoHello)
	defer cancel()
	hosts, before := slices.Concat(s.Teams...), len(w.result.Lost)
	errs := Each(hosts, -1, func(_, h int) error {
		_, err := w.agents[h].Hello(ctx)
		return err
	})
	for i, err := range errs {
		if err != nil && interrupt.Err() == nil {
			w.result.Lost[hosts[i]] = err.Error()
		}
	}
	return len(w.result.Lost) > before
}

var errNoHello = fmt.Errorf("its agent does not answer within %v: it has ended, is stopped, or is cut off", helloTimeout)
