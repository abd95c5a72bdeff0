package params

import (
	"strconv"
	"strings"

	"calib/internal/units"
)

// Segments are straight lines over ranges of the size x [B], ascending: the form Pieces, with coefficients from_i [B],
// c0_i [s] and c1_i [s/B] for segment i = 1, 2, …. The last has no end. A size exactly on a break belongs to the lower
// segment.
type Segments []Segment

// Segment is one of them, for sizes above From.
type Segment struct{ From, C0, C1 float64 }

// behindJump is how far behind a jump a curve goes on, as a share of where it is.
const behindJump = 1e-4

// At implements Form.
func (s Segments) At(x, _ float64) float64 {
	for i, g := range s {
		if i+1 == len(s) || x <= s[i+1].From {
			return g.C0 + g.C1*x
		}
	}
	return 0
}

// Name implements Form.
func (s Segments) Name() string { return Pieces }

// Coefficients implements Form.
func (s Segments) Coefficients(unit string) []Coefficient {
	var out []Coefficient
	for i, g := range s {
		n := "_" + strconv.Itoa(i+1)
		out = append(out, Coefficient{"c0" + n, g.C0, unit}, Coefficient{"c1" + n, g.C1, unit + "/B"}, Coefficient{"from" + n, g.From, "B"})
	}
	return out
}

// Corners implements Form.
func (s Segments) Corners() []float64 {
	var out []float64
	for i := 1; i < len(s); i++ {
		out = append(out, s[i].From, s[i].From*(1+behindJump))
	}
	return out
}

// Words implements Form.
func (s Segments) Words(name string) string {
	var parts []string
	for _, g := range s {
		part := lineWords(g.C0, g.C1, "x")
		if g.From > 0 {
			part += " above " + units.Format(g.From, "B")
		}
		parts = append(parts, part)
	}
	return name + "(x) = " + strings.Join(parts, "; ")
}

func readSegments(coeff map[string]float64) (Form, error) {
	var out Segments
	for i := 1; ; i++ {
		n := "_" + strconv.Itoa(i)
		if _, more := coeff["from"+n]; !more && i > 1 {
			return out, nil
		}
		if err := need(Pieces, coeff, "from"+n, "c0"+n, "c1"+n); err != nil {
			return nil, err
		}
		out = append(out, Segment{From: coeff["from"+n], C0: coeff["c0"+n], C1: coeff["c1"+n]})
	}
}
