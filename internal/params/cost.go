package params

import (
	"fmt"
	"math"

	"calib/internal/units"
)

// Cost is a cost by message size, max(Floor, C0 + C1·m): the forms Line and Floored. Floor 0 is no floor. The zero Cost
// costs nothing. Source: Tam, Wang 2000, table 1.
type Cost struct {
	Floor, C0 float64 // s
	C1        float64 // s/B
}

// Of returns the cost [s] of m bytes.
func (c Cost) Of(m float64) float64 {
	v := c.C0 + c.C1*m
	if c.Floor > 0 {
		return math.Max(c.Floor, v)
	}
	return v
}

// At implements Form.
func (c Cost) At(m, _ float64) float64 { return c.Of(m) }

// Name implements Form.
func (c Cost) Name() string {
	if c.Floor > 0 {
		return Floored
	}
	return Line
}

// Coefficients implements Form.
func (c Cost) Coefficients(unit string) []Coefficient {
	out := []Coefficient{{"c0", c.C0, unit}, {"c1", c.C1, unit + "/B"}}
	if c.Floor > 0 {
		out = append(out, Coefficient{"floor", c.Floor, unit})
	}
	return out
}

// Corners implements Form.
func (c Cost) Corners() []float64 {
	if c.Floor > 0 {
		return []float64{(c.Floor - c.C0) / c.C1}
	}
	return nil
}

// Words implements Form.
func (c Cost) Words(name string) string {
	if c.Floor > 0 {
		return fmt.Sprintf("%s(m) = %s, but at least %s", name, lineWords(c.C0, c.C1, "m"), units.Format(c.Floor, "s"))
	}
	return name + "(m) = " + lineWords(c.C0, c.C1, "m")
}

func readCost(name string, coeff map[string]float64) (Form, error) {
	names := []string{"c0", "c1"}
	if name == Floored {
		names = append(names, "floor")
	}
	if err := need(name, coeff, names...); err != nil {
		return nil, err
	}
	return Cost{Floor: coeff["floor"], C0: coeff["c0"], C1: coeff["c1"]}, nil
}
