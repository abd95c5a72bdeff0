package command

import (
	"calib/internal/exit"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
)

// afterKey is the key of a context for how to go on after a second signal.
type afterKey struct{}

// GoesOn has a second signal say how to go on, from now on. ctx is of Interruptible; others say nothing.
func GoesOn(ctx context.Context, how string) {
	if after, ok := ctx.Value(afterKey{}).(*atomic.Pointer[string]); ok {
		after.Store(&how)
	}
}

// Interruptible returns a context that INT, TERM or HUP ends: what runs then stops in order, and keeps what it has. A
// HUP that the process was started to ignore, as by nohup, stays ignored. A second signal ends the process at once;
// agents end with their input, and the files of a run are whole at every moment. stop ends the watching, and returns
// when it has ended.
func Interruptible(say io.Writer) (ctx context.Context, stop func()) {
	var after atomic.Pointer[string]
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), afterKey{}, &after))
	signals := make(chan os.Signal, 2)
	wanted := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		wanted = append(wanted, syscall.SIGHUP)
	}
	signal.Notify(signals, wanted...)
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-done:
			return
		case <-signals:
			cancel()
		}
		select {
		case <-done:
		case <-signals:
			text := "calib: interrupted a second time: ended at once"
			if how := after.Load(); how != nil {
				text += ", without a fit; " + *how
			}
			fmt.Fprintln(say, text)
			os.Exit(exit.Interrupted)
		}
	})
	return ctx, sync.OnceFunc(func() {
		signal.Stop(signals)
		close(done)
		watch.Wait()
		cancel()
	})
}
