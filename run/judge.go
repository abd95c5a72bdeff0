package run

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"calib/fit"
	"calib/fit/models"
	"calib/fit/resample"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/params"
	"calib/run/plan"
)

// replicates of the bootstrap of a look: the ends of an interval then move by some 5% of its width between seeds, and
// two looks must agree.
const replicates = 400

// newLook returns a look at targets, whose names are those of numbers: it says how far the numbers of record are known
// while a run is measured. Its goal is the interval of a number, never that of a point. States are sorted by name;
// the last one is of hosts that may be slow, where that is not decided. opening are the samples before the first round,
// of pairs that look at their ways.
func newLook(targets Targets, settings fit.Settings, opening []dataset.Sample) plan.Look {
	settings.Replicates, settings.Together = cmp.Or(settings.Replicates, replicates), true
	aimed := slices.Sorted(maps.Keys(targets))
	chosen := lists.Where(models.All, func(m fit.Model) bool {
		return slices.ContainsFunc(aimed, func(name string) bool { return slices.Contains(numbers[m.Name], name) })
	})
	return func(d *dataset.Dataset) ([]plan.State, error) {
		all := &dataset.Dataset{Header: d.Header, Samples: slices.Concat(opening, d.Samples)}
		fits, errs := fit.Run(chosen, all, settings)
		v := &view{fits: fits, pairs: map[int64]bool{}, hosts: len(d.Header.Hosts)}
		for i := range d.Samples {
			if s := &d.Samples[i]; s.Exp == names.Paired {
				v.pairs[s.Point[names.FactorPairs]] = true
			}
		}
		out := lists.Map(aimed, func(name string) plan.State { return v.state(name, targets[name]) })
		// More ping-pongs decide which hosts are slow, where there are any.
		open := slices.IndexFunc(fits.Findings, func(f params.Finding) bool { return f.Code == params.Undecided })
		if open >= 0 && slices.ContainsFunc(d.Samples, func(s dataset.Sample) bool { return s.Exp == names.Pingpong }) {
			out = append(out, plan.State{Parameter: "slow hosts", Value: math.NaN(), HalfWidth: math.Inf(1),
				Why: fits.Findings[open].Message, Experiments: []string{names.Pingpong}})
		}
		return out, errors.Join(errs...)
	}
}

// view is what was fitted at one look, and of which hosts and pairs.
type view struct {
	fits  *params.Params
	pairs map[int64]bool // numbers of pairs at once
	hosts int
}

// number is a fitted number, and what its interval is made of.
type number struct {
	plan.State
	known     bool    // there is a value to use
	unbounded bool    // there is no value, and no end above
	most      float64 // how large the number may be, of either sign
	status    string
	fixed     float64 // relative half-width of the terms that more rounds do not narrow
	terms     string  // their names
}

func (v *view) state(name string, target float64) plan.State {
	n := number{State: plan.State{Parameter: name, Value: math.NaN(), HalfWidth: math.Inf(1), Target: target,
		Why: "not fitted yet", Experiments: needs(name)}, most: math.Inf(1)}
	v.find(&n)
	s := n.State
	if !math.IsInf(s.HalfWidth, 1) {
		s.Why = "" // of the status of a number that has an interval
	}
	s.Met = s.HalfWidth <= target
	why := v.beyond(n)
	alpha, _ := v.fits.Parameters["alpha"].Raw()
	if why == "" && n.known && s.Unit == "s" && n.most <= negligible*alpha {
		why = "too small to matter"
	}
	if why != "" && !s.Met {
		s.Beyond, s.Why = true, why
	}
	return s
}

// negligible is the share of the time of a short message below which a part of a message's time does not matter.
const negligible = 0.02

// find looks up a parameter, or a cost by size ("g_s"), which counts by its value in the middle of its domain.
func (v *view) find(n *number) {
	q, isParameter := v.fits.Parameters[n.Parameter]
	fn, isFunction := v.fits.Functions[n.Parameter]
	switch {
	case isParameter:
		n.Unit, n.Why, n.status = q.Unit, q.Why, q.Status
		n.unbounded = q.Bound != nil && math.IsInf(q.Bound[1], 1)
		if n.known = q.Value != nil; !n.known {
			break
		}
		if n.Value = *q.Value; q.CI95 != nil {
			n.HalfWidth = halfWidth(n.Value, *q.CI95)
			n.most = math.Max(math.Abs(q.CI95[0]), math.Abs(q.CI95[1]))
		}
		squares := 0.0
		var terms []string
		for _, t := range q.Budget {
			if t.Type == params.TypeB && t.U > 0 {
				squares += t.U * t.U
				terms = append(terms, t.Name)
			}
		}
		n.fixed, n.terms = resample.HalfWidth(math.Sqrt(squares))/math.Abs(n.Value), strings.Join(terms, ", ")
	case isFunction:
		n.known, n.Why, n.status, n.Unit = fn.Usable(), fn.Why, fn.Status, fn.Unit
		if middle := (fn.Domain["m"][0] + fn.Domain["m"][1]) / 2; n.known {
			n.Value, _ = fn.At(middle, 0, nil) // a cost by size needs no other function
			if half, whole := fn.HalfWidthAt(middle, 0); whole {
				n.HalfWidth, n.most = half/math.Abs(n.Value), math.Abs(n.Value)+half
			}
		}
	}
	if n.known && n.Value == 0 && math.IsInf(n.most, 1) { // in all rounds, so that it has no interval
		n.most = 0
	}
}

// halfWidth is that of an interval relative to its value; +Inf where that is zero, so that no target is met.
func halfWidth(value float64, ci [2]float64) float64 {
	if value == 0 {
		return math.Inf(1)
	}
	return (ci[1] - ci[0]) / 2 / math.Abs(value)
}

// beyond says why no number of rounds would bring a number within its target; "" where they may. What one pair, and as
// many at once as there are hosts for, do not show, more rounds do not.
func (v *view) beyond(n number) string {
	scatter := math.Sqrt(math.Max(0, n.HalfWidth*n.HalfWidth-n.fixed*n.fixed)) // what rounds narrow
	name, network := n.Parameter, cmp.Or(v.fits.Network, &params.Network{})
	switch {
	case n.known && n.HalfWidth > n.Target && scatter <= room(n.Target, n.fixed):
		return fmt.Sprintf("± %s is from %s, which more rounds do not narrow", plan.Percent(n.fixed), n.terms)
	case (name == "G" || name == "g_r") && n.status == params.StatusUnidentifiable, name == "B_L" && n.unbounded:
		return n.Why
	case name != "a" && name != "a_c" && name != "b" && name != "b_c" || !v.pairs[1] || !v.pairs[int64(v.hosts/2)]:
		return ""
	case v.hosts < 4:
		return "one number of pairs only: measure with more hosts"
	case name == "a_c" && network.Packets == params.Switch:
		return "pairs of hosts do not delay each other's packets by more than the interval"
	case name == "b_c" && !n.known && network.Streams == params.Switch,
		name == "b" && !n.known && network.Streams == params.Shared:
		return n.Why
	}
	return ""
}

// room is how wide the part of the rounds may be for the whole to be within a target. Where the other terms leave less
// than half of the target to it, no number of rounds in reach brings the whole within: the target is then that of the
// rounds' part alone.
func room(target, fixed float64) float64 {
	if left := target*target - fixed*fixed; left >= target*target/4 {
		return math.Sqrt(left)
	}
	return target
}
