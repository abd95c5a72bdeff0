package reports

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Options of a report. The zero value is a page 100 columns wide without colour.
type Options struct {
	Width  int  // columns; 0 means 100, and fewer than 80 are taken as 80
	Colour bool // ANSI colours; without it the output has no control codes
	// Dir is the run directory, for "where the files are"; "" leaves that part out.
	Dir string
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

// page is a report being written.
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

// paint colours s, where colour is on. It is the only source of control codes: go-pretty's own colours stay unused.
func (p *page) paint(c colour, s string) string {
	if !p.Colour || s == "" {
		return s
	}
	return string(c) + s + reset
}

// heading starts a section.
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

// grid is a table without lines: columns two spaces apart, the last one wrapped to the page if wrap is set.
type grid struct {
	Grid
	wrap bool
}

// write renders g, indented by two columns.
func (p *page) write(g grid) {
	const indent, between = "  ", "  "
	t := table.NewWriter()
	t.SetStyle(table.Style{
		Box:     table.BoxStyle{PaddingRight: between, MiddleHorizontal: "─"},
		Options: table.Options{SeparateHeader: false},
	})
	t.AppendHeader(row(g.Header))
	used := 0
	configs := make([]table.ColumnConfig, len(g.Header))
	for i := range g.Header {
		c := table.ColumnConfig{Number: i + 1, Align: text.AlignLeft, AlignHeader: text.AlignLeft}
		if g.Kind(i) == KindNumber {
			c.Align, c.AlignHeader = text.AlignRight, text.AlignRight
		}
		if g.wrap && i == len(g.Header)-1 {
			c.WidthMax, c.WidthMaxEnforcer = max(p.Width-len(indent)-used, 16), text.WrapSoft
		}
		used += g.width(i) + len(between)
		configs[i] = c
	}
	t.SetColumnConfigs(configs)
	for _, r := range g.Rows {
		t.AppendRow(row(r))
	}
	for i, l := range strings.Split(t.Render(), "\n") {
		l = strings.TrimRight(l, " ")
		if i == 0 {
			l = p.paint(bold, l)
		}
		p.WriteString(indent + l + "\n")
	}
}

func (g *grid) width(column int) int {
	w := text.StringWidth(g.Header[column])
	for _, r := range g.Rows {
		w = max(w, text.StringWidthWithoutEscSequences(r[column]))
	}
	return w
}

func row(cells []string) table.Row {
	r := make(table.Row, len(cells))
	for i, c := range cells {
		r[i] = c
	}
	return r
}
