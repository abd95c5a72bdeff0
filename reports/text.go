// Package reports shows a params.json to people: a short table for the terminal, the whole plain-text report, the
// forecast of a plan. It also defines the document that --json prints.
//
// The opinion of this package: the finding comes first, then the evidence, and warnings stand before the numbers that
// they concern are used. An interval decides how many digits are shown: no value is printed finer than its interval
// allows. A parameter that the data do not determine is printed as its bound, one that must not be used in brackets,
// both with the reason. The same Params give the same bytes on every machine and in every locale. Colour is bold and
// three hues, and carries no information of its own.
//
// Each part of a report is made by one function as plain text without control codes (VerdictOf, RecordOf, …). All
// renderings of a params.json use these, so that no two of them can differ in what they state. Parts look at codes and
// values of findings; no sentence is parsed.
package reports

import (
	"io"

	"calib/internal/params"
	"calib/internal/units"
)

// Table writes the short form for a terminal, where what stands last is seen first: parameters, cost functions, then
// the verdict, the worst warnings, files and what to do next, which together fit a screen of 24 lines.
func Table(w io.Writer, p *params.Params, o Options) error {
	pg := newPage(o)
	pg.parameters(p)
	pg.shortFunctions(p)
	if reasons := ReasonsOf(p); len(reasons) > 0 {
		pg.WriteByte('\n')
		pg.lines(reasons)
	}
	v := VerdictOf(p)
	pg.WriteByte('\n')
	pg.beside(v)
	pg.WriteByte('\n')
	pg.verdict(v)
	pg.shortWarnings(p)
	if pg.Dir != "" {
		pg.WriteByte('\n')
		pg.shortFiles(p)
	}
	return pg.flush(w)
}

// warningsShown is how many warnings the short form lists; the report has all.
const warningsShown = 3

// shortWarnings lists the worst warnings.
func (p *page) shortWarnings(ps *params.Params) {
	shown := WarningsOf(ps)
	if len(shown) == 0 {
		return
	}
	p.WriteByte('\n')
	hidden := 0
	if more := len(shown) - warningsShown; more > 1 && !p.All {
		hidden, shown = more, shown[:warningsShown]
	}
	for _, w := range shown {
		p.line(4, "  %s %s", p.paint(yellow, "!"), w)
	}
	if hidden > 0 {
		p.line(4, "  %s and %s, which the report lists", p.paint(yellow, "!"), units.GroupedPlural(hidden, "more warning"))
	}
}

// Text writes the whole report as plain text.
func Text(w io.Writer, p *params.Params, o Options) error {
	o.All = true
	pg := newPage(o)
	v := VerdictOf(p)
	pg.verdict(v)
	pg.beside(v)
	pg.heading("Parameters")
	pg.parameters(p)
	pg.lines(ReasonsOf(p))
	pg.lines(SourcesOf(p))
	if budget := BudgetOf(p); len(budget.Rows) > 0 {
		pg.heading("Uncertainty budget: what the intervals are made of")
		pg.write(budget)
	}
	pg.list("Warnings", pg.paint(yellow, "!"), WarningsOf(p))
	pg.list("Findings", "-", FindingsOf(p))
	pg.functions(p)
	pg.hosts(p)
	pg.pairs(p)
	if len(p.Validation) > 0 {
		pg.heading("Validation: patterns no fit has seen")
		pg.write(ValidationOf(p))
	}
	pg.quality(p)
	pg.residuals(p)
	pg.environment(p)
	if pg.Dir != "" {
		pg.heading("Files and next steps")
		pg.files(p)
	}
	return pg.flush(w)
}
