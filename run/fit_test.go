package run

import (
	"runtime/debug"
	"testing"

	"calib/internal/dataset"
)

// collectorPercent is how far the heap grows between two collections.
func collectorPercent() int {
	p := debug.SetGCPercent(100)
	debug.SetGCPercent(p)
	return p
}

// A fit of many timings collects more often, and leaves the collector as it was.
func TestThrifty(t *testing.T) {
	before := collectorPercent()
	for timings, want := range map[int]int{manyTimings - 1: before, manyTimings: thriftyGrows} {
		undo := thrifty(&dataset.Dataset{Samples: []dataset.Sample{{NS: make([]int64, timings)}}})
		if got := collectorPercent(); got != want {
			t.Errorf("%d timings: %d%%, want %d%%", timings, got, want)
		}
		undo()
		if got := collectorPercent(); got != before {
			t.Errorf("after %d timings: %d%%, want %d%%", timings, got, before)
		}
	}
}
