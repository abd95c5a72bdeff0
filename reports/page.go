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
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"calib/internal/units"
	"calib/params"
)

// Options of a report. The zero value is a page 100 columns wide without colour.
type Options struct {
	Width  int           // columns; 0 means 100, and fewer than 80 are taken as 80
	Colour bool          // ANSI colours; without it the output has no control codes
	All    bool          // the whole report, also on the screen
	Dir    string        // the run directory, whose files the report lists; "" leaves that part out
	Took   time.Duration // of the run; 0 is not known
	// Truth holds the network's own parameters, by name, where the network was made and not found; nil elsewhere.
	Truth map[string]float64
}

const (
	defaultWidth = 100
	minWidth     = 80
)

// narrow counts characters of ambiguous width (µ, ×, │) as one column, whatever the locale: the same Params must give
// the same bytes everywhere.
var narrow = sync.OnceFunc(func() { text.OverrideRuneWidthEastAsianWidth(false) })

type colour string

const (
	bold   colour = "\x1b[1m"
	red    colour = "\x1b[31m"
	green  colour = "\x1b[32m"
	yellow colour = "\x1b[33m"
	reset         = "\x1b[0m"
)

type page struct {
	bytes.Buffer
	Options
}

func newPage(o Options) *page {
	narrow()
	o.Width = max(cmp.Or(o.Width, defaultWidth), minWidth)
	return &page{Options: o}
}

// flush writes the page. What is in it is printable, but for its colours.
func (p *page) flush(w io.Writer) error {
	if p.Colour {
		w = units.RawWriter(w)
	}
	_, err := w.Write(p.Bytes())
	return err
}

// paint colours s, where colour is on. It is the only source of control codes: go-pretty's own colours stay unused.
func (p *page) paint(c colour, s string) string {
	if !p.Colour || s == "" || c == "" {
		return s
	}
	return string(c) + s + reset
}

func (p *page) heading(s string) {
	fmt.Fprintf(p, "\n%s\n%s\n", p.paint(bold, s), strings.Repeat("─", text.StringWidth(s)))
}

