// Package review decides which numbers of a finished run may be used. Models say what they estimated and how far it
// scatters; this package holds the estimates against what is possible, against the data that a model was fitted to, and
// against one another, and sets the status of every parameter and function.
//
// Its opinion: a status is earned. A number is ok only if it has an interval, is possible, has data to spare, belongs
// to a model that describes its own data, and is not contradicted by another number of the same run. Whatever fails
// keeps its estimate and says why. Limits and margins are constants, stated with their reasons where they are defined;
// the tables of rules are in possible.go, evidence.go and agree.go.
package review

import (
	"maps"
	"slices"
	"strings"

	"calib/internal/units"
	"calib/params"
)

// Apply sets the status of every parameter and function of p, and adds findings that say why. Rules look at what models
// found with status ok; what a model withheld itself stays as it is. First comes what is impossible, then what
// contradicts something else, then what lacks evidence: a number that an earlier rule withheld is no witness against
// another.
func Apply(p *params.Params) {
	r := &review{Params: p, fits: map[string]*params.Fit{}, reasons: map[string][]string{}}
	for _, f := range p.Fits {
		r.fits[f.Model] = f
	}
	for _, name := range slices.Sorted(maps.Keys(p.Functions)) {
		if f := p.Functions[name]; f.Status == "" {
			f.Status = params.StatusOK
			p.Functions[name] = f
		}
	}
	r.possible()
	r.agree()
	r.follow()
	r.evidence()
	r.summarise()
	p.Distribute()
}

type review struct {
	*params.Params
	fits    map[string]*params.Fit // by model
	reasons map[string][]string    // names of parameters and functions, by why they are provisional
	zero    []string               // those that cannot be told from zero
}

// eachParameter calls do with every parameter that has a value, in the order of their names.
func (r *review) eachParameter(do func(name string, q params.Parameter)) {
	for _, name := range slices.Sorted(maps.Keys(r.Parameters)) {
		if q := r.Parameters[name]; q.Value != nil {
			do(name, q)
		}
	}
}

// eachFunction calls do with every function that may still be used, in the order of their names.
func (r *review) eachFunction(do func(name string, f params.Function)) {
	for _, name := range slices.Sorted(maps.Keys(r.Functions)) {
		if f := r.Functions[name]; f.Usable() {
			do(name, f)
		}
	}
}

// withhold takes a parameter out of use; bound may be nil.
func (r *review) withhold(name, status, why string, bound *params.Bound) {
	q := r.Parameters[name]
	q.Withhold(status, why)
	q.Bound = bound
	r.Parameters[name] = q
}

// mark sets the status of a function that is not ok.
func (r *review) mark(name, status, why string) {
	f := r.Functions[name]
	f.Status, f.Why = status, why
	r.Functions[name] = f
}

func (r *review) add(f params.Finding) { r.Findings = append(r.Findings, f) }

// provisional marks a parameter that has a value as provisional where there are reasons; "" is none.
func (r *review) provisional(name string, reasons ...string) {
	q := r.Parameters[name]
	q.Status, q.Why = r.because(name, q.Status, q.Why, reasons)
	r.Parameters[name] = q
}

func (r *review) provisionalFunction(name string, reasons ...string) {
	f := r.Functions[name]
	f.Status, f.Why = r.because(name+"()", f.Status, f.Why, reasons)
	r.Functions[name] = f
}

// because adds reasons to what makes a number provisional already. What another status says why is no such reason.
func (r *review) because(name, status, why string, reasons []string) (newStatus, newWhy string) {
	for _, more := range reasons {
		if more == "" {
			continue
		}
		r.reasons[more] = append(r.reasons[more], name)
		if status == params.StatusProvisional && why != "" {
			more = why + "; " + more
		}
		status, why = params.StatusProvisional, more
	}
	return status, why
}

// summarise adds one finding for all that cannot be told from zero, and one for each reason why something is
// provisional.
func (r *review) summarise() {
	if len(r.zero) > 0 {
		r.add(params.Notef(params.ZeroInInterval, "only a bound: %s may be zero", strings.Join(r.zero, ", ")))
	}
	for _, why := range slices.Sorted(maps.Keys(r.reasons)) {
		r.add(params.Notef(params.Provisional, "provisional: %s: %s", strings.Join(r.reasons[why], ", "), why))
	}
}

// number prints a value with its interval, for a reason.
func number(v float64, ci *[2]float64, unit string) string {
	text := units.Format(v, unit)
	if ci != nil {
		text += " [" + units.Format(ci[0], unit) + ", " + units.Format(ci[1], unit) + "]"
	}
	return text
}

// Contradicted marks parameters and functions of a reviewed p as provisional, because traffic that no fit has seen
// contradicts what a model makes of them together. Those that are not ok stay as they are.
func Contradicted(p *params.Params, names []string, why string) {
	r := &review{Params: p, reasons: map[string][]string{}}
	for _, name := range names {
		q, number := p.Parameters[name]
		if number && q.Status == params.StatusOK {
			r.provisional(name, why)
		} else if f, ok := p.Functions[name]; ok && !number && f.Status == params.StatusOK {
			r.provisionalFunction(name, why)
		}
	}
	r.summarise()
	p.Distribute()
}
