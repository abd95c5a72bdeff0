package transport

import (
	"errors"
	"fmt"
	"time"

	"calib/internal/units"
	"golang.org/x/sys/unix"
)

// monotonicAt returns CLOCK_MONOTONIC at base, to within the time of two clock readings.
func monotonicAt(base time.Time) units.Nanos {
	best, offset := time.Duration(1<<62), units.Nanos(0)
	for range 8 {
		var ts unix.Timespec
		before := time.Since(base)
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			return 0
		}
		took := time.Since(base) - before
		if took < best {
			best, offset = took, units.Nanos(ts.Nano())-units.Nanos(before+took/2)
		}
	}
	return offset
}

// sleepUntil sleeps to an absolute time of CLOCK_MONOTONIC. A signal may end it early; WaitUntil sees to that.
func sleepUntil(t units.Nanos) error {
	ts := unix.NsecToTimespec(int64(t))
	err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("sleep until %d ns: %w", int64(t), err)
	}
	return nil
}
