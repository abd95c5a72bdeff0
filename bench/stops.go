package bench

import (
	"slices"

	"calib/internal/dataset"
)

// mostStops is the number of keys that run.json lists one by one.
const mostStops = 10_000

// Stops are the summary's entries for run.json: those of keys that were measured to a goal, thinned where they are many.
func Stops(t *Stopper) []dataset.Stop {
	goals := slices.DeleteFunc(t.Summary(), func(s dataset.Stop) bool { return s.Reason == dataset.StopFree })
	return dataset.ThinStops(goals, mostStops)
}
