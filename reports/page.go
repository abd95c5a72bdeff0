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
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"calib/internal/lists"
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
	return lists.Map(strings.Split(text.WrapSoft(s, width), "\n"), strings.TrimSpace)
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
	case kind == KindStatus && cell == Good:
		return green
	case kind == KindStatus && cell == NotUsable:
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
	// KindFunction is the symbol of a function.
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
	mark := func(with string, sentences []string) []string {
		return lists.Map(sentences, func(s string) string { return with + " " + s })
	}
	pg.section(Section{Title: "Warnings", Says: mark(pg.paint(yellow, "!"), WarningsOf(p))})
	pg.section(Section{Title: "Findings", Says: mark("-", FindingsOf(p))})
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

// Render fills in a template of from, with functions of its own beside those that all have. Text of other people is one
// printable line each; no line ends in blanks.
func Render(w io.Writer, from fs.FS, name string, own template.FuncMap, data any) error {
	t, err := template.New(name).Funcs(template.FuncMap{"line": Clean, "percent": Percent, "format": units.Format,
		"count": units.Plural[int]}).Funcs(own).ParseFS(from, "templates/"+name)
	var b bytes.Buffer
	if err == nil {
		err = t.Execute(&b, data)
	}
	if err != nil {
		return err
	}
	_, err = w.Write(blanks.ReplaceAll(b.Bytes(), nil))
	return err
}

var blanks = regexp.MustCompile(`(?m) +$`)

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

var plain = regexp.MustCompile(`^[-\w./:@%+,=]+$`) // a word that a shell takes as it is

// ShellWord quotes s for a shell where that is needed.
func ShellWord(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
