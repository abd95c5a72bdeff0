package transport

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"calib/internal/units"
)

// The clock is the runtime's monotonic reading, moved to the kernel's CLOCK_MONOTONIC. It costs one vDSO call (25 ns
// where clock_gettime as a system call costs 180 ns), allocates nothing, and agents on one machine share it.
var (
	clockBase   = time.Now()
	clockOffset = monotonicAt(clockBase)
)

// Now reads this host's monotonic clock. It does not jump when the wall clock is set.
func Now() units.Nanos { return clockOffset + units.Nanos(time.Since(clockBase)) }

// DefaultSpin is how long before its target a wait stops sleeping and spins: longer than a timer's usual lateness, and
// short enough not to starve a peer on the same CPU.
const DefaultSpin = 50 * units.Microsecond

// WaitUntil returns when the clock has reached t: it sleeps until spin before, then spins. Without spinning the
// lateness is that of a kernel timer and of waking up, some 50 µs at the usual timer slack and a few at 1 ns (Pin).
func WaitUntil(t, spin units.Nanos) error {
	for {
		left := t - Now()
		if left <= 0 {
			return nil
		}
		if left > spin {
			if err := sleepUntil(t - spin); err != nil {
				return err
			}
		}
	}
}

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

// sleepUntil sleeps to an absolute time of CLOCK_MONOTONIC. A signal may end it early; WaitUntil then sleeps again.
func sleepUntil(t units.Nanos) error {
	ts := unix.NsecToTimespec(int64(t))
	err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("sleep until %d ns: %w", int64(t), err)
	}
	return nil
}
