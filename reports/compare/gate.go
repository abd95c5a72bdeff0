package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"calib/internal/lists"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

const GateRelative = 0.025 // Options.Relative of a gate, which finds a change of twice as much, where noise allows it

const (
	falseAlarms = 0.01 // the chance that what differs between nights fails a gate
	gatePower   = 0.95 // the chance with which runs are to find a change of twice the threshold
	// shiftLoss is the standard error of stats.Shift over that of the difference of means, for normal values: √(π/3).
	shiftLoss = 1.0233267079464885
)

// Fewest and most runs that a gate measures in a stage by itself.
const (
	fewestGate = 3
	maxGate    = 10
)

// ErrBaseline reports a baseline, or a number of runs, that no gate can decide by.
var ErrBaseline = errors.New("cannot be gated")

const decisive = "T, rates, a, b, a_c, b_c, loss" // what a gate decides by, in words

// judges reports whether a gate decides by quantities of this name: the time of a message, the rate of a stream, the
// parameters of a host and of contention, loss. All others are shown.
func judges(name string) bool {
	base, _ := params.SplitSize(name)
	return slices.Contains([]string{"T", "latency", "rate", "a", "b", "a_c", "b_c", params.LossMetric}, base)
}

type Stage struct {
	Runs   int
	Decide []string // quantities of the network that decide
	Blind  []string // those of them in which so many runs do not find a change of twice the threshold
}

// PlanGate says how many runs a gate against the baseline takes, 3 to 10: enough to find a change of twice the relative
// threshold in three quarters of what decides with a probability of 95% each, by the noise between the runs of the
// baseline; n other than 0 is that number. The errors are ErrBaseline.
func PlanGate(baseline []Run, n int, o Options) (Stage, error) {
	var s Stage
	o = o.defaults()
	t := newTable(baseline, baseline, true)
	hosts := t.hostSeries()
	alpha := o.Alpha / t.levels(hosts)
	_, shared := t.linkSeries(func(string, string) bool { return false })
	all := slices.DeleteFunc(slices.Concat(t.params, shared), func(q *series) bool { return !q.judged })
	least, ok := stats.NeededMore(len(baseline), alpha)
	switch {
	case len(all) == 0 && len(t.links) == 0:
		return s, fmt.Errorf("%w: no number that decides (%[3]s) is good in nine of ten of its %[2]s: measure "+
			"longer runs", ErrBaseline, units.Plural(len(baseline), "run"), decisive)
	case !ok || n == 0 && least > maxGate:
		need, _ := stats.NeededMore(maxGate, alpha)
		return s, fmt.Errorf("%w: it has %s, and a gate needs %d", ErrBaseline, units.Plural(len(baseline), "run"), need)
	case n > 0 && n < least:
		return s, fmt.Errorf("%w by %s: a baseline of %d runs needs --runs %d or more", ErrBaseline,
			units.Plural(n, "run"), len(baseline), least)
	}
	name := func(q *series) string { return q.Name }
	blind := func(n int) []string {
		missed := func(q *series) bool { return !q.finds(t, n, alpha/float64(len(all)), o.Relative) }
		return lists.Map(lists.Where(all, missed), name)
	}
	if s.Runs = n; n == 0 {
		s.Runs = max(least, fewestGate)
		for s.Runs < maxGate && 4*len(blind(s.Runs)) > len(all) {
			s.Runs++
		}
	}
	s.Decide, s.Blind = lists.Map(all, name), blind(s.Runs)
	return s, nil
}

// finds reports whether n runs against the old ones find a change of twice the threshold with gatePower: that it is
// beyond the threshold, and significant at alpha.
func (s *series) finds(t *table, n int, alpha, threshold float64) bool {
	old := known(s.raw[:t.old])
	_, rest := t.byNight(s)
	se := shiftLoss * spread(rest) / math.Abs(stats.Median(old)) * math.Sqrt(1/float64(len(old))+1/float64(n))
	z := distuv.UnitNormal.Quantile(gatePower)
	return threshold >= z*se && 2*threshold >= (student(float64(len(old)+n-2), alpha)+z)*se
}

// Gate decides whether the network is slower now than in the baseline, by quantities that are fixed beforehand (judges)
// where the baseline has them ok, and by links that cannot be measured any more. A quantity is slower where the test
// says so and the change is larger than the threshold and than what differs between nights; else it is ok. What is
// slower or missing is measured again. It is a regression only if the second runs alone show it, so that a bad moment
// is not taken for a change. Inconclusive is what decides and was measured in neither stage. A bad night is told from a
// change by the spread of the nights of the baseline, of which there should be ten or more. With fewer than three,
// nights are taken to differ by as much as the runs of one night, and a note says so.
func Gate(baseline []Run, measure func(again bool) ([]Run, error), o Options) (*Verdict, error) {
	o.nights, o.gate = falseAlarms, true
	first, err := measure(false)
	if err != nil {
		return nil, err
	}
	v := Compare(baseline, first, o)
	suspects := lists.Where(v.changes, func(c Change) bool { return c.State == Regression || c.State == Inconclusive })
	undecided := len(suspects)+len(v.Dead) > 0 || len(v.Lost) > 0 && !v.allowsLost
	if !undecided || len(v.apart) > 0 {
		return v, nil
	}
	o.only = map[string]bool{}
	for _, l := range v.Lost {
		o.only[Change{Scope: ScopeNetwork, Name: l.Name}.id()] = true
	}
	for _, c := range suspects {
		o.only[c.id()] = true
	}
	second, err := measure(true)
	if err != nil {
		return nil, err
	}
	v.confirm(suspects, Compare(baseline, second, o), second)
	return v, nil
}

// confirm replaces the state of each suspect by that of the second comparison.
func (v *Verdict) confirm(suspects []Change, second *Verdict, runs []Run) {
	v.Again = &Again{Runs: sideOf(runs).Runs, Suspects: suspects, Second: []Change{}}
	for i := range v.changes {
		c := &v.changes[i]
		same := func(s Change) bool { return s.id() == c.id() }
		if !slices.ContainsFunc(suspects, same) {
			continue
		}
		c.State = NotConfirmed
		explains := func(s Change) bool {
			return s.Scope == ScopeHost && s.Name == c.Name && (s.Host == c.From || s.Host == c.To) && (s.State != OK || s.large)
		}
		if k := slices.IndexFunc(second.changes, same); k >= 0 {
			s := second.changes[k]
			v.Again.Second = append(v.Again.Second, s)
			if s.State == Regression || s.State == Inconclusive {
				c.State = s.State
			}
			if s.State == Regression {
				v.Again.Confirmed++
			}
		} else if !slices.ContainsFunc(second.changes, explains) { // it was not measured again
			c.State = Inconclusive
		}
	}
	for _, s := range second.changes { // what the first runs lost
		if !slices.ContainsFunc(v.changes, func(c Change) bool { return c.id() == s.id() }) {
			v.changes = append(v.changes, s)
		}
	}
	v.Lost = slices.DeleteFunc(v.Lost, func(l Lost) bool {
		return !slices.ContainsFunc(second.Lost, func(s Lost) bool { return s.Name == l.Name })
	})
	v.Dead = slices.DeleteFunc(v.Dead, func(l string) bool { return !slices.Contains(second.Dead, l) })
	v.Notes = append(v.Notes, fmt.Sprintf("measured again: %d of %s confirmed", v.Again.Confirmed,
		units.Plural(len(suspects), "suspect")))
	if len(second.apart) > 0 {
		v.apart = second.apart
	}
	v.conclude()
}
