package bench

import (
	"errors"
	"runtime"

	"calib/internal/units"
)

// ErrMemory reports a task that would take more memory than it may.
var ErrMemory = errors.New("more memory than the task may take")

// memory is what a task has taken, of what it may.
type memory struct {
	most    units.Bytes // 0 is no limit
	kept    units.Bytes // for samples, to the end of the task
	point   units.Bytes // until the point ends
	garbage units.Bytes // of the points before, not collected yet
}

// charge counts n bytes, before they are taken. While a task runs the collector is off: where garbage is in the way of
// what is to be taken, it is collected here.
func (m *memory) charge(to *units.Bytes, n int64) {
	if n < 0 {
		Fail("a buffer of %d bytes: want 0 or more", n)
	}
	if left := m.most - m.kept - m.point; m.most > 0 && units.Bytes(n) > left {
		Fail("a buffer of %v, where %v of %v are left: %w", units.Bytes(n), max(left, 0), m.most, ErrMemory)
	} else if m.most > 0 && units.Bytes(n) > left-m.garbage {
		runtime.GC()
		m.garbage = 0
	}
	*to += units.Bytes(n)
}
