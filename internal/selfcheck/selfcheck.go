// Package selfcheck judges a copy of a run's network: what was measured on the copy, whose parameters are known,
// against what the copy was given.
//
// Its opinion: the truth is the network that was played (package truth), and stands beside what the run found, so that
// a translation which says something else than the run shows. An interval at 95% misses once in twenty, and a run has
// many parameters: one that is outside is measured a second time, and counts only if it is outside again. What the copy
// does not determine is neither back nor missed. What a run computes of the times of all sizes (alpha, beta, …) is
// given to no network. Such a value of the copy is compared with the run's and judges nothing: what it differs by is
// what the translation leaves out.
package selfcheck

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"calib/internal/netspec"
	"calib/internal/params"
)

type Verdict string

const (
	Back         Verdict = "back"         // the truth is within the copy's 95% interval, or its bound
	Missed       Verdict = "missed"       // it is outside
	Undetermined Verdict = "undetermined" // the copy has no value or no interval
	Agrees       Verdict = "agrees"       // no network is given this value: it is that of the run, within both intervals
	Differs      Verdict = "differs"      // it is not
	NotPlayed    Verdict = "not played"   // no parameter of the network that is played: of the hosts, or not known of the run
)

// Row is one parameter: what the run found, what the copy was given, what was measured there. Numbers of the run are
// slowed.
type Row struct {
	Name      string      `json:"name"`
	Label     string      `json:"label"`
	Unit      string      `json:"unit"`
	Run       *float64    `json:"run,omitempty"`
	RunCI95   *[2]float64 `json:"run_ci95,omitempty"`
	RunStatus string      `json:"run_status,omitempty"`
	Truth     *float64    `json:"truth,omitempty"`
	Copy      *float64    `json:"copy,omitempty"`
	CI95      *[2]float64 `json:"ci95,omitempty"`
	Status    string      `json:"status,omitempty"`
	// Lab is what the lab's own hosts and wire add to half of the interval, in quadrature.
	Lab     float64 `json:"lab,omitempty"`
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why,omitempty"`
	// Otherwise: the network that was played says otherwise than the run, by more than the run's interval and a
	// hundredth.
	Otherwise bool `json:"file_says_otherwise,omitempty"`
	// Again: it was outside the interval once, and not in the second measurement.
	Again bool `json:"missed_once,omitempty"`
}

// Judge compares what was measured on a copy with the network that was played and with the run that the copy is of.
// Hosts of the copy are in the order of those of s.
func Judge(s *netspec.Spec, run, copied *params.Params) []Row {
	slowdown := cmp.Or(max(s.Slowdown, 0), 1)
	known := s.TrueParameters()
	maps.Copy(known, s.TrueFunctions())
	for _, name := range derived() {
		delete(known, name)
	}
	theirs, mine := numbers(run, slowdown), numbers(copied, 1)
	var out []Row
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		r := theirs[name].row(name)
		t, stated := known[name]
		switch {
		case stated:
			r.Truth = &t
			r.Otherwise = r.Run != nil && otherwise(*r.Run, r.RunCI95, t)
			r.judge(mine[name], theirs[name].bound != nil)
		case slices.Contains(derived(), name) && r.Run != nil:
			r.compare(mine[name])
		case r.Run != nil:
			r.Verdict = NotPlayed
		}
		if r.Verdict != "" {
			out = append(out, r)
		}
	}
	return append(out, structure(s, run, copied)...)
}

// derived lists parameters that are computed from times of messages of the sizes that were measured: other sizes give
// other values on the same network, the same sizes the same.
func derived() []string {
	return []string{"alpha", "beta", "a_prime_limits", "b_prime_limits", "a_prime_joint", "b_prime_joint", "r_inf", "g", "G"}
}

// least is by which share the network may say otherwise than the run before that is worth a word.
const least = 0.01

// otherwise reports whether t is outside a run's interval and more than least from its value.
func otherwise(v float64, ci *[2]float64, t float64) bool {
	lo, hi := v-least*math.Abs(v), v+least*math.Abs(v)
	if ci != nil {
		lo, hi = math.Min(lo, ci[0]), math.Max(hi, ci[1])
	}
	return t < lo || t > hi
}

