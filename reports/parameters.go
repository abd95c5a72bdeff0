package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"calib/internal/lists"
	"calib/params"
)

// inOrder lists the names of all parameters: by model in the order of the fits, then by name.
func inOrder(p *params.Params) []string {
	names := slices.Sorted(maps.Keys(p.Parameters))
	model := func(name string) string { return p.Parameters[name].Model }
	models := append(lists.Map(p.Fits, func(f *params.Fit) string { return f.Model }), lists.Map(names, model)...)
	place := func(name string) int { return slices.Index(models, model(name)) }
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	return names
}

// gridOf has a row for each parameter: symbol, value, unit, interval or bound, quality, what it is. An estimate that is
// not to be used stands in brackets.
func gridOf(p *params.Params, names []string) Grid {
	g := NewGrid("symbol/symbol", "value/number", "unit", "95% interval/interval", "quality/status", "what it is/words")
	for _, name := range names {
		q := p.Parameters[name]
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
		g.Add(Clean(name), value, Clean(unit), interval, quality(q.Status, interval), Clean(q.Label))
	}
	return g
}

// ReasonsOf says of each parameter and function that is not ok what the data allow, and why it is not; those of one
// reason together.
func ReasonsOf(p *params.Params) []string {
	type kind struct{ quality, bound, why string }
	names := map[kind][]string{}
	var order []kind
	bracketed := false
	add := func(name string, k kind) {
		if names[k] == nil {
			order = append(order, k)
		}
		names[k] = append(names[k], name)
	}
	for _, name := range inOrder(p) {
		q := p.Parameters[name]
		if q.Status == params.StatusOK {
			continue
		}
		bound := "–"
		bracketed = bracketed || q.Value == nil && q.Estimate != nil
		if q.Bound != nil {
			bound = FormatBound(*q.Bound, q.Unit)
		}
		add(name, kind{quality(q.Status, bound), strings.Trim(bound, "–"), q.Why})
	}
	for name, f := range lists.ByKey(p.Functions) {
		if f.Status != "" && f.Status != params.StatusOK {
			add("function "+name, kind{quality(f.Status, ""), "", f.Why})
		}
	}
	var out []string
	if bracketed {
		out = append(out, "A value in brackets is not to be used.")
	}
	for _, k := range order {
		is := map[bool]string{true: " are ", false: " is "}[len(names[k]) > 1]
		s := strings.Join(names[k], ", ") + is + strings.Replace(k.quality, LimitOnly, "known by a limit only", 1)
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
	g := NewGrid("symbol/symbol", "term", "type", "standard uncertainty/number", "share/number", "taken from/words")
	for _, name := range inOrder(p) {
		q := p.Parameters[name]
		if len(q.Budget) < 2 {
			continue
		}
		variance := lists.Sum(q.Budget, func(t params.Term) float64 { return t.U * t.U })
		for _, t := range q.Budget {
			g.Add(Clean(name), Clean(t.Name), Clean(t.Type), Format(t.U, nil, q.Unit).String(), Percent(t.U*t.U/variance),
				Clean(t.Why))
		}
	}
	return g
}

// SourcesOf says which model found which parameters, from which experiment and after which publication: "a, b from
// hockney on pingpong (Hockney 1994)."
func SourcesOf(p *params.Params) (sources []string) {
	names := map[string][]string{}
	for _, name := range inOrder(p) {
		q := p.Parameters[name]
		source := Clean(fmt.Sprintf("%s on %s (%s)", q.Model, q.Experiment, q.Source))
		if names[source] == nil {
			sources = append(sources, source)
		}
		names[source] = append(names[source], Clean(name))
	}
	return lists.Map(sources, func(s string) string { return strings.Join(names[s], ", ") + " from " + s + "." })
}

func (p *page) parameters(ps *params.Params) {
	if len(ps.Parameters) == 0 {
		p.line(0, "No parameters: no model found the measurements it needs.")
		return
	}
	record, others := RecordOf(ps)
	p.write(record)
	if len(others.Rows) > 0 {
		p.section(Section{Title: OthersTitle, Tables: []Table{{Grid: others}}})
		p.WriteByte('\n')
	}
}

// FunctionsOf has a row for each cost function, with its coefficients and the range it holds in, a line each.
func FunctionsOf(p *params.Params) Grid {
	g := NewGrid("function/symbol function", "what it is, and its form/form", "coefficients, with 95% intervals/lines",
		"quality/status", "holds for/breaks", "source")
	for name, f := range lists.ByKey(p.Functions) {
		var coeff []string
		for c, v := range lists.ByKey(f.Coeff) {
			coeff = append(coeff, Clean(c)+" = "+Format(v, f.Interval(c), f.CoeffUnit(c)).String())
		}
		g.Add(Clean(name), Clean(f.Label)+"\n"+Clean(f.Form)+" ["+Clean(f.Unit)+"]", strings.Join(coeff, "\n"),
			quality(f.Status, ""), strings.ReplaceAll(domain(f.Domain), ", ", ",\n"), Clean(f.Source))
	}
	return g
}

func (p *page) functions(ps *params.Params) {
	if len(ps.Functions) == 0 {
		return
	}
	p.heading("Functions")
	for _, f := range FunctionsOf(ps).Rows {
		label, form, _ := strings.Cut(f[1], "\n")
		p.line(4, "%s = %s, %s: %s (%s)", p.paint(bold, f[0]), form, f[3], label, f[5])
		for _, c := range strings.FieldsFunc(f[2], func(r rune) bool { return r == '\n' }) {
			p.line(6, "    %s", c)
		}
		p.line(6, "    holds for %s", strings.ReplaceAll(f[4], "\n", " "))
	}
}

func domain(d map[string][2]float64) string {
	if len(d) == 0 {
		return "–"
	}
	return strings.Join(lists.Map(slices.Sorted(maps.Keys(d)), func(k string) string {
		if lo, hi := count(d[k][0]), count(d[k][1]); lo != hi {
			return fmt.Sprintf("%s %s … %s", Clean(k), lo, hi)
		}
		return Clean(k) + " " + count(d[k][0])
	}), ", ")
}

// recorded are the parameters that the published models are stated in: Hockney's line, Stoica's hyperbola, the cluster
// model of Tam and Wang, LogGP, LoGPC, Strumpen's latency hiding. Everything else is another estimate of one of them,
// or describes how they were measured. LoGPC's carry the size of the message behind an underscore.
var recorded = []string{
	"alpha", "beta",
	"a", "b", "a_c", "b_c",
	"O_s", "g_s", "g_r", "O_r", "U_r", "L_cluster", "B_L", "N",
	"L", "o_s", "o_r", "g", "G",
	"C_n", "C_r",
	"gamma_h", "i_cs",
}

func ofRecord(name string) bool {
	return slices.Contains(recorded, name) || strings.HasPrefix(name, "C_n_") || strings.HasPrefix(name, "C_r_")
}

// OthersTitle stands above the parameters that are not of record.
const OthersTitle = "Other parameters: further estimates, buffers, the clock"

// RecordOf returns the parameters of record, and the others: further estimates of the same, buffers, the clock. Where
// none is of record, all are.
func RecordOf(p *params.Params) (record, others Grid) {
	all := inOrder(p)
	of := lists.Where(all, ofRecord)
	if len(of) == 0 {
		return gridOf(p, all), gridOf(p, nil)
	}
	return gridOf(p, of), gridOf(p, slices.DeleteFunc(all, ofRecord))
}

const alikeShown = 8 // bounds the warnings of one code that are about different hosts

// worst are the codes of warnings about the run as a whole, the worst first: each makes every number less certain, or
// withholds some. The others follow in the order of the run and its fits.
var worst = []params.Code{
	params.ManyLeftOut, params.OneRound, params.Contradiction, params.Impossible, params.ModelFailed,
	params.LostSegments, params.SlowHost, params.SlowUplink, params.NegativeAC,
}

// rankOf is the place of a warning among those of p: as in worst, then the others, then those about parameters that are
// not of record.
func rankOf(p *params.Params, f params.Finding) int {
	i := slices.Index(worst, f.Code)
	if _, ok := p.Parameters[f.Subject]; ok && !ofRecord(f.Subject) {
		return len(worst) + 1
	} else if i < 0 {
		return len(worst)
	}
	return i
}

// WarningsOf returns the warnings of the run and of every fit, the worst first: of those of one code, subject and hosts
// the first, how many more there are, and the models it concerns. Of many that differ in their hosts alone it returns
// the first, and counts the others.
func WarningsOf(p *params.Params) (out []string) {
	type group struct {
		code             params.Code
		rank             int // of how bad they are: the least is the worst
		messages, models []string
	}
	var all []*group
	index, total, shown := map[string]*group{}, map[params.Code]int{}, map[params.Code]int{}
	for _, f := range p.AllFindings(params.Warning) {
		key := fmt.Sprintf("%s %s %q", f.Code, f.Subject, f.Hosts)
		g := index[key]
		if g == nil {
			g = &group{code: f.Code, rank: rankOf(p, f.Finding)}
			index[key], all = g, append(all, g)
			total[f.Code]++
		}
		if m := Clean(f.Message); !slices.Contains(g.messages, m) {
			g.messages = append(g.messages, m)
		}
		if m := Clean(f.Model); m != "" && !slices.Contains(g.models, m) {
			g.models = append(g.models, m)
		}
	}
	slices.SortStableFunc(all, func(a, b *group) int { return cmp.Compare(a.rank, b.rank) })
	for _, g := range all {
		if shown[g.code]++; total[g.code] > alikeShown+1 && shown[g.code] > alikeShown {
			if shown[g.code] == alikeShown+1 {
				out = append(out, fmt.Sprintf("and %d more of this kind (%s), which params.json has",
					total[g.code]-alikeShown, Clean(string(g.code))))
			}
			continue
		}
		s := g.messages[0]
		if n := len(g.messages) - 1; n > 0 {
			s += fmt.Sprintf(" (and %d more like it)", n)
		}
		out = append(out, said(s, g.models))
	}
	return out
}

// elsewhere are the codes of notes that the summary or the reasons beside the parameters state.
var elsewhere = []params.Code{params.OneMachine, params.Provisional, params.ZeroInInterval}

// FindingsOf returns the notes of the run and of every fit, each once with the models that have it.
func FindingsOf(p *params.Params) (out []string) {
	models := map[string][]string{}
	for _, f := range p.AllFindings(params.Note) {
		s := sentence(f.Message)
		if !slices.Contains(elsewhere, f.Code) && !slices.Contains(out, s) {
			out = append(out, s)
		}
		if m := Clean(f.Model); m != "" && !slices.Contains(models[s], m) {
			models[s] = append(models[s], m)
		}
	}
	return lists.Map(out, func(s string) string { return said(s, models[s]) })
}

// said is a sentence with the models that say it.
func said(s string, models []string) string {
	return strings.TrimSuffix(s+" ["+strings.Join(models, ", ")+"]", " []")
}
