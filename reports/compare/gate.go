package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"calib/fit/params"
	"calib/internal/stats"
	"calib/internal/units"
)

// falseAlarms is the chance that a gate fails a night on which nothing has changed.
const falseAlarms = 0.01

// Fewest and most runs that a gate measures in a stage by itself.
const (
	fewestGate = 3
	mostGate   = 10
)

// ErrNoRuns reports a measurement that gave no runs.
var ErrNoRuns = errors.New("no runs were measured")

// Gate decides whether the network is slower now than in the baseline. It measures n runs, or with 0 as many as the size of the
// baseline needs, 3 to 10, and compares. Where something looks like
// a regression, significant or not, it measures again: why names the quantities, so that their experiments can be run. It is
// a regression only if the second runs alone show it again for the same quantity, so that a bad moment is not taken for a
// change. A bad night is told from a change by the spread of the nights of the baseline, of which there should be ten or more.
// With fewer than three, nights are taken to differ by as much as the runs of one night, and a note says so.
func Gate(ctx context.Context, baseline []Run, measure func(ctx context.Context, n int, why []string) ([]Run, error),
	n int, o Options) (*Verdict, error) {
	if len(baseline) == 0 {
		return nil, errors.New("gate: the baseline has no runs; calib baseline set names some")
	}
	o.nights, o.gate = falseAlarms, true
	if n <= 0 {
		n = o.enough(baseline)
	}
	first, err := again(ctx, measure, n, nil)
	if err != nil {
		return nil, err
	}
	v := Compare(baseline, first, o)
	suspects := v.suspects()
	if len(suspects) == 0 || v.Outcome == NotComparable {
		return v, nil
	}
	o.only = map[string]bool{}
	var why []string
	for _, c := range suspects {
		o.only[c.id()] = true
		why = append(why, fmt.Sprintf("%s of %s %s", c.Name, c.Subject(), c.Says()))
	}
	second, err := again(ctx, measure, n, why)
	if err != nil {
		return nil, err
	}
	v.confirm(suspects, Compare(baseline, second, o), second)
	return v, nil
}

func again(ctx context.Context, measure func(context.Context, int, []string) ([]Run, error), n int, why []string) ([]Run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	runs, err := measure(ctx, n, why)
	if err != nil {
		return nil, fmt.Errorf("gate: measure: %w", err)
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("gate: %w", ErrNoRuns)
	}
	return runs, nil
}

// enough returns how many runs a test against the baseline needs.
func (o Options) enough(baseline []Run) int {
	d := o.defaults()
	families := 1.0
	if slices.ContainsFunc(baseline[len(baseline)-1].Metrics, func(m params.Metric) bool { return m.Link() != "" }) {
		families = 3
	}
	n, ok := stats.NeededMore(len(baseline), d.Alpha/families)
	if !ok {
		return mostGate
	}
	return min(max(n, fewestGate), mostGate)
}

// suspects are the changes for the worse of more than the threshold.
func (v *Verdict) suspects() []Change {
	var out []Change
	for _, c := range v.changes {
		if c.State == Regression || c.State == Inconclusive && c.large {
			out = append(out, c)
		}
	}
	return out
}

// confirm replaces the state of each suspect by that of the second comparison.
func (v *Verdict) confirm(suspects []Change, second *Verdict, runs []Run) {
	v.Again = &Again{Runs: sideOf(runs).Runs, Suspects: suspects, Second: []Change{}}
	for i := range v.changes {
		c := &v.changes[i]
		if !slices.ContainsFunc(suspects, func(s Change) bool { return s.id() == c.id() }) {
			continue
		}
		k := slices.IndexFunc(second.changes, func(s Change) bool { return s.id() == c.id() })
		if k < 0 { // a link of a host that the second runs found to be slow as a whole
			c.State = NotConfirmed
			continue
		}
		s := second.changes[k]
		v.Again.Second = append(v.Again.Second, s)
		switch {
		case s.State == Regression:
			c.State = Regression
			v.Again.Confirmed++
		case s.State == Inconclusive && s.large:
			c.State = Inconclusive
		default:
			c.State = NotConfirmed
		}
	}
	v.Notes = append(v.Notes, fmt.Sprintf("measured again: %d of %s confirmed", v.Again.Confirmed, units.Plural(len(suspects), "suspect")))
	v.conclude()
	if len(second.apart) > 0 {
		v.apart = second.apart
		v.decide()
	}
}
