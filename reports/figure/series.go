package figure

import "time"

// Series is one metric over many runs, in the order of time.
type Series struct {
	Name, Link, Label, Unit string
	Better                  string // as fit.Metric's
	Runs                    []string
	At                      []time.Time
	Y                       []float64
	Lo, Hi                  []float64 // NaN where a run has no interval; nil where none has
	Changes                 []Change
	Known                   []Known
}

// Change is a change point found: run At is the first of the new level.
type Change struct {
	At            int
	Before, After float64 // medians of the segments
	P             float64
}

// Known is an acknowledged change.
type Known struct {
	At     int
	Reason string
}