// Wrapped is s in lines of at most width columns.
func Wrapped(s string, width int) []string {
	lines := strings.Split(text.WrapSoft(s, width), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

// line writes a sentence wrapped to the page, its later lines indented by hang columns.
func (p *page) line(hang int, format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	body := strings.TrimLeft(s, " ")
	lead := len(s) - len(body) // WrapSoft would drop it
	indent := lead
	for _, l := range Wrapped(body, p.Width-max(hang, lead)) {
		p.WriteString(strings.Repeat(" ", indent) + l + "\n")
		indent = hang
	}
}

func (p *page) lines(sentences []string) {
	for _, s := range sentences {
		p.line(2, "%s", s)
	}
}

// list writes sentences under a heading, each behind a mark, or nothing where there are none.
func (p *page) list(heading, mark string, sentences []string) {
	if len(sentences) == 0 {
		return
	}
	p.heading(heading)
	for _, s := range sentences {
		p.line(2, "%s %s", mark, s)
	}
}

// write renders g without rules, indented by two columns, its columns two spaces apart. A last column of Words is
// wrapped to the page. Any other table that is little wider than the page has no indent, and one space between columns.
func (p *page) write(g Grid) {
	indent, between := "  ", "  "
	t := table.NewWriter()
	header := make(table.Row, len(g.Columns))
	rows := make([]table.Row, len(g.Rows))
	for i := range rows {
		rows[i] = make(table.Row, len(g.Columns))
	}
	configs := make([]table.ColumnConfig, len(g.Columns))
	used := 0
	for i, column := range g.Columns {
		header[i] = column.Name
		width := text.StringWidth(column.Name)
		for j, r := range g.Rows {
			rows[j][i] = p.paint(colourOf(column.Kind, r[i]), r[i])
			width = max(width, text.StringWidth(r[i]))
		}
		c := table.ColumnConfig{Number: i + 1, Align: text.AlignLeft, AlignHeader: text.AlignLeft}
		if column.Kind == KindNumber {
			c.Align, c.AlignHeader = text.AlignRight, text.AlignRight
		}
		if column.Kind == KindWords && i == len(g.Columns)-1 {
			c.WidthMax, c.WidthMaxEnforcer = max(p.Width-len(indent)-used, 16), text.WrapSoft
		}
		used += width + len(between)
		configs[i] = c
	}
	if over := used - p.Width; 0 < over && over <= len(configs)+1 && configs[len(configs)-1].WidthMax == 0 {
		indent, between = "", " "
	}
	t.SetStyle(table.Style{
		Box:     table.BoxStyle{PaddingRight: between, MiddleHorizontal: "─"},
		Options: table.Options{SeparateHeader: false},
	})
	t.AppendHeader(header)
	t.AppendRows(rows)
	t.SetColumnConfigs(configs)
	for i, l := range strings.Split(t.Render(), "\n") {
		l = strings.TrimRight(l, " ")
		if i == 0 {
			l = p.paint(bold, l)
		}
		p.WriteString(indent + l + "\n")
	}
}

func colourOf(kind Kind, cell string) colour {
	switch {
	case kind == KindSymbol:
		return bold
	case kind == KindStatus && (cell == params.StatusOK || cell == Good):
		return green
	case kind == KindStatus && (cell == params.StatusInconsistent || cell == NotUsable):
		return red
	case kind == KindStatus && cell != "":
		return yellow
	}
	return ""
}

type Grid struct {
	Columns []Column
	Rows    [][]string
}

type Column struct {
	Name string
	Kind Kind
}

// Kind says what the cells of a column hold, for those who set them.
type Kind string

// Kinds of columns. The HTML report has a style for each, by this name, and for "interval", "code" (a file or a
// command), "odd" (a host or pair that stands out), "form" (what a function is, and under it its formula), "lines" (one
// for each value) and "breaks" (lines that may be broken further).
const (
	KindWords  Kind = "words"  // sentences that may be wrapped
	KindNumber Kind = "number" // aligned to the right
	KindSymbol Kind = "symbol" // of a parameter
	KindStatus Kind = "status" // of a parameter
	// KindFunction is the symbol of a function, which a parameter may have too. It looks like KindSymbol.
	KindFunction Kind = "symbol function"
)

// NewGrid makes a grid of columns that are each "name/kind", or "name" of plain text.
func NewGrid(columns ...string) (g Grid) {
	for _, c := range columns {
		at := strings.LastIndexByte(c, '/')
		if at < 0 {
			c, at = c+"/", len(c)
		}
		g.Columns = append(g.Columns, Column{c[:at], Kind(c[at+1:])})
	}
	return g
}

func (t *Grid) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Section is a part of a report of which the text and the page are made alike.
type Section struct {
	Title      string
	Says, List []string
	Tables     []Table // those without rows are left out, but for what is folded in a page: its head stands in the text
}

// Table is a grid under a title, or in a page folded under one, with sentences under it.
type Table struct {
	Title, Fold string
	Grid
	Says []string
	More *More
}

// More is a list that a page folds.
type More struct {
	Summary string
	Items   []string
}

func (p *page) section(s Section) {
	s.Tables = slices.DeleteFunc(s.Tables, func(t Table) bool { return len(t.Rows) == 0 && t.Fold == "" })
	if len(s.Says)+len(s.List)+len(s.Tables) == 0 {
		return
	}
	p.heading(s.Title)
	p.lines(s.Says)
	for i, t := range s.Tables {
		if i > 0 || len(s.Says) > 0 && t.Title+t.Fold == "" {
			p.WriteByte('\n')
		}
		if t.Title != "" {
			p.line(2, "%s", p.paint(yellow, t.Title+":"))
		}
		p.write(t.Grid)
		p.lines(t.Says)
		if t.More != nil {
			p.lines(t.More.Items)
		}
	}
	if len(s.List) > 0 {
		p.WriteByte('\n')
		p.lines(s.List)
	}
}

func Text(w io.Writer, p *params.Params, o Options) error {
	pg := newPage(o)
	pg.summary(SummaryOf(p, o))
	pg.heading("Parameters")
	pg.parameters(p)
	pg.lines(ReasonsOf(p))
	pg.lines(SourcesOf(p))
	pg.section(Section{Title: "Uncertainty budget: what the intervals are made of", Tables: []Table{{Grid: BudgetOf(p)}}})
	pg.list("Warnings", pg.paint(yellow, "!"), WarningsOf(p))
	pg.list("Findings", "-", FindingsOf(p))
	pg.functions(p)
	pg.section(HostsOf(p))
	pg.section(PairsOf(p, true))
	pg.section(Section{Title: "Validation: patterns no fit has seen", Tables: []Table{{Grid: ValidationOf(p)}}})
	pg.section(QualityOf(p))
	pg.residuals(p)
	pg.section(EnvironmentOf(p))
	pg.section(FilesOf(p, pg.Dir))
	return pg.flush(w)
}

const screenLines = 24 // the height of the screen, in lines of minWidth columns

// Screen writes the summary of a run on one screen, where the paths in it are no longer than two lines. Options.All
// writes the whole report.
func Screen(w io.Writer, p *params.Params, o Options) error {
	if o.All {
		return Text(w, p, o)
	}
	o.Width = minWidth
	s := SummaryOf(p, o)
	s.Measured = brief(s.Measured)
	for _, list := range [][]string{s.Spoiled, s.Odd, s.Classes} {
		for i := range list {
			list[i] = brief(list[i])
		}
	}
	for {
		pg := newPage(o)
		pg.summary(s)
		if pg.Dir != "" {
			pg.WriteByte('\n')
			fmt.Fprintf(pg, "Report    %s\nNumbers   %s\n", Clean(filepath.Join(pg.Dir, "report.html")),
				Clean(filepath.Join(pg.Dir, "params.json")))
			for _, command := range s.Next {
				fmt.Fprintf(pg, "Next      %s\n", Clean(command))
			}
		}
		lines := 0 // of a terminal
		for l := range strings.Lines(pg.String()) {
			lines += 1 + (text.StringWidthWithoutEscSequences(l)-1)/minWidth
		}
		if lines <= screenLines || !s.giveWay() {
			return pg.flush(w)
		}
	}
}

// giveWay takes from s what a reader misses least on the screen; false where nothing is left to take. Of each list of
// sentences two stay longer than the rows that the verdict does not need, and one to the end.
func (s *Summary) giveWay() bool {
	for least := 2; least > 0; least-- {
		for _, list := range []*[]string{&s.Odd, &s.Spoiled, &s.Classes, &s.Next} {
			if n := len(*list); n > least {
				*list, s.more = (*list)[:n-1], true
				return true
			}
		}
		if s.spare > 0 {
			s.spare, s.more, s.Numbers.Rows = s.spare-1, true, s.Numbers.Rows[:len(s.Numbers.Rows)-1]
			return true
		}
	}
	return false
}

// brief is s in one line of the screen: without its last clauses, else cut off.
func brief(s string) string {
	const width = minWidth - len("  ")
	if text.StringWidth(s) <= width {
		return s
	}
	s = text.Trim(s, width-1)
	if at := max(strings.LastIndex(s, ", "), strings.LastIndex(s, ": ")); at > width/2 {
		return s[:at] + "."
	}
	return s + "…"
}

func (p *page) summary(s Summary) {
	hue := map[string]colour{good: green, usable: yellow, poor: red}[s.Verdict]
	p.line(0, "%s: %s", p.paint(hue, s.Verdict), s.Network)
	for _, text := range s.Spoiled {
		p.line(2, "  %s", text)
	}
	for _, text := range s.Odd {
		p.line(2, "  %s", p.paint(red, text))
	}
	if len(s.Odd) == 0 {
		p.line(2, "  No host or pair is slow.")
	}
	for _, text := range s.Classes {
		p.line(2, "  %s", text)
	}
	p.WriteByte('\n')
	if len(s.Numbers.Rows) == 0 {
		p.line(2, "No numbers: no model found the measurements that it needs.")
	} else {
		p.write(s.Numbers)
	}
	if s.more {
		p.line(2, "  The report has more.")
	}
	p.WriteByte('\n')
	if s.Unseen != "" {
		p.line(2, "  Unseen traffic: %s", s.Unseen)
	}
	p.line(2, "  %s", s.Measured)
}

var runFiles = [][2]string{
	{"params.json", "the parameters, for programs"},
	{"points.json", "the measured points beside what each model says"},
	{"report.html", "the report with figures, for a browser; it needs no network"},
	{"report.txt", "the whole report as text, with residuals per size"},
	{"samples.jsonl", "every raw timing"},
	{"run.json", "plan, seed, hosts and environment of the run"},
	{"log.jsonl", "what happened when"},
}

// FilesOf returns the files of the run in dir, and the commands that fit its result; nothing where dir is not known.
func FilesOf(p *params.Params, dir string) (s Section) {
	if dir == "" {
		return s
	}
	dir = Clean(dir)
	files := NewGrid("file/code", "what is in it/words")
	for _, f := range runFiles {
		files.Add(filepath.Join(dir, f[0]), f[1])
	}
	return Section{Title: "Files and next steps", Tables: []Table{{Grid: files}}, List: nextOf(p, dir)}
}

// ShellWord quotes s for a shell where that is needed.
func ShellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("-_./:@%+,=", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
