package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"calib/internal/params"
)

// namedParameter is a parameter with its name in params.json.
type namedParameter struct {
	name string
	params.Parameter
}

// inOrder lists all parameters: by model in the order of the fits, then by name.
func inOrder(p *params.Params) []namedParameter {
	rank := map[string]int{}
	rankOf := func(model string) {
		if _, ok := rank[model]; !ok {
			rank[model] = len(rank)
		}
	}
	for _, f := range p.Fits {
		rankOf(f.Model)
	}
	var out []namedParameter
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		rankOf(p.Parameters[name].Model)
		out = append(out, namedParameter{name, p.Parameters[name]})
	}
	slices.SortStableFunc(out, func(a, b namedParameter) int { return cmp.Compare(rank[a.Model], rank[b.Model]) })
	return out
}

// gridOf has a row for each parameter: symbol, value, unit, interval or bound, status, what it is. An estimate that is
// not to be used stands in brackets.
func gridOf(all []namedParameter) Grid {
	g := newGrid(Column{"symbol", KindSymbol}, Column{"value", KindNumber}, Column{"unit", KindText}, Column{"95% interval", KindInterval},
		Column{"status", KindStatus}, Column{"what it is", KindWords})
	for _, q := range all {
		value, unit, interval := "–", "", "–"
		if v, ok := q.Raw(); ok {
			f := Format(v, q.CI95, q.Unit)
			value, unit, interval = f.Value, f.Unit, f.CI
			if q.Value == nil {
				value = "(" + value + ")"
			}
		} else if q.Bound != nil {
			interval = FormatBound(*q.Bound, q.Unit)
		}
		g.add(Clean(q.name), value, Clean(unit), interval, Clean(q.Status), Clean(q.Label))
	}
	return g
}

// Statuses as reports say them of one parameter.
var statusWords = map[string]string{
	params.StatusProvisional: "is provisional", params.StatusBound: "has only a bound", params.StatusUnidentifiable: "is not identifiable",
	params.StatusInconsistent: "is not to be used",
}

// ReasonsOf says of each parameter and function that is not ok what the data allow, and why it is not; those of one
// reason together.
func ReasonsOf(p *params.Params) []string {
	type kind struct{ status, bound, why string }
	names := map[kind][]string{}
	var order []kind
	add := func(name string, k kind) {
		if names[k] == nil {
			order = append(order, k)
		}
		names[k] = append(names[k], name)
	}
	for _, q := range inOrder(p) {
		if q.Status == params.StatusOK {
			continue
		}
		k := kind{status: q.Status, why: q.Why}
		if q.Bound != nil {
			k.bound = FormatBound(*q.Bound, q.Unit)
		}
		add(q.name, k)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Functions)) {
		if f := p.Functions[name]; f.Status != "" && f.Status != params.StatusOK {
			add("function "+name, kind{status: f.Status, why: f.Why})
		}
	}
	var out []string
	for _, k := range order {
		s := strings.Join(names[k], ", ") + " " + cmp.Or(statusWords[k.status], k.status)
		if len(names[k]) > 1 {
			s = strings.Replace(strings.Replace(s, " is ", " are ", 1), " has ", " have ", 1)
		}
		if k.bound != "" {
			s += " (" + k.bound + ")"
		}
		if k.why != "" {
			s += ": " + strings.TrimSuffix(k.why, ".")
		}
		out = append(out, Clean(s+"."))
	}
	return out
}

// BudgetOf returns what the interval of each parameter is made of: its terms of uncertainty, each with its share of the
// variance. Parameters with one term only are left out: that is the interval itself.
func BudgetOf(p *params.Params) Grid {
	g := newGrid(Column{"symbol", KindSymbol}, Column{"term", KindText}, Column{"type", KindText}, Column{"standard uncertainty", KindNumber},
		Column{"share", KindNumber}, Column{"taken from", KindWords})
	for _, q := range inOrder(p) {
		if len(q.Budget) < 2 {
			continue
		}
		variance := 0.0
		for _, t := range q.Budget {
			variance += t.U * t.U
		}
		for _, t := range q.Budget {
			g.add(Clean(q.name), Clean(t.Name), Clean(t.Type), Format(t.U, nil, q.Unit).String(), Percent(t.U*t.U/variance), Clean(t.Why))
		}
	}
	return g
}

// SourcesOf says which model found which parameters, from which experiment and after which publication: "a, b from
// hockney on pingpong (Hockney 1994)."
func SourcesOf(p *params.Params) []string {
	names := map[string][]string{}
	var sources []string
	for _, q := range inOrder(p) {
		source := Clean(fmt.Sprintf("%s on %s (%s)", q.Model, q.Experiment, q.Source))
		if names[source] == nil {
			sources = append(sources, source)
		}
		names[source] = append(names[source], Clean(q.name))
	}
	for i, s := range sources {
		sources[i] = strings.Join(names[s], ", ") + " from " + s + "."
	}
	return sources
}

func (p *page) parameters(ps *params.Params) {
	if len(ps.Parameters) == 0 {
		p.line(0, "No parameters: no model found the measurements it needs.")
		return
	}
	record, others := RecordOf(ps)
	p.write(record)
	if len(others.Rows) == 0 {
		return
	}
	p.heading(OthersTitle)
	p.write(others)
	p.WriteByte('\n')
}

// FunctionPart is a cost function.
type FunctionPart struct {
	Name, Form, Unit, Label, Source string
	Status                          string // "ok"
	Coeff                           []Coefficient
	Domain                          string // "m 1 … 1,448"
	Pieces                          bool   // the coefficients are those of several pieces, numbered
}

// Coefficient of a cost function.
type Coefficient struct {
	Name string
	Quantity
}

// FunctionsOf returns the cost functions by name.
func FunctionsOf(p *params.Params) []FunctionPart {
	var out []FunctionPart
	for _, name := range slices.Sorted(maps.Keys(p.Functions)) {
		f := p.Functions[name]
		part := FunctionPart{Name: Clean(name), Form: Clean(f.Form), Unit: Clean(f.Unit), Label: Clean(f.Label), Source: Clean(f.Source),
			Domain: domain(f.Domain), Pieces: f.Form == params.Pieces, Status: Clean(cmp.Or(f.Status, params.StatusOK))}
		for _, c := range slices.Sorted(maps.Keys(f.Coeff)) {
			var interval *[2]float64
			if ci, ok := f.CI95[c]; ok {
				interval = &ci
			}
			part.Coeff = append(part.Coeff, Coefficient{Clean(c), Format(f.Coeff[c], interval, f.CoeffUnit(c))})
		}
		out = append(out, part)
	}
	return out
}

// functions writes each cost function with its coefficients and the range it holds in.
func (p *page) functions(ps *params.Params) {
	if len(ps.Functions) == 0 {
		return
	}
	p.heading("Functions")
	for _, f := range FunctionsOf(ps) {
		p.line(4, "%s = %s [%s], %s: %s (%s)", p.paint(bold, f.Name), f.Form, f.Unit, f.Status, f.Label, f.Source)
		for _, c := range f.Coeff {
			p.line(6, "    %s = %s", c.Name, c.Quantity)
		}
		p.line(6, "    holds for %s", f.Domain)
	}
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
