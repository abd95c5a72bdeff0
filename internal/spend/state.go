package spend

import (
	"fmt"
	"math"
	"strings"

	"calib/fit/params"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// State is how far a parameter is known after a look.
type State struct {
	Parameter string
	Unit      string
	Value     float64 // NaN where there is none
	HalfWidth float64 // of the 95% interval, relative to the value; +Inf where there is none: no target is met without
	Scatter   float64 // the part of HalfWidth that comes from the scatter between rounds: more of them narrow it
	Target    float64
	// Met: the half-width was within the target in this look and in the one before. The width of an interval is itself random, and the
	// first look at which it is small is often a lucky one.
	Met bool
	// Beyond: in this look and in the one before, Why says that no number of rounds would meet the target.
	Beyond bool
	// Why there is no value or no interval, or why more rounds do not help; "" elsewhere.
	Why string
}

// String is one line for people: "a_c 345.0 µs ± 1.4%, target 2%: met".
func (s State) String() string {
	text := s.Parameter
	if !math.IsNaN(s.Value) {
		text += " " + units.Format(s.Value, s.Unit)
	}
	if !math.IsInf(s.HalfWidth, 0) {
		text += fmt.Sprintf(" ± %.2g%%", 100*s.HalfWidth)
	}
	text += ", target " + percent(s.Target)
	switch {
	case s.Met:
		text += ": met"
	case s.Beyond:
		text += ": beyond reach"
	}
	if s.Why != "" {
		text += " (" + s.Why + ")"
	}
	return text
}

// Done reports whether a run may end: some target is met, and every other is too, or is beyond what rounds can do.
func Done(states []State) bool {
	met := false
	for _, s := range states {
		if !s.Met && !s.Beyond {
			return false
		}
		met = met || s.Met
	}
	return met
}

// number is a fitted number and what its interval is made of. Half-widths are relative to the value.
type number struct {
	value float64 // as estimated, also where it is withheld
	known bool    // there is a value to use
	unit  string
	whole float64
	fixed float64 // of the terms that more rounds do not narrow
	terms string  // their names
	why   string  // it is not known
}

// rounds is the part of the half-width that more rounds narrow.
func (n number) rounds() float64 { return math.Sqrt(math.Max(0, n.whole*n.whole-n.fixed*n.fixed)) }

// number looks a parameter up, or a coefficient of a function ("g_s.c0").
func (v *view) number(name string) number {
	out := number{value: math.NaN(), whole: math.Inf(1), why: "not fitted yet"}
	if symbol, c, ok := strings.Cut(name, "."); ok {
		fn, fitted := v.fits.Functions[symbol]
		value, there := fn.Coeff[c]
		if !fitted || !there {
			return out
		}
		out.value, out.unit, out.known, out.why = value, fn.CoeffUnit(c), fn.Usable(), fn.Why
		ci, wide := fn.CI95[c]
		out.whole = halfWidth(value, ci, wide)
		return out
	}
	q, ok := v.fits.Parameters[name]
	if !ok {
		return out
	}
	out.unit, out.why = q.Unit, q.Why
	raw, estimated := q.Raw()
	if !estimated {
		return out
	}
	var ci [2]float64
	if q.CI95 != nil {
		ci = *q.CI95
	}
	out.value, out.known = raw, q.Value != nil
	out.whole = halfWidth(out.value, ci, q.CI95 != nil)
	squares := 0.0
	var terms []string
	for _, t := range q.Budget {
		if t.Type == params.TypeB && t.U > 0 {
			squares += t.U * t.U
			terms = append(terms, t.Name)
		}
	}
	out.fixed, out.terms = resample.HalfWidth(math.Sqrt(squares))/math.Abs(out.value), strings.Join(terms, ", ")
	return out
}

// halfWidth is that of an interval relative to its value.
func halfWidth(value float64, ci [2]float64, has bool) float64 {
	if !has || value == 0 {
		return math.Inf(1)
	}
	return (ci[1] - ci[0]) / 2 / math.Abs(value)
}

// value is that of a parameter, where it has one.
func (v *view) value(name string) (float64, bool) {
	q := v.fits.Parameters[name]
	if q.Value == nil {
		return math.NaN(), false
	}
	return *q.Value, true
}

// room is how wide the part of the rounds may be for the whole to be within a target. Where the other terms leave less than half of
// the target to it, no number of rounds in reach brings the whole within: the target is then that of the rounds' part alone.
func room(target, fixed float64) float64 {
	if left := target*target - fixed*fixed; left >= target*target/4 {
		return math.Sqrt(left)
	}
	return target
}

// beyond says why no number of rounds would bring a parameter within its target; "" where they may.
func (v *view) beyond(name string, n number, target float64) string {
	network, f := v.fits.Network, familyOf(name)
	ofPairs := f.model == familyOf("a").model && !strings.HasSuffix(name, "_prime")
	switch {
	case n.known && n.whole > target && n.rounds() <= room(target, n.fixed):
		return fmt.Sprintf("%s alone make it ± %.2g%%, which more rounds do not narrow", n.terms, 100*n.fixed)
	case ofPairs && v.pairs() == 1:
		return "one number of pairs only: more hosts would tell it, more rounds do not"
	case name == "G" && v.fits.Parameters[name].Status == params.StatusUnidentifiable:
		return n.why
	case network == nil:
	case name == "a_c" && network.Packets == params.Switch, name == "b_c" && network.Streams == params.Switch:
		return "the network behaves like a switch: there is no contention that matters"
	case name == "b" && !n.known && network.Streams == params.Shared:
		return n.why
	}
	return ""
}

// pairs is how many numbers of pairs were measured at once.
func (v *view) pairs() int {
	seen := map[int64]bool{}
	for _, s := range v.data.Samples(names.Paired, "") {
		if n := s.Point[names.FactorPairs]; n > 0 {
			seen[n] = true
		}
	}
	return len(seen)
}
