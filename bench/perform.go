package bench

import (
	"context"
	"errors"
	"fmt"

	"calib/internal/dataset"
)

// ErrUnknown reports an experiment this build does not have.
var ErrUnknown = errors.New("unknown experiment")

// Synchronised marks an experiment that reads times across hosts. Perform then holds the team's clocks against rank 0's
// before and after its points, gives Run the timeline through its Recorder, and corrects the one-way times at the end.
type Synchronised interface{ Synchronised() }

// Perform runs one rank's part of a slot: every point in order. It returns the samples of this rank, all of them or none:
// a slot is measured whole or again. progress, which may be nil, is told the index of each point begun.
func Perform(ctx context.Context, g Group, t Task, progress func(point int)) ([]dataset.Sample, error) {
	e, ok := Lookup(t.Exp)
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrUnknown, t.Exp)
	}
	r := NewRecorder(t)
	_, clocks := e.(Synchronised)
	if clocks {
		before, err := synchronise(g)
		if err != nil {
			return nil, err
		}
		r.time = &timeline{before: before}
	}
	for i, p := range t.Points {
		if progress != nil {
			progress(i)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := e.Run(ctx, g, p, r); err != nil {
			return nil, fmt.Errorf("%s at %s: %w", t.Exp, p.Key(), err)
		}
	}
	if clocks {
		after, err := synchronise(g)
		if err != nil {
			return nil, err
		}
		r.time.after = after
		r.correct()
		if g.Rank() == 0 {
			r.time.record(r)
		}
	}
	return r.Samples(), nil
}
