package agent

import (
	"context"
	"fmt"
	"time"

	"calib/agent/internal/controlv1"
	"calib/bench"
	"calib/internal/dataset"
)

// Run has the agent perform a task and returns its samples: all of them, or an error. It ends when the task does, when
// ctx ends, when the agent is silent (ErrSilent), or a little after the task's deadline at the latest. A task that it
// leaves behind is cancelled there.
func (c *Client) Run(ctx context.Context, t bench.Task) ([]dataset.Sample, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if t.Deadline > 0 { // the agent ends the task itself; this is for one that only says that it lives
		over := time.AfterFunc(time.Duration(t.Deadline)+c.opts.Silence, func() { cancel(errOverdue) })
		defer over.Stop()
	}
	watch := time.AfterFunc(c.opts.Silence, func() { cancel(ErrSilent) })
	defer watch.Stop()

	samples, err := c.receive(ctx, t, func() { watch.Reset(c.opts.Silence) })
	if err != nil {
		return nil, c.explain(ctx, c.opts.Silence, err)
	}
	return samples, nil
}

var errOverdue = fmt.Errorf("%w, and the agent does not end the task", ErrDeadline)

func (c *Client) receive(ctx context.Context, t bench.Task, alive func()) ([]dataset.Sample, error) {
	events, err := c.rpc.Run(ctx, taskToWire(t))
	if err != nil {
		return nil, err
	}
	defer events.Close()
	var samples []dataset.Sample
	var size int
	for events.Receive() {
		alive()
		switch e := events.Msg().Event.(type) {
		case *controlv1.RunEvent_Progress:
			if c.opts.Progress != nil {
				c.opts.Progress(int(e.Progress.Slot), int(e.Progress.Point), int(e.Progress.Of))
			}
		case *controlv1.RunEvent_Sample:
			s, err := sampleFromWire(e.Sample, t)
			if err != nil {
				return nil, err
			}
			if size += 8 * len(s.NS); size > maxReply {
				return nil, fmt.Errorf("more than %d bytes of times in answer to slot %d", maxReply, t.Slot)
			}
			samples = append(samples, s)
		}
	}
	return samples, events.Err()
}
