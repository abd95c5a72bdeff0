package params

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Function is a cost function of named arguments: coefficients of a named form with their intervals and domain.
type Function struct {
	Form  string                `json:"form" jsonschema:"formula of m or x [B] and of p hosts"`
	Coeff map[string]float64    `json:"coeff,omitempty" jsonschema:"c0, l0, floor [unit]; c1, tau [unit/B]; l1 [unit a host]; N [B/s]"`
	CI95  map[string][2]float64 `json:"ci95,omitempty" jsonschema:"95% intervals of coefficients"`
	// Segments are the lines of the form Pieces in the file. In memory they are coefficients: from_1, c0_1, c1_1, ….
	Segments []Piece               `json:"segments,omitempty" jsonschema:"the lines of a form in segments"`
	Unit     string                `json:"unit" jsonschema:"SI unit"`
	Domain   map[string][2]float64 `json:"domain" jsonschema:"ranges of sizes [B] and hosts that it was fitted on"`
	Model    string                `json:"model" jsonschema:"model that found it"`
	Source   string                `json:"source" jsonschema:"paper and equation"`
	Label    string                `json:"label,omitempty" jsonschema:"what it is, in words; else in points.json"`
	Status   string                `json:"status,omitempty" jsonschema:"use coefficients where ok or provisional"`
	Why      string                `json:"why,omitempty" jsonschema:"why the status is not ok"`
}

// Piece is one line of the form Pieces: c0 + c1·x for sizes above From, up to the next From.
type Piece struct {
	From   float64     `json:"from" jsonschema:"B: the line holds for larger messages, up to the next line"`
	FromCI *[2]float64 `json:"from_ci95,omitempty" jsonschema:"95% interval"`
	C0     float64     `json:"c0" jsonschema:"time of no byte, in unit"`
	C0CI   *[2]float64 `json:"c0_ci95,omitempty" jsonschema:"95% interval"`
	C1     float64     `json:"c1" jsonschema:"time of a byte, in unit/B"`
	C1CI   *[2]float64 `json:"c1_ci95,omitempty" jsonschema:"95% interval"`
}

// parted returns f as it stands in the file.
func (f Function) parted() Function {
	shape, _ := readForm(f.Form, f.Coeff)
	lines, ok := shape.(Segments)
	if !ok {
		return f
	}
	for i, g := range lines {
		ci := func(name string) *[2]float64 { return f.Interval(name + "_" + strconv.Itoa(i+1)) }
		f.Segments = append(f.Segments, Piece{g.From, ci("from"), g.C0, ci("c0"), g.C1, ci("c1")})
	}
	f.Coeff, f.CI95 = nil, nil
	return f
}

// joined returns f as it stands in memory.
func (f Function) joined() Function {
	if len(f.Segments) == 0 {
		return f
	}
	f.Coeff, f.CI95 = map[string]float64{}, map[string][2]float64{}
	for i, g := range f.Segments {
		set := func(name string, v float64, ci *[2]float64) {
			name += "_" + strconv.Itoa(i+1)
			if f.Coeff[name] = v; ci != nil {
				f.CI95[name] = *ci
			}
		}
		set("from", g.From, g.FromCI)
		set("c0", g.C0, g.C0CI)
		set("c1", g.C1, g.C1CI)
	}
	f.Segments = nil
	return f
}

// Usable reports whether the status allows to use f.
func (f Function) Usable() bool {
	return f.Status == "" || f.Status == StatusOK || f.Status == StatusProvisional
}

// Shape returns f as a form that can be evaluated. others holds what the form names: g_s of a form with N.
// Errors are of class ErrForm.
func (f Function) Shape(others map[string]Function) (Form, error) {
	s, err := readForm(f.Form, f.Coeff)
	t, ok := s.(Transfer)
	if !ok || t.N == 0 {
		return s, err
	}
	g, ok := others["g_s"]
	if !ok {
		return nil, fmt.Errorf("form %q: g_s: %w: no function g_s", f.Form, ErrForm)
	}
	if t.Gs, err = g.Cost(); err != nil {
		return nil, fmt.Errorf("form %q: g_s: %w", f.Form, err)
	}
	return t, nil
}

