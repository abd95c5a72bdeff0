package coord

import (
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

// run does one slot on all its teams at once and returns the samples ordered by team and rank. The first failure ends
// the slot for everyone.
func (w *walker) run(ctx context.Context, s bench.Slot) ([]dataset.Sample, error) {
	deadline := w.Deadline(s)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(deadline)+grace)
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
			wg.Go(func() {
				samples, err := w.agents[host].Run(ctx, bench.Task{
					Run: w.Run, Slot: s.ID, Round: s.Round, Exp: s.Exp, Team: team, Rank: rank,
					Points: s.Points, Reps: float64(w.Schedule.Plan.Limits.Effort), Epoch: w.Schedule.Epoch(s.Round), Deadline: deadline, Recv: Recv,
				})
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
		return nil, fmt.Errorf("slot %d: %s: %w", s.ID, s.Exp, cause)
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
