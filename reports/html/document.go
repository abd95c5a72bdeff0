package html

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"

	"calib/internal/params"
	"calib/internal/units"
	"calib/reports"
	"calib/reports/draw"
	"calib/reports/figure"
)

// document is a page to be written: plain text and figures in order. The template escapes all of it.
type document struct {
	Title    string
	Eyebrow  string // above the heading: which run
	Scope    string
	Heading  string
	Lead     []string
	Alerts   []string
	Glance   []plot // small figures beside the verdict
	Warnings *more
	Opening  []table // before the contents
	Sections []section

	taken map[string]bool // anchors in use
}

type section struct {
	ID, Title string
	Says      []string
	List      []string
	Figures   []plot
	Tables    []table
}

type table struct {
	Title  string
	Fold   string // where it is set, the table is folded under it
	Header []cell
	Rows   [][]cell
	Says   []string // under the table
	More   *more
}

// cell of a table; Name is that of its column, for screens on which a row is a card.
type cell struct{ Text, Class, Name string }

// more is a list, of which Rest is folded; without Rest all of it is.
type more struct {
	Summary     string
	Items, Rest []string
}

// plot is a figure in the page.
type plot struct {
	ID, Title, Says string
	Of              string        // of a small figure: the anchor of the whole one
	Drawn           template.HTML // an SVG
	Flags           []string      // cells that stand out
	Numbers         string        // of a matrix whose cells have no titles
}

func newDocument(title string) *document {
	return &document{Title: title, taken: map[string]bool{"top": true}}
}

// add appends a section and gives it an anchor.
func (d *document) add(s section) {
	s.ID = d.anchor(s.Title)
	d.Sections = append(d.Sections, s)
}

// addFigures appends figures, those of one section under one heading, in the order in which sections first come.
func (d *document) addFigures(figures []figure.Figure) {
	at := map[string]int{}
	for i := range figures {
		title := figures[i].Section
		if title == "" {
			title = "Figures"
		}
		j, ok := at[title]
		if !ok {
			d.add(section{Title: title})
			j = len(d.Sections) - 1
			at[title] = j
		}
		d.Sections[j].Figures = append(d.Sections[j].Figures, d.figures(figures[i:i+1])...)
	}
}

func (d *document) figures(all []figure.Figure) []plot {
	out := make([]plot, 0, len(all))
	for i := range all {
		f := &all[i]
		p := plot{ID: d.anchor(f.ID), Title: f.Title, Says: f.Says, Drawn: drawn(f, draw.Page)}
		if f.Heat != nil {
			p.Flags = flagged(f.Heat)
			if len(f.Heat.Rows)*len(f.Heat.Cols) > draw.MaxTitles {
				p.Numbers = numbers(f.Heat)
			}
		}
		out = append(out, p)
	}
	return out
}

// drawn is f as an element of the page. Package draw escapes what f says.
func drawn(f *figure.Figure, l draw.Layout) template.HTML { return template.HTML(draw.Inline(*f, l)) }

// numbers are a matrix in one unit, with the names of its rows and columns, set with tabs.
func numbers(h *figure.Heat) string {
	size := 0.0
	for _, v := range slices.Concat(h.Z...) {
		if !math.IsNaN(v) {
			size = math.Max(size, math.Abs(v))
		}
	}
	by, unit := units.ScaleAxis(h.Unit, size)
	plain := func(name string) string { return strings.Join(strings.Fields(name), " ") }
	out := unit
	for _, name := range h.Cols {
		out += "\t" + plain(name)
	}
	for r, name := range h.Rows {
		out += "\n" + plain(name)
		for _, v := range h.Z[r] {
			out += "\t" + units.Format(v/by, "")
		}
	}
	return out
}

// flagged names the cells that stand out.
func flagged(h *figure.Heat) []string {
	var out []string
	for i, f := range h.Flagged {
		if i == flagsShown {
			return append(out, fmt.Sprintf("and %d more", len(h.Flagged)-flagsShown))
		}
		if f.Row >= 0 && f.Row < len(h.Rows) && f.Col >= 0 && f.Col < len(h.Cols) {
			out = append(out, h.Rows[f.Row]+" → "+h.Cols[f.Col]+": "+f.Why)
		}
	}
	return out
}

// anchor makes an ID of a title that no other element has: lower-case words joined by "-".
func (d *document) anchor(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	})
	base := strings.Join(words, "-")
	if base == "" {
		base = "part"
	}
	id := base
	for n := 2; d.taken[id]; n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	d.taken[id] = true
	return id
}

// tableOf sets a grid: the class of a cell is the kind of its column, and of a status also what it is.
func tableOf(g reports.Grid) table {
	var t table
	for _, column := range g.Columns {
		c := cell{Text: column.Name}
		if column.Kind == reports.KindNumber {
			c.Class = string(reports.KindNumber)
		}
		t.Header = append(t.Header, c)
	}
	for _, r := range g.Rows {
		cells := make([]cell, len(r))
		for i, text := range r {
			kind := g.Columns[i].Kind
			cells[i] = cell{text, string(kind), g.Columns[i].Name}
			if kind == reports.KindStatus {
				cells[i].Class += " " + statusClass(text)
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// titled sets a table with its title.
func titled(of Table) table {
	t := tableOf(of.Grid)
	t.Title = of.Title
	return t
}

// statusClass is the style of a parameter's status.
func statusClass(status string) string {
	switch status {
	case params.StatusOK, reports.Good:
		return "ok"
	case params.StatusUnidentifiable, params.StatusBound, params.StatusProvisional, reports.Rough, reports.NotMeasurable, reports.LimitOnly:
		return "open"
	}
	return "other"
}

// write writes the page. Nothing is written where anything fails.
func (d *document) write(w io.Writer) error {
	var b bytes.Buffer
	if err := layout.Execute(&b, struct {
		*document
		Policy string
		Style  template.CSS
		Script template.JS
	}{d, policy, template.CSS(style), template.JS(script)}); err != nil {
		return fmt.Errorf("page %q: %w", d.Title, err)
	}
	_, err := w.Write(b.Bytes())
	return err
}
