// Package cost predicts on paper how long a communication pattern takes, from the parameters of a run: from the start
// of all ranks together to the last delivery. A pattern is evaluated as it is written down (pattern.Schedule), by one
// of
//
//   - Hockney, a latency and a rate, at ports that do one thing at a time;
//   - LogGP, with the overheads of processors and the gaps of their network interfaces;
//   - Hyperbolic, with blocks of hosts and network, in the limits of short and long messages;
//   - LoGPC, LogGP with contention, for all-to-all exchanges;
//   - Cluster, closed forms for broadcasts, gathers and scatters over a switch.
//
// Nothing is computed by the ranks, and nothing is lost.
package cost

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"calib/params"
)

type Model interface {
	// Time returns the time [s] of a pattern in a team, from the start of all ranks together to the last delivery. It
	// is positive and finite. It returns ErrNotPredicted, with the reason, where the model says nothing of the pattern;
	// ErrParameters where the parameters make a time that none can be; and what pattern.Of returns where it is not
	// defined for the team.
	Time(*Traffic) (seconds float64, err error)
}

var (
	// ErrParameters reports parameters that are missing, withheld or impossible.
	ErrParameters = errors.New("no parameters to predict with")
	// ErrNotPredicted reports a pattern that a model has nothing to say about.
	ErrNotPredicted = errors.New("not predicted")
)

// onPaper is a model that evaluates the messages of a pattern.
type onPaper struct {
	name string
	eval func(*Traffic, *list) (float64, error)
}

func (m onPaper) Time(t *Traffic) (float64, error) {
	l, err := t.list()
	if err != nil {
		return 0, err
	}
	v, err := m.eval(t, l)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s, %s: %w", m.name, t.Pattern.Name(), err)
	case !possible(v):
		return 0, fmt.Errorf("%s, %s: a time of %g s: %w", m.name, t.Pattern.Name(), v, ErrParameters)
	}
	return v, nil
}

// byEvents is a model that evaluates a schedule by its events alone.
func byEvents(name string, of func(bytes float64) stages) Model {
	return onPaper{name, func(_ *Traffic, l *list) (float64, error) { return machine{of: of}.run(l), nil }}
}

// possible reports whether v can be a time, or a time per byte.
func possible(v float64) bool { return v > 0 && !math.IsInf(v, 1) }

// reader takes the parameters of one model off a params.json and remembers what is wrong with them.
type reader struct {
	params *params.Params
	model  string   // whose parameters these are
	all    []string // that it needs
	wrong  []string
}

// orZero returns a time that may be zero (params.Parameter.Zero), and otherwise what notNegative does.
func (r *reader) orZero(name string) float64 {
	if q, _ := r.params.Parameter(r.model, name); q.Zero() != "" {
		return 0
	}
	return r.notNegative(name)
}

// notNegative returns a parameter that is zero, and otherwise what value does.
func (r *reader) notNegative(name string) float64 {
	if q, _ := r.params.Parameter(r.model, name); q.Value != nil && *q.Value == 0 {
		return 0
	}
	return r.value(name)
}

// value returns a parameter that is positive; 0, with a complaint, where there is none.
func (r *reader) value(name string) float64 {
	q, ok := r.params.Parameter(r.model, name)
	switch {
	case !ok:
		r.wrong = append(r.wrong, name+" is missing")
	case q.Value == nil:
		why := strings.TrimSuffix(q.Status+": "+q.Why, ": ")
		r.wrong = append(r.wrong, fmt.Sprintf("%s is withheld (%s)", name, why))
	case !possible(*q.Value):
		r.wrong = append(r.wrong, fmt.Sprintf("%s = %g %s is not positive and finite", name, *q.Value, q.Unit))
	default:
		return *q.Value
	}
	return 0
}

// withheld reports whether a parameter is there without a value because the data only bound it.
func (r *reader) withheld(name string) bool {
	q, ok := r.params.Parameter(r.model, name)
	return ok && q.Value == nil && (q.Status == params.StatusBound || q.Status == params.StatusUnidentifiable)
}

// err returns all complaints as ErrParameters; nil without any.
func (r *reader) err() error {
	if len(r.wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%w of model %s: %s%s", ErrParameters, r.model, strings.Join(r.wrong, "; "), r.params.Hint(r.all...))
}