// judge compares the copy's number with the truth. bounded: the run has a bound only, so that the copy need have no
// more.
func (r *Row) judge(c number, bounded bool) {
	r.Copy, r.CI95, r.Status, r.Lab, r.Verdict = c.value, c.ci, c.status, c.lab, Undetermined
	t := *r.Truth
	switch {
	case c.value == nil && c.bound != nil && (bounded || c.status == params.StatusBound):
		r.Verdict = Missed
		if c.bound[0] <= t && t <= c.bound[1] {
			r.Verdict = Back
		}
		r.CI95, r.Why = c.bound, "bound"
	case c.value == nil:
		r.Why = cmp.Or(c.why, "the copy's run does not have it")
	case c.ci == nil:
		r.Why = cmp.Or(c.why, "no interval")
	case c.ci[0] <= t && t <= c.ci[1]:
		r.Verdict = Back
	default:
		r.Verdict = Missed
	}
}

// compare holds the copy's number against the run's, both of which have an interval; half of their difference's is
// theirs in quadrature.
func (r *Row) compare(c number) {
	r.Copy, r.CI95, r.Status, r.Lab, r.Verdict = c.value, c.ci, c.status, c.lab, NotPlayed
	if c.value == nil || c.ci == nil || r.RunCI95 == nil {
		r.Why = cmp.Or(c.why, "no interval of both")
		return
	}
	v, w := *r.Run, *c.value
	r.Verdict = Differs
	if lo, hi := w-math.Hypot(w-c.ci[0], r.RunCI95[1]-v), w+math.Hypot(c.ci[1]-w, v-r.RunCI95[0]); lo <= v && v <= hi {
		r.Verdict = Agrees
	}
	if v != 0 {
		r.Why = fmt.Sprintf("%+.1f%%", 100*(w/v-1))
	}
}

type number struct {
	label, unit, status, why string
	value                    *float64 // where it is to be used
	ci, bound                *[2]float64
	lab                      float64 // half width of what the lab's own hosts and wire add
}

// normal95 is the half width of a 95% interval over a standard uncertainty.
const normal95 = 1.96

// numbers lists parameters by name and coefficients of cost functions as "g_s.c1".
func numbers(p *params.Params, slowdown float64) map[string]number {
	out := map[string]number{}
	for name, q := range p.Parameters {
		f := factor(q.Unit, slowdown)
		n := number{label: q.Label, unit: q.Unit, status: q.Status, why: q.Why, value: scale(q.Value, f), bound: scalePair(q.Bound, f)}
		if q.Value != nil {
			n.ci = scalePair(q.CI95, f)
		}
		u := 0.0
		for _, t := range q.Budget {
			if t.Name == params.TermLabHosts || t.Name == params.TermLabWire {
				u = math.Hypot(u, t.U)
			}
		}
		n.lab = normal95 * u * f
		out[name] = n
	}
	for name, fn := range p.Functions {
		for c, v := range fn.Coeff {
			unit := fn.CoeffUnit(c)
			if unit == "" || name == "T" { // the segments of T are others from run to run
				continue
			}
			f := factor(unit, slowdown)
			n := number{label: fn.Label + ", " + c, unit: unit, status: fn.Status, why: fn.Why}
			if fn.Usable() {
				n.value = scale(&v, f)
				if ci, ok := fn.CI95[c]; ok {
					n.ci = scalePair(&ci, f)
				}
			}
			out[name+"."+c] = n
		}
	}
	return out
}

func (n number) row(name string) Row {
	return Row{Name: name, Label: n.label, Unit: n.unit, Run: n.value, RunCI95: n.ci, RunStatus: n.status}
}

// factor is what a number of that unit is multiplied by where all times are slowdown times as long.
func factor(unit string, slowdown float64) float64 {
	switch unit {
	case "s", "s/B":
		return slowdown
	case "B/s":
		return 1 / slowdown
	}
	return 1
}

func scale(v *float64, f float64) *float64 {
	if v == nil {
		return nil
	}
	w := *v * f
	return &w
}

func scalePair(v *[2]float64, f float64) *[2]float64 {
	if v == nil {
		return nil
	}
	return &[2]float64{v[0] * f, v[1] * f}
}
