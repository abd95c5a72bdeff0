package transport

import (
	"runtime"
	"runtime/debug"

	"calib/internal/units"
)

// Quiet collects garbage now and turns the collector off, until restore is called or the heap has grown by room. Beyond
// room the collector runs again, so a mistake costs a disturbed slot and not the machine. Not for concurrent use.
func Quiet(room units.Bytes) (restore func()) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	limit := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(limit, int64(m.Sys-m.HeapReleased)+int64(room)))
	percent := debug.SetGCPercent(-1)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
