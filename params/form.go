package params

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"calib/internal/units"
)

// Names of the forms in params.json.
const (
	Line     = "c0 + c1*m"
	Floored  = "max(floor, c0 + c1*m)"
	Pieces   = "segments: c0_i + c1_i*x, from_i < x <= from_i+1"
	Bilinear = "l0 + l1*p + tau*m"
	Limited  = "l0 + l1*p + tau*m*max(1, p*m/(N*g_s(m)))"

	FlooredBilinear = "l1*p + max(floor, l0 + tau*m)"
	FlooredLimited  = "l1*p + max(floor, l0 + tau*m*max(1, p*m/(N*g_s(m))))"
)

// ErrForm reports a function that cannot be evaluated: an unknown form, or a coefficient or another function that is
// missing.
var ErrForm = errors.New("function cannot be evaluated")

// Form is a cost function of one of the shapes.
type Form interface {
	// At returns the value at m bytes while p hosts communicate.
	At(m, p float64) float64
	// Corners lists the sizes [B] at which the function has an edge or a jump.
	Corners() []float64
	// Words prints a function of that name in seconds as a formula: "g_s(m) = 150 µs + 146 ns/B·m".
	Words(name string) string
}

// coefficients are what a form needs; Pieces are as many as there are ranges.
var coefficients = map[string][]string{
	Line: {"c0", "c1"}, Floored: {"c0", "c1", "floor"}, Bilinear: {"l0", "l1", "tau"}, Limited: {"N", "l0", "l1", "tau"},
	FlooredBilinear: {"floor", "l0", "l1", "tau"}, FlooredLimited: {"N", "floor", "l0", "l1", "tau"},
}

// readForm makes a form of its name and coefficients; of Limited without g_s. Errors are of class ErrForm.
func readForm(name string, coeff map[string]float64) (Form, error) {
	if name == Pieces {
		return readSegments(coeff)
	}
	names, known := coefficients[name]
	if !known {
		return nil, fmt.Errorf("%w: unknown form %q", ErrForm, name)
	}
	own, err := only(name, coeff, names...)
	if err != nil {
		return nil, err
	}
	if name == Line || name == Floored {
		return Cost{Floor: own["floor"], C0: own["c0"], C1: own["c1"]}, nil
	}
	return Transfer{L0: own["l0"], L1: own["l1"], Tau: own["tau"], N: own["N"], Floor: own["floor"]}, nil
}

// only returns the coefficients of those names. It returns an error of class ErrForm unless every one is there.
func only(form string, coeff map[string]float64, names ...string) (map[string]float64, error) {
	out := map[string]float64{}
	for _, name := range names {
		v, ok := coeff[name]
		if !ok {
			return nil, fmt.Errorf("%w: form %q without coefficient %s", ErrForm, form, name)
		}
		out[name] = v
	}
	return out, nil
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

func (c Cost) At(m, _ float64) float64 { return c.Of(m) }

func (c Cost) Corners() []float64 {
	if c.Floor > 0 {
		return []float64{(c.Floor - c.C0) / c.C1}
	}
	return nil
}

func (c Cost) Words(name string) string {
	if c.Floor > 0 {
		return fmt.Sprintf("%s(m) = %s, but at least %s", name, lineWords(c.C0, c.C1, "m"), units.Format(c.Floor, "s"))
	}
	return name + "(m) = " + lineWords(c.C0, c.C1, "m")
}

// Segments are straight lines over ranges of the size x [B], ascending: the form Pieces, with coefficients from_i [B],
// c0_i [s] and c1_i [s/B] for segment i = 1, 2, …. The last has no end. A size exactly on a break belongs to the lower
// segment.
type Segments []Segment

// Segment is one of them, for sizes above From.
type Segment struct{ From, C0, C1 float64 }

// mostWords is how many lines are printed; of more it is the first and the last.
const mostWords = 6

// behindJump is how far behind a jump a curve goes on, as a share of where it is.
const behindJump = 1e-4

func (s Segments) At(x, _ float64) float64 {
	for i, g := range s {
		if i+1 == len(s) || x <= s[i+1].From {
			return g.C0 + g.C1*x
		}
	}
	return 0
}

func (s Segments) Corners() []float64 {
	var out []float64
	for i := 1; i < len(s); i++ {
		out = append(out, s[i].From, s[i].From*(1+behindJump))
	}
	return out
}

func (s Segments) Words(name string) string {
	var parts []string
	for _, g := range s {
		part := lineWords(g.C0, g.C1, "x")
		if g.From > 0 {
			part += " above " + units.Format(g.From, "B")
		}
		parts = append(parts, part)
	}
	if n := len(parts); n > mostWords {
		parts = []string{parts[0], units.Plural(n-2, "line"), parts[n-1]}
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
		own, err := only(Pieces, coeff, "c0"+n, "c1"+n, "from"+n)
		if err != nil {
			return nil, err
		}
		out = append(out, Segment{From: own["from"+n], C0: own["c0"+n], C1: own["c1"+n]})
	}
}

// Transfer is the time of a packet in the network,
//
//	L_cluster(m, p) = L1·p + max(Floor, L0 + Tau·m·max(1, p·m/(N·g_s(m)))),
//
// the forms Bilinear and Limited, each with or without a floor. N is the aggregate rate of the network [B/s]; N = 0 is
// no limit, and Floor = 0 no floor, as where frames have no least size.
// Source: Tam, Wang 2000, table 1, which has no floor.
type Transfer struct {
	L0, L1 float64 // s, s per host
	Tau    float64 // s/B
	N      float64 // B/s
	Floor  float64 // s
	Gs     Cost
}

func (t Transfer) At(m, p float64) float64 {
	if line := t.Line(m, p); t.Floor <= 0 || line > t.Floor {
		return line + t.L1*p
	}
	return t.Floor + t.L1*p
}

// Line is what the floor is held against.
func (t Transfer) Line(m, p float64) float64 { return t.L0 + t.Tau*m*t.Stretch(m, p) }

// Stretch is the factor by which the aggregate limit stretches the time per byte, at least 1.
func (t Transfer) Stretch(m, p float64) float64 {
	if t.N <= 0 || math.IsInf(t.N, 1) {
		return 1
	}
	return math.Max(1, p*m/(t.N*t.Gs.Of(m)))
}

// Corners implements Form: none, since where the limit begins depends on p.
func (t Transfer) Corners() []float64 { return nil }

func (t Transfer) Words(name string) string {
	text := name + "(m, p) = " + units.Format(t.L0, "s") + term(t.L1, "s", "p") + term(t.Tau, "s/B", "m")
	if t.Floor > 0 {
		text += ", but at least " + units.Format(t.Floor, "s") + term(t.L1, "s", "p")
	}
	if t.N > 0 {
		text += ", and longer where the hosts offer more than " + units.Format(t.N, "B/s") + " together"
	}
	return text
}
