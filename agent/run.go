package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"calib/bench"
	"calib/bench/experiments"
	"calib/internal/dataset"
	"calib/transport"
)

// run executes a task and answers with progress every second, then the samples. A task is cancelled by its deadline, by
// the end of the call and by the end of the lease. run returns when the task has ended, even if the caller is gone,
// because the agent is not free before.
func (s *Server) run(ctx context.Context, q *request, send func(answer) error) error {
	if q.Task == nil {
		return fault(ErrInvalid, "no task")
	}
	t := *q.Task
	e, ok := experiments.Lookup(t.Exp)
	if !ok {
		return fault(ErrVersion, "it has no experiment %q", t.Exp)
	}
	lease, done, err := s.begin(ctx, &t, e, q.Secret)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(t.Deadline), errDeadline)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	defer context.AfterFunc(lease.ctx, func() { giveUp(context.Cause(lease.ctx)) })()

	var point atomic.Int32
	ended := make(chan outcome, 1)
	go func() { ended <- s.measure(ctx, e, t, func(i int) { point.Store(int32(i)) }) }()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	var o outcome
	for running := true; running; {
		if err := send(answer{Progress: &progress{t.Slot, int(point.Load()), len(t.Points)}}); err != nil {
			giveUp(fmt.Errorf("answer the coordinator: %w", err))
		}
		select {
		case <-tick.C:
		case o = <-ended:
			running = false
		}
	}
	defer done()                               // the agent is free when the answer has been taken,
	defer context.AfterFunc(lease.ctx, done)() // or when its run has ended
	if o.err != nil {
		err := describe(ctx, t, o.err)
		s.opts.Log.Warn("task failed", "run", t.Run, "slot", t.Slot, "exp", t.Exp, "err", err.Error())
		return err
	}
	if f := s.plane.Foreign(); f != (transport.Foreign{}) {
		s.opts.Log.Warn("not of the run", "strays", f.Strays, "refused", f.Refused, "why", f.Why)
		if err := send(answer{Foreign: &f}); err != nil {
			return err
		}
	}
	for i := range o.samples {
		if err := send(answer{Sample: &o.samples[i]}); err != nil {
			return err
		}
	}
	return nil
}

type outcome struct {
	samples []dataset.Sample
	err     error
}

// measure performs a task on a thread of its own. The thread is never unlocked: it ends with the goroutine, and what
// was set on it (its CPU, its timers) with it.
func (s *Server) measure(ctx context.Context, e *bench.Experiment, t bench.Task, progress func(int)) (o outcome) {
	runtime.LockOSThread()
	g, err := s.plane.Group(ctx, t)
	if err != nil {
		return outcome{err: err}
	}
	defer func() {
		if o.err != nil {
			g.Abort() // the next task must not read what is still on its way
		}
		g.Close()
	}()
	restore, err := s.plane.Thread(s.opts.Limits.Memory)
	if err != nil {
		return outcome{err: err}
	}
	defer restore()
	defer func() { // a panic of an experiment is an error
		if p := recover(); p != nil {
			s.opts.Log.Error("panic", "exp", t.Exp, "slot", t.Slot, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			o = outcome{err: fmt.Errorf("panic: %v (the stack is in the agent's log)", p)}
		}
	}()
	samples, err := s.perform(ctx, e, g, t, progress)
	if err == nil && ctx.Err() != nil {
		err = ctx.Err() // the samples of a cancelled task are not whole
	}
	return outcome{samples, err}
}

var errDeadline = errors.New("deadline")

// describe is the error for a task that failed. The first cause counts: a socket shut down because the deadline passed
// reports the deadline.
func describe(ctx context.Context, t bench.Task, err error) error {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(err, bench.ErrMemory):
		return fault(ErrLimit, "slot %d: %w (calib agent --max-memory)", t.Slot, err)
	case ctx.Err() == nil:
		return fault(ErrTask, "slot %d: %w", t.Slot, err)
	case errors.Is(cause, errDeadline) || errors.Is(cause, context.DeadlineExceeded):
		return fault(ErrDeadline, "slot %d: %s on hosts %v did not end within %v (%w)",
			t.Slot, t.Exp, t.Team, time.Duration(t.Deadline), err)
	case errors.Is(cause, context.Canceled):
		return fault(ErrTask, "slot %d: cancelled by the coordinator", t.Slot)
	default:
		return fault(ErrLease, "slot %d: cancelled: %w", t.Slot, cause)
	}
}
