package reports

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"calib/internal/params"
	"calib/internal/units"
)

// Options of a report. The zero value is a page 100 columns wide without colour.
type Options struct {
	Width  int           // columns; 0 means 100, and fewer than 80 are taken as 80
	Colour bool          // ANSI colours; without it the output has no control codes
	All    bool          // the whole report, also on the screen
	Dir    string        // the run directory, whose files the report lists; "" leaves that part out
	Took   time.Duration // of the run; 0 is not known
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
	if o.Width == 0 {
		o.Width = defaultWidth
	}
	o.Width = max(o.Width, minWidth)
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

// line writes a sentence wrapped to the page, its later lines indented by hang columns.
func (p *page) line(hang int, format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	body := strings.TrimLeft(s, " ")
	lead := len(s) - len(body) // WrapSoft would drop it
	for i, l := range strings.Split(text.WrapSoft(body, p.Width-max(hang, lead)), "\n") {
		indent := hang
		if i == 0 {
			indent = lead
		}
		p.WriteString(strings.Repeat(" ", indent) + strings.TrimRight(l, " "))
		p.WriteByte('\n')
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
// wrapped to the page.
func (p *page) write(g Grid) {
	const indent, between = "  ", "  "
	t := table.NewWriter()
	t.SetStyle(table.Style{
		Box:     table.BoxStyle{PaddingRight: between, MiddleHorizontal: "─"},
		Options: table.Options{SeparateHeader: false},
	})
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

// colourOf is the colour of a cell, "" for none.
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

// Column heads a column of a Grid.
type Column struct {
	Name string
	Kind Kind
}

// Kind says what the cells of a column hold, for those who set them.
type Kind string

// Kinds of columns. The HTML report has a style for each, by this name, and for "interval", "code" (a file or a
// command), "form" (what a function is, and under it its formula), "lines" (one for each value) and "breaks" (lines
// that may be broken further).
const (
	KindWords  Kind = "words"  // sentences that may be wrapped
	KindNumber Kind = "number" // aligned to the right
	KindSymbol Kind = "symbol" // of a parameter or function
	KindStatus Kind = "status" // of a parameter
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
