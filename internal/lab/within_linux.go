package lab

import (
	"context"
	"errors"
	"fmt"

	"calib/internal/netspec"
)

// Within builds a lab, calls do with it, takes the lab down whatever happened, and returns the verdict on its lateness. The context of do
// ends with ctx, and when the wire dies. The lab ends with this process, even if it is killed.
func Within(ctx context.Context, spec *netspec.Spec, o Options, do func(context.Context, *Lab) error) (v Verdict, err error) {
	l, err := up(ctx, spec, o, true)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	died := l.watchWire(ended)
	go func() {
		select {
		case <-died:
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
