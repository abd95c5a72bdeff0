package params

import (
	"fmt"
	"math"

	"calib/internal/units"
)

// Transfer is the time of a packet in the network,
//
//	L(m, p) = L0 + L1·p + Tau·m·max(1, p·m/(N·g_s(m))),
//
// the forms Bilinear and Limited. N is the aggregate rate of the network [B/s]; N = 0 is no limit, so that L is
// bilinear.
// Source: Tam, Wang 2000, table 1.
type Transfer struct {
	L0, L1 float64 // s, s per host
	Tau    float64 // s/B
	N      float64 // B/s
	Gs     Cost
}

// At implements Form: L [s] of m bytes while p hosts communicate.
func (t Transfer) At(m, p float64) float64 { return t.L0 + t.L1*p + t.Tau*m*t.Stretch(m, p) }

// Stretch is the factor by which the aggregate limit stretches the time per byte, at least 1.
func (t Transfer) Stretch(m, p float64) float64 {
	if t.N <= 0 || math.IsInf(t.N, 1) {
		return 1
	}
	return math.Max(1, p*m/(t.N*t.Gs.Of(m)))
}

// Name implements Form.
func (t Transfer) Name() string {
	if t.N > 0 {
		return Limited
	}
	return Bilinear
}

// Coefficients implements Form.
func (t Transfer) Coefficients(unit string) []Coefficient {
	out := []Coefficient{{"l0", t.L0, unit}, {"l1", t.L1, unit}, {"tau", t.Tau, unit + "/B"}}
	if t.N > 0 {
		out = append(out, Coefficient{"N", t.N, "B/" + unit})
	}
	return out
}

// Corners implements Form: none, since where the limit begins depends on p.
func (t Transfer) Corners() []float64 { return nil }

// Words implements Form.
func (t Transfer) Words(name string) string {
	text := name + "(m, p) = " + units.Format(t.L0, "s") + term(t.L1, "s", "p") + term(t.Tau, "s/B", "m")
	if t.N > 0 {
		text += ", and longer where the hosts offer more than " + units.Format(t.N, "B/s") + " together"
	}
	return text
}

func readTransfer(name string, coeff map[string]float64, gs func() (Cost, error)) (Form, error) {
	names := []string{"l0", "l1", "tau"}
	if name == Limited {
		names = append(names, "N")
	}
	if err := need(name, coeff, names...); err != nil {
		return nil, err
	}
	t := Transfer{L0: coeff["l0"], L1: coeff["l1"], Tau: coeff["tau"]}
	if name == Limited {
		var err error
		if t.Gs, err = gs(); err != nil {
			return nil, fmt.Errorf("form %q: g_s: %w", name, err)
		}
		t.N = coeff["N"]
	}
	return t, nil
}
