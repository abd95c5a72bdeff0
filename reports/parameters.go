package reports

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"calib/fit"
)

// Table writes the short form: verdict, parameters, warnings in one line, files and what to do next.
func Table(w io.Writer, p *fit.Params, o Options) error {
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
func models(p *fit.Params) []string {
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
func ordered(p *fit.Params, model string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		if p.Parameters[name].Model == model {
			out = append(out, name)
		}
	}
	return out
}

// parameters writes the table of all parameters, by model.
func (p *page) parameters(ps *fit.Params) {
	if len(ps.Parameters) == 0 {
		p.line(0, "No parameters: no model found the measurements it needs.")
		return
	}
	g := grid{header: []string{"symbol", "value", "unit", "95% interval", "status", "what it is"},
		right: []bool{false, true, false, false, false, false}, wrap: true}
	for _, model := range models(ps) {
		for _, name := range ordered(ps, model) {
			q := ps.Parameters[name]
			value, unit, ci := shown(q)
			g.add(p.paint(bold, clean(name)), value, clean(unit), ci, p.status(q.Status), clean(q.Label))
		}
	}
	p.write(g)
}

// shown returns a parameter's value, unit and interval as printed; without a value, its bound stands for it.
func shown(q fit.Parameter) (value, unit, ci string) {
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
	case fit.StatusOK:
		return p.paint(green, s)
	case fit.StatusUnidentifiable, fit.StatusBound:
		return p.paint(yellow, s)
	}
	return clean(s)
}

// unidentifiable says of each parameter without a value what the data allow, and why.
func (p *page) unidentifiable(ps *fit.Params) {
	for _, model := range models(ps) {
		for _, name := range ordered(ps, model) {
			q := ps.Parameters[name]
			if q.Status == fit.StatusOK {
				continue
			}
			s := name + " is not identifiable"
			if q.Status == fit.StatusBound {
				s = name + " has only a bound"
			}
			if q.Bound != nil {
				s += " (" + FormatBound(*q.Bound, q.Unit) + ")"
			}
			if q.Why != "" {
				s += ": " + strings.TrimSuffix(q.Why, ".")
			}
			p.line(2, "%s.", clean(s))
		}
	}
}

// sources says which model found which parameters, from which experiment and after which publication.
func (p *page) sources(ps *fit.Params) {
	for _, model := range models(ps) {
		var heads []string
		names := map[string][]string{}
		for _, name := range ordered(ps, model) {
			q := ps.Parameters[name]
			head := fmt.Sprintf("%s on %s (%s)", model, q.Experiment, q.Source)
			if names[head] == nil {
				heads = append(heads, head)
			}
			names[head] = append(names[head], name)
		}
		for _, head := range heads {
			p.line(2, "%s from %s.", clean(strings.Join(names[head], ", ")), clean(head))
		}
	}
}

// costs writes each cost function in one row, for the short form. A function in pieces is left to the report.
func (p *page) costs(ps *fit.Params) {
	g := grid{header: []string{"function", "form", "coefficients"}, right: make([]bool, 3), wrap: true}
	for _, name := range slices.Sorted(maps.Keys(ps.Functions)) {
		f := ps.Functions[name]
		if f.Form == fit.SegmentsForm {
			continue
		}
		var parts []string
		for _, c := range slices.Sorted(maps.Keys(f.Coeff)) {
			parts = append(parts, clean(c)+" "+coefficient(f, c).String())
		}
		g.add(p.paint(bold, clean(name)), clean(f.Form), strings.Join(parts, ", "))
	}
	if len(g.rows) > 0 {
		p.WriteByte('\n')
		p.write(g)
		p.WriteByte('\n')
	}
}

// functions writes each cost function with its coefficients and the range it holds in.
func (p *page) functions(ps *fit.Params) {
	if len(ps.Functions) == 0 {
		return
	}
	p.heading("Functions")
	for _, name := range slices.Sorted(maps.Keys(ps.Functions)) {
		f := ps.Functions[name]
		p.line(4, "%s = %s [%s]: %s (%s)", p.paint(bold, clean(name)), clean(f.Form), clean(f.Unit), clean(f.Label), clean(f.Source))
		for _, c := range slices.Sorted(maps.Keys(f.Coeff)) {
			p.line(6, "    %s = %s", clean(c), coefficient(f, c))
		}
		p.line(6, "    holds for %s", domain(f.Domain))
	}
}

// coefficient is a coefficient of f with its interval.
func coefficient(f fit.Function, name string) Quantity {
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
		parts = append(parts, fmt.Sprintf("%s %s … %s", clean(k), count(d[k][0]), count(d[k][1])))
	}
	return strings.Join(parts, ", ")
}
