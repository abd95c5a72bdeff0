package params

import (
	"errors"
	"fmt"
	"slices"

	"calib/internal/units"
)

// Names of the forms in params.json.
const (
	Line     = "c0 + c1*m"
	Floored  = "max(floor, c0 + c1*m)"
	Pieces   = "segments: c0_i + c1_i*x, from_i < x <= from_i+1"
	Bilinear = "l0 + l1*p + tau*m"
	Limited  = "l0 + l1*p + tau*m*max(1, p*m/(N*g_s(m)))"
)

// ErrForm reports a function that cannot be evaluated: an unknown form, or a coefficient or another function that is
// missing.
var ErrForm = errors.New("function cannot be evaluated")

// Form is a cost function of one of the shapes.
type Form interface {
	// Name is the form as params.json has it.
	Name() string
	// At returns the value at m bytes while p hosts communicate.
	At(m, p float64) float64
	// Coefficients lists the coefficients of a function in unit ("s"), each with its own unit.
	Coefficients(unit string) []Coefficient
	// Corners lists the sizes [B] at which the function has an edge or a jump.
	Corners() []float64
	// Words prints a function of that name in seconds as a formula: "g_s(m) = 150 µs + 146 ns/B·m".
	Words(name string) string
}

// Coefficient is a named number of a form.
type Coefficient struct {
	Name  string
	Value float64
	Unit  string
}

// ReadForm makes a form of its name and coefficients. gs gives g_s, which only Limited needs. Errors are of class ErrForm.
func ReadForm(name string, coeff map[string]float64, gs func() (Cost, error)) (Form, error) {
	switch name {
	case Line, Floored:
		return readCost(name, coeff)
	case Pieces:
		return readSegments(coeff)
	case Bilinear, Limited:
		return readTransfer(name, coeff, gs)
	}
	return nil, fmt.Errorf("%w: unknown form %q", ErrForm, name)
}

// need returns an error of class ErrForm unless every coefficient is there.
func need(form string, coeff map[string]float64, names ...string) error {
	for _, name := range slices.Sorted(slices.Values(names)) {
		if _, ok := coeff[name]; !ok {
			return fmt.Errorf("%w: form %q without coefficient %s", ErrForm, form, name)
		}
	}
	return nil
}

// lineWords prints c0 + c1·arg, c0 [s] and c1 [s/B].
func lineWords(c0, c1 float64, arg string) string {
	return units.Format(c0, "s") + term(c1, "s/B", arg)
}

// term prints a coefficient [unit] times an argument, to be added.
func term(c float64, unit, arg string) string {
	sign := " + "
	if c < 0 {
		sign, c = " − ", -c
	}
	return sign + units.Format(c, unit) + "·" + arg
}
