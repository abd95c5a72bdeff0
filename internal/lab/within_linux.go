package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"calib/internal/netspec"
)

// Within builds a lab, calls do with it, takes the lab down whatever happened, and returns the verdict on its lateness.
// The context of do ends with ctx, when the wire dies, and when the terminal is closed. Where this process is killed
// the wire ends with it; what is left of the hosts' namespaces then goes with Down, or with the next lab of that name.
func Within(ctx context.Context, spec *netspec.Spec, o Options, do func(context.Context, *Lab) error) (v Verdict, err error) {
	l, err := up(ctx, spec, o, true)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, unix.SIGHUP)
	defer signal.Stop(hangup)
	ended := make(chan struct{})
	died := l.watchWire(ended)
	go func() {
		select {
		case <-died:
			cancel()
		case <-hangup:
			cancel()
		case <-ended:
		}
	}()
	err = do(inner, l)
	close(ended)
	select {
	case <-died:
		return v, errors.Join(fmt.Errorf("%w: it died%s", ErrWire, logTail(l.LogPath)), err)
	default:
	}
	stats, e := ReadStats(l.StatsPath)
	if e != nil {
		return v, errors.Join(err, e)
	}
	return Judge(stats), err
}
