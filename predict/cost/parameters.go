package cost

import (
	"fmt"
	"strings"

	"calib/internal/params"
)

// reader takes the parameters of one model off a params.json and remembers what is wrong with them.
type reader struct {
	params *params.Params
	model  string   // whose parameters these are
	all    []string // that it needs
	wrong  []string
}

// find returns a parameter of the model. It stands under its plain name or, where another model has that, as
// model.name.
func (r *reader) find(name string) (params.Parameter, bool) {
	if q, ok := r.params.Parameters[r.model+"."+name]; ok {
		return q, true
	}
	q, ok := r.params.Parameters[name]
	return q, ok && q.Model == r.model
}

// orZero returns a time that may be zero (params.Parameter.Zero), and otherwise what value does.
func (r *reader) orZero(name string) float64 {
	if q, _ := r.find(name); q.Zero() != "" {
		return 0
	}
	return r.value(name)
}

// value returns a parameter that is positive; 0, with a complaint, where there is none.
func (r *reader) value(name string) float64 {
	q, ok := r.find(name)
	switch {
	case !ok:
		r.wrong = append(r.wrong, name+" is missing")
	case q.Value == nil:
		why := q.Status
		if q.Why != "" {
			why += ": " + q.Why
		}
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
	q, ok := r.find(name)
	return ok && q.Value == nil && (q.Status == params.StatusBound || q.Status == params.StatusUnidentifiable)
}

// err returns all complaints as ErrParameters; nil without any.
func (r *reader) err() error {
	if len(r.wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%w of model %s: %s%s", ErrParameters, r.model, strings.Join(r.wrong, "; "), r.params.Hint(r.all...))
}
