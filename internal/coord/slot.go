package coord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"calib/bench"
	"calib/internal/dataset"
)

// grace is what an agent gets beyond the slot's deadline to say why it failed.
const grace = 3 * time.Second

// run does one slot of the walk, with the effort of its round.
func (w *walker) run(ctx context.Context, s bench.Slot) ([]dataset.Sample, error) {
	effort := float64(s.Effort)
	if w.factor != 1 {
		effort = w.factor * cmp.Or(effort, 1)
	}
	samples, err := together(ctx, w.agents, s, bench.Task{
		Run: w.Run, Slot: s.ID, Round: s.Round, Exp: s.Exp, Points: s.Points, Reps: effort, Epoch: w.Schedule.Epoch(s.Round), Deadline: w.Deadline(s), Recv: Recv,
	})
	if err != nil {
		return nil, fmt.Errorf("slot %d: %s: %w", s.ID, s.Exp, err)
	}
	return samples, nil
}

// together does a slot on all its teams at once and returns the samples ordered by team and rank; of the task, team and rank are
// filled in. The first failure ends the slot for everyone.
func together(ctx context.Context, agents []Agent, s bench.Slot, task bench.Task) ([]dataset.Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(task.Deadline)+grace)
	defer cancel()
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		cause error
		got   = make([][][]dataset.Sample, len(s.Teams))
	)
	for i, team := range s.Teams {
		got[i] = make([][]dataset.Sample, len(team))
		for rank, host := range team {
			t := task
			t.Team, t.Rank = team, rank
			wg.Go(func() {
				samples, err := agents[host].Run(ctx, t)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					if cause == nil || errors.Is(cause, context.Canceled) {
						cause = err
					}
					cancel()
					return
				}
				got[i][rank] = samples
			})
		}
	}
	wg.Wait()
	if cause != nil {
		return nil, cause
	}
	var all []dataset.Sample
	for _, team := range got {
		all = append(all, slices.Concat(team...)...)
	}
	return all, nil
}

// findLost asks every agent of a failed slot whether it still answers. After an interrupt no agent counts as lost.
func (w *walker) findLost(interrupt context.Context, s bench.Slot) {
	ctx, cancel := context.WithTimeout(interrupt, helloTimeout)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, team := range s.Teams {
		for _, h := range team {
			wg.Go(func() {
				if _, err := w.agents[h].Hello(ctx); err != nil && interrupt.Err() == nil {
					mu.Lock()
					defer mu.Unlock()
					w.result.Lost[h] = err.Error()
				}
			})
		}
	}
	wg.Wait()
}
