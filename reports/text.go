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
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"calib/internal/params"
)

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

// spoiledShown and oddNamed are how many things that spoiled a run, and how many hosts and pairs, the screen has;
// the report has all.
const spoiledShown, oddNamed = 2, 2

// Screen writes the summary of a run, on a screen of 24 lines of 80 columns. Options.All writes the whole report.
func Screen(w io.Writer, p *params.Params, o Options) error {
	if o.All {
		return Text(w, p, o)
	}
	pg := newPage(o)
	pg.Width = min(pg.Width, minWidth)
	s := SummaryOf(p, o.Dir, o.Took)
	s.Spoiled = s.Spoiled[:min(len(s.Spoiled), spoiledShown)]
	if more := len(s.Odd) - oddNamed; more > 0 {
		s.Odd = append(s.Odd[:oddNamed], fmt.Sprintf("The report has %d more.", more))
	}
	pg.summary(s)
	if pg.Dir != "" {
		pg.WriteByte('\n')
		fmt.Fprintf(pg, "Report    %s\nNumbers   %s\n", Clean(filepath.Join(pg.Dir, "report.html")), Clean(filepath.Join(pg.Dir, "params.json")))
		for _, command := range s.Next {
			fmt.Fprintf(pg, "Next      %s\n", command)
		}
	}
	return pg.flush(w)
}

func (p *page) summary(s Summary) {
	hue := map[string]colour{good: green, usable: yellow, poor: red}[s.Verdict]
	p.line(0, "%s: %s", p.paint(hue, s.Verdict), s.Network)
	for _, text := range s.Spoiled {
		p.line(2, "  %s", text)
	}
	if len(s.Odd) > 0 {
		p.line(2, "  %s", p.paint(red, strings.Join(s.Odd, " ")))
	} else {
		p.line(2, "  No host or pair is slow.")
	}
	p.WriteByte('\n')
	if len(s.Numbers.Rows) == 0 {
		p.line(2, "No numbers: no model found the measurements that it needs.")
	} else {
		p.write(s.Numbers)
	}
	p.WriteByte('\n')
	if s.Unseen != "" {
		p.line(2, "  Unseen traffic: %s", s.Unseen)
	}
	p.line(2, "  %s", s.Measured)
}

var runFiles = [][2]string{
	{"params.json", "the parameters, for programs"},
	{"report.html", "the report with figures, for a browser; it needs no network"},
	{"report.txt", "the whole report as text, with residuals per size"},
	{"samples.jsonl", "every raw timing"},
	{"run.json", "plan, seed, hosts and environment of the run"},
	{"log.jsonl", "what happened when"},
}

// FilesOf returns the files of the run in dir, and the commands that fit its result.
func FilesOf(p *params.Params, dir string) (files Grid, next []string) {
	dir = Clean(dir)
	files = NewGrid("file/code", "what is in it/words")
	for _, f := range runFiles {
		files.Add(filepath.Join(dir, f[0]), f[1])
	}
	return files, nextOf(p, dir)
}

// ShellWord quotes s for a shell where that is needed.
func ShellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("-_./:@%+,=", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
