// Package tuning holds the tables of settings that a program chooses: the fragment in which a message is sent, the
// socket buffer, and Nagle's algorithm. Nothing is fitted through them; what they recommend has the uncertainty of the
// choice.
package tuning

import (
	"calib/fit"
	"calib/fit/resample"
	"calib/internal/params"
)

// addLine adds the timings of one line.
func addLine[K comparable](t *resample.Table[K], k K, b *fit.Batch) {
	t.AddTeam(t.Duration(k), b.Team(), b.Dir, b.Round, b.Timings(), fit.Seconds(b.Lines[0].NS)...)
}

// choiceShare is the share of replicates from which a setting belongs to the interval of a choice.
const choiceShare = 0.025

// choice is a setting picked from several, and the smallest and largest that replicates pick.
type choice struct {
	value  float64
	lo, hi float64
}

// choose picks a setting from the estimates, and its interval: the settings that at least 2.5% of the replicates pick,
// from the smallest to the largest, and the choice itself. pick returns an index into settings, which ascend, from the
// values of points.
func choose(est *resample.Estimates, settings []float64, points []int, pick func(times []float64) int) choice {
	best := pick(est.Pick(points))
	count := make([]int, len(settings))
	if est.Rounds < 2 {
		return choice{settings[best], settings[best], settings[best]}
	}
	for _, r := range est.Replicates {
		count[pick(resample.Pick(r, points))]++
	}
	c := choice{settings[best], settings[best], settings[best]}
	for i, n := range count {
		if float64(n) >= choiceShare*float64(len(est.Replicates)) {
			c.lo, c.hi = min(c.lo, settings[i]), max(c.hi, settings[i])
		}
	}
	return c
}

// recordChoice records a choice as a parameter.
func recordChoice(r *fit.Result, name, unit, label string, c choice) {
	r.Found(name, unit, label, c.value, [2]float64{c.lo, c.hi})
	if c.lo == c.hi {
		r.Explain(name, "no interval: one round only, or every replicate chooses the same of the settings measured")
	}
}

// markChoice marks a chosen size.
func markChoice(f *params.Fit, name, label string) []params.Mark {
	m := fit.Mark(f, name, label)
	for i := range m {
		m[i].Label = label + " " + fit.SizeWords(int64(m[i].X))
	}
	return m
}
