package reports

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"calib/fit/params"
)

// Table writes the short form: verdict, parameters, warnings in one line, files and what to do next.
func Table(w io.Writer, p *params.Params, o Options) error {
	pg := newPage(o)
	pg.verdict(p)
	pg.WriteByte('\n')
	pg.parameters(p)
	pg.costs(p)
	pg.unidentifiable(p)
	if n := len(groupWarnings(p)); n > 0 {
		pg.WriteByte('\n')
		pg.line(2, "%s: the report lists them.", pg.paint(yellow, plural(n, "warning")))
	}
	if pg.Dir != "" {
		pg.WriteByte('\n')
		pg.whereAndNext(p)
	}
	_, err := w.Write(pg.Bytes())
	return err
}

// models lists the models that own parameters, in the order of their fits, then any other by name.
func models(p *params.Params) []string {
	var out []string
	for _, f := range p.Fits {
		if !slices.Contains(out, f.Model) {
			out = append(out, f.Model)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		if m := p.Parameters[name].Model; !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// ordered lists the names of a model's parameters.
func ordered(p *params.Params, model string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		if p.Parameters[name].Model == model {
			out = append(out, name)
		}
	}
	return out
}

// parameters writes the table of all parameters, by model.
func (p *page) parameters(ps *params.Params) {
	if len(ps.Parameters) == 0 {
		p.line(0, "No parameters: no model found the measurements it needs.")
		return
	}
	g := grid{Grid: ParametersOf(ps), wrap: true}
	for _, r := range g.Rows {
		r[0], r[4] = p.paint(bold, r[0]), p.status(r[4])
	}
	p.write(g)
}

// shown returns a parameter's value, unit and interval as printed; without a value, its bound stands for it.
func shown(q params.Parameter) (value, unit, ci string) {
	if q.Value != nil {
		f := Format(*q.Value, q.CI95, q.Unit)
		return f.Value, f.Unit, f.CI
	}
	if q.Bound == nil {
		return "–", "", "–"
	}
	return "–", "", FormatBound(*q.Bound, q.Unit)
}

func (p *page) status(s string) string {
	switch s {
	case params.StatusOK:
		return p.paint(green, s)
	case params.StatusUnidentifiable, params.StatusBound:
		return p.paint(yellow, s)
	}
	return s
}

// unidentifiable says of each parameter without a value what the data allow, and why.
func (p *page) unidentifiable(ps *params.Params) {
	for _, s := range WithoutValueOf(ps) {
		p.line(2, "%s", s)
	}
}

func withoutValue(name string, q params.Parameter) string {
	s := name + " is not identifiable"
	if q.Status == params.StatusBound {
		s = name + " has only a bound"
	}
	if q.Bound != nil {
		s += " (" + FormatBound(*q.Bound, q.Unit) + ")"
	}
	if q.Why != "" {
		s += ": " + strings.TrimSuffix(q.Why, ".")
	}
	return s + "."
}

// sources says which model found which parameters, from which experiment and after which publication.
func (p *page) sources(ps *params.Params) {
	for _, g := range SourcesOf(ps) {
		p.line(2, "%s from %s.", strings.Join(g.Names, ", "), g.Source)
	}
}

// costs writes each cost function in one row, for the short form. A function in pieces is left to the report.
func (p *page) costs(ps *params.Params) {
	g := grid{Grid: Grid{Header: []string{"function", "form", "coefficients"}}, wrap: true}
	for _, f := range FunctionsOf(ps) {
		if f.Pieces {
			continue
		}
		var parts []string
		for _, c := range f.Coeff {
			parts = append(parts, c.Name+" "+c.String())
		}
		g.add(p.paint(bold, f.Name), f.Form, strings.Join(parts, ", "))
	}
	if len(g.Rows) > 0 {
		p.WriteByte('\n')
		p.write(g)
		p.WriteByte('\n')
	}
}

// functions writes each cost function with its coefficients and the range it holds in.
func (p *page) functions(ps *params.Params) {
	if len(ps.Functions) == 0 {
		return
	}
	p.heading("Functions")
	for _, f := range FunctionsOf(ps) {
		p.line(4, "%s = %s [%s]: %s (%s)", p.paint(bold, f.Name), f.Form, f.Unit, f.Label, f.Source)
		for _, c := range f.Coeff {
			p.line(6, "    %s = %s", c.Name, c.Quantity)
		}
		p.line(6, "    holds for %s", f.Domain)
	}
}

// coefficient is a coefficient of f with its interval.
func coefficient(f params.Function, name string) Quantity {
	if ci, ok := f.CI95[name]; ok {
		return Format(f.Coeff[name], &ci, f.CoeffUnit(name))
	}
	return Format(f.Coeff[name], nil, f.CoeffUnit(name))
}

func domain(d map[string][2]float64) string {
	if len(d) == 0 {
		return "–"
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(d)) {
		parts = append(parts, fmt.Sprintf("%s %s … %s", Clean(k), count(d[k][0]), count(d[k][1])))
	}
	return strings.Join(parts, ", ")
}