// Cost returns f as a cost by size. Errors are of class ErrForm.
func (f Function) Cost() (Cost, error) {
	s, err := readForm(f.Form, f.Coeff)
	if err != nil {
		return Cost{}, err
	}
	c, ok := s.(Cost)
	if !ok {
		return Cost{}, fmt.Errorf("%w: form %q is not a cost by size", ErrForm, f.Form)
	}
	return c, nil
}

// At evaluates f at m bytes while p hosts communicate; p matters to transfer times only. Arguments outside the domain
// are evaluated all the same. Errors are of class ErrForm.
func (f Function) At(m, p float64, others map[string]Function) (float64, error) {
	s, err := f.Shape(others)
	if err != nil {
		return 0, err
	}
	return s.At(m, p), nil
}

// HalfWidthAt is half of the interval of f at m bytes while p hosts communicate. It combines, in quadrature, the
// intervals of the coefficients that make the value of f there. A coefficient without an interval is left out, and
// whole is then false.
func (f Function) HalfWidthAt(m, p float64) (half float64, whole bool) {
	floor, floored := f.Coeff["floor"]
	flat := floored && f.Coeff["c0"]+f.Coeff["l0"]+(f.Coeff["c1"]+f.Coeff["tau"])*m <= floor
	whole = true
	for _, part := range []struct {
		name   string
		factor float64
		counts bool
	}{{"c0", 1, !flat}, {"l0", 1, !flat}, {"c1", m, !flat}, {"tau", m, !flat}, {"floor", 1, flat}, {"l1", p, true}} {
		if _, there := f.Coeff[part.name]; !there || !part.counts {
			continue
		}
		ci, known := f.CI95[part.name]
		half, whole = math.Hypot(half, part.factor*(ci[1]-ci[0])/2), whole && known
	}
	return half, whole
}

// Interval is that of a coefficient, nil where there is none.
func (f Function) Interval(name string) *[2]float64 {
	if ci, ok := f.CI95[name]; ok {
		return &ci
	}
	return nil
}

// Set records a coefficient with its interval. An interval without width is none: nothing varied.
func (f Function) Set(name string, v float64, ci [2]float64) {
	f.Coeff[name] = v
	if Wide(v, ci) {
		f.CI95[name] = ci
	}
}

// End returns f with every coefficient that has an interval at its lower (0) or upper (1) end.
func (f Function) End(side int) Function {
	coeff := map[string]float64{}
	for k, v := range f.Coeff {
		if ci, ok := f.CI95[k]; ok && finite(ci[side]) {
			v = ci[side]
		}
		coeff[k] = v
	}
	f.Coeff = coeff
	return f
}

// CoeffUnit returns the unit of a coefficient of f, "" where the form does not tell: intercepts and floors are in the
// unit of f, slopes in that unit per byte.
func (f Function) CoeffUnit(coeff string) string {
	if _, err := readForm(f.Form, f.Coeff); err != nil {
		return ""
	}
	switch name, _, _ := strings.Cut(coeff, "_"); name {
	case "c0", "floor", "l0", "l1":
		return f.Unit
	case "c1", "tau":
		return f.Unit + "/B"
	case "from":
		return "B"
	case "N":
		return "B/" + f.Unit
	}
	return ""
}

func (f Function) Words(name string) string {
	s, err := readForm(f.Form, f.Coeff)
	if err != nil {
		return name + " = " + f.Form
	}
	return s.Words(name)
}

// Wide reports whether an interval about v has a width.
func Wide(v float64, ci [2]float64) bool { return ci[1]-ci[0] > 1e-12*math.Abs(v) }
