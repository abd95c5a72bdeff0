// Package reports shows a params.json to people: a summary for the terminal, the whole plain-text report, the forecast
// of a plan. It also defines the document that --json prints.
//
// The opinion of this package: the finding comes first, then the evidence, and warnings stand before the numbers that
// they concern are used. An interval decides how many digits are shown: no value is printed finer than its interval
// allows. A parameter that the data do not determine is printed as its bound, one that must not be used in brackets,
// both with the reason. The same Params give the same bytes on every machine and in every locale. Colour is bold and
// three hues, and carries no information of its own.
//
// Each part of a report is made by one function as plain text without control codes (SummaryOf, RecordOf, …). All
// renderings of a params.json use these, so that no two of them can differ in what they state. Parts look at codes and
// values of findings; no sentence is parsed.
package reports

import (
	"io"

	"calib/internal/params"
)

// Text writes the whole report as plain text.
func Text(w io.Writer, p *params.Params, o Options) error {
	pg := newPage(o)
	pg.summary(SummaryOf(p, o.Dir, o.Took))
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
		files, next := FilesOf(p, pg.Dir)
		pg.write(files)
		pg.WriteByte('\n')
		pg.lines(next)
	}
	return pg.flush(w)
}
