package selfcheck

import (
	"math"

	"calib/internal/params"
)

// number is a parameter or a coefficient of a run, slowed.
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

// row begins a row with what the run found.
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
