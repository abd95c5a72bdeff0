package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Interruptible returns a context that INT, TERM or HUP ends: what runs then stops in order, and keeps what it has. A HUP that the
// process was started to ignore, as by nohup, stays ignored. A second signal ends the process at once; agents end with their input,
// and the files of a run are whole at every moment. stop ends the watching, and returns when it has ended.
func Interruptible(say io.Writer) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
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
			fmt.Fprintln(say, "calib: interrupted a second time: ended at once, without a fit; calib run --resume goes on with a run")
			os.Exit(ExitInterrupted)
		}
	})
	return ctx, sync.OnceFunc(func() {
		signal.Stop(signals)
		close(done)
		watch.Wait()
		cancel()
	})
}
