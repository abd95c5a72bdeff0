// Package html writes pages that need nothing but a browser: one file, no network, figures as SVG.
//
// The opinion of this package: a report is kept for years, mailed, and opened on a machine that has no network, so a
// page is small, loads nothing and sends nothing: its content security policy allows the one script and the one style
// that were written into it, by their hashes, and nothing else. Nothing needs the script: it only helps to read values
// off a figure. Every sentence and every table cell is made by package reports, so that the page cannot disagree with
// the text report. The same input gives the same bytes.
package html

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"calib/internal/glossary"
	"calib/internal/lists"
	"calib/internal/units"
	"calib/params"
	"calib/reports"
	"calib/reports/draw"
	"calib/reports/figure"
)

type Options struct {
	Dir     string          // run directory, for "where the files are"; "" leaves that out
	History []figure.Figure // timelines; none leaves the section's place with a sentence how to get it
	Since   reports.Table   // changes since a baseline
}

// Page writes any other page: a title, the finding in sentences, a section, then the figures under the headings of
// their sections.
func Page(w io.Writer, title string, lead []string, s reports.Section, figures []figure.Figure) error {
	d := newDocument(title)
	d.Heading, d.Lead = title, lead
	d.add(s)
	d.addFigures(figures)
	return d.write(w)
}

// document is a page to be written: plain text and figures in order. The template escapes all of it.
type document struct {
	Title    string
	Eyebrow  string // above the heading: which run
	Scope    string
	Heading  string
	Lead     []string
	Alerts   []string
	Tiles    []reports.Tile
	Glance   []plot          // small figures, of which the first is that of all pairs where there is one
	Beside   []reports.Table // beside that one
	Warnings []string
	Opening  []reports.Table // before the contents
	Sections []section

	taken figure.IDs // anchors
}

type section struct {
	ID string
	reports.Section
	Figures []plot
}

type plot struct {
	ID, Title, Says string
	Of              string        // of a small figure: the anchor of the whole one
	Drawn           template.HTML // an SVG, in which package draw has escaped what the figure says
	Numbers         string        // of a matrix whose cells have no titles
}

func newDocument(title string) *document {
	return &document{Title: title, taken: figure.IDs{"top": true}}
}

// add appends s with its figures, unless it has nothing to say.
func (d *document) add(s reports.Section, figures ...plot) {
	s.Tables = slices.DeleteFunc(s.Tables, func(t reports.Table) bool { return len(t.Rows) == 0 })
	if len(s.Says)+len(s.List)+len(s.Tables)+len(figures) > 0 {
		d.Sections = append(d.Sections, section{d.anchor(s.Title), s, figures})
	}
}

// addFigures appends figures, those of one section under one heading, in the order in which sections first come.
func (d *document) addFigures(figures []figure.Figure) {
	for len(figures) > 0 {
		title := cmp.Or(figures[0].Section, "Figures")
		own := take(&figures, func(f figure.Figure) bool { return cmp.Or(f.Section, "Figures") == title })
		id := d.anchor(title) // before those of its figures
		d.Sections = append(d.Sections, section{id, reports.Section{Title: title}, d.figures(own)})
	}
}

func (d *document) figures(all []figure.Figure) []plot {
	out := make([]plot, 0, len(all))
	for _, f := range all {
		p := plot{ID: d.anchor(f.ID), Title: f.Title, Says: f.Says, Drawn: template.HTML(draw.Inline(f, draw.Page))}
		if f.Heat != nil && len(f.Heat.Names)*len(f.Heat.Names) > draw.MaxTitles {
			p.Numbers = numbers(f.Heat)
		}
		out = append(out, p)
	}
	return out
}

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
	for _, name := range h.Names {
		out += "\t" + plain(name)
	}
	for r, name := range h.Names {
		out += "\n" + plain(name)
		for _, v := range h.Z[r] {
			out += "\t" + units.Format(v/by, "")
		}
	}
	return out
}

// anchor makes an ID of a title that no other element has.
func (d *document) anchor(title string) string { return d.taken.Take(figure.Slug(title)) }

// meaning is what the number is that a cell names, for a browser to show where the pointer rests; "" is none.
func meaning(kind reports.Kind, text string) string {
	if kind != reports.KindSymbol && kind != reports.KindFunction {
		return ""
	}
	n, _ := glossary.All().Lookup(text)
	return n.Is
}

// class of a cell is the kind of its column, and of a status also what it is.
func class(kind reports.Kind, text string) reports.Kind {
	if kind != reports.KindStatus {
		return kind
	}
	switch text {
	case reports.Good:
		return kind + " ok"
	case reports.Rough, reports.NotMeasurable, reports.LimitOnly:
		return kind + " open"
	}
	return kind + " other"
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

// The assets of a page. They are part of the program: none can be missing.
var (
	//go:embed assets/page.gohtml
	source string
	//go:embed assets/report.css
	style string
	//go:embed assets/read.js
	script string

	layout = template.Must(template.New("page").
		Funcs(template.FuncMap{"class": class, "meaning": meaning}).Parse(source))
	// policy is the content security policy of a page: this script and this style by their hashes, pictures that the
	// page holds itself (the cells of a heat map are one), and nothing else: no request, no form, no frame.
	policy = "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
)

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func Report(w io.Writer, p *params.Params, figures []figure.Figure, o Options) error {
	v := reports.SummaryOf(p, reports.Options{Dir: o.Dir})
	d := newDocument("calib report " + v.Run)
	d.Eyebrow, d.Scope = v.Run, v.Measured
	d.Heading, d.Tiles, d.Lead, d.Alerts = v.Verdict+": "+v.Network, v.Tiles, slices.Concat(v.Spoiled, v.Classes), v.Odd
	empty := func(t reports.Table) bool { return len(t.Rows)+len(t.Says) == 0 }
	d.Beside = slices.DeleteFunc([]reports.Table{{Title: "Slow hosts and pairs", Grid: reports.OddOf(p)}, o.Since}, empty)
	d.Alerts = slices.DeleteFunc(d.Alerts, func(s string) bool { // this table has them
		return slices.ContainsFunc(reports.SlowHosts(p), func(h reports.SlowHost) bool { return h.Says == s })
	})
	if v.Unseen != "" {
		d.Lead = append(d.Lead, "Unseen traffic: "+v.Unseen)
	}
	d.Opening = append([]reports.Table{{Grid: v.Numbers}}, parametersOf(p)...)
	d.Opening = slices.DeleteFunc(d.Opening, empty)
	d.Warnings = reports.WarningsOf(p)

	d.glance(figures)
	links := take(&figures, func(f figure.Figure) bool { return f.Heat != nil })
	validated := take(&figures, func(f figure.Figure) bool { return f.Section == "Validation" })
	d.addFigures(figures)
	d.add(reports.Section{Title: "Findings", List: reports.FindingsOf(p)})
	d.add(reports.Section{Title: "Functions", Tables: []reports.Table{{Grid: reports.FunctionsOf(p)}}})
	d.add(reports.HostsOf(p))
	d.add(reports.PairsOf(p, false), d.figures(links)...)
	d.validation(p, validated)
	d.history(o.History)
	d.add(reports.QualityOf(p))
	d.add(reports.EnvironmentOf(p))
	d.add(reports.FilesOf(p, o.Dir))
	return d.write(w)
}

// glances are the figures of which a small one stands on the first screen, as far as there are: all pairs, what was
// predicted, the time of a message, and what others that send at once make of it.
var glances = []string{"pairs-latency", "validation", "t-x", "a-prime", "b-prime"}

// glance puts small figures under the verdict. They come before the whole ones, whose anchors are kept free.
func (d *document) glance(figures []figure.Figure) {
	// They fill one row of three columns, or two rows with tables, of which each takes two columns.
	shown := 3*min(2, 1+len(d.Beside)) - 2*len(d.Beside)
	for _, id := range glances {
		i := slices.IndexFunc(figures, func(f figure.Figure) bool { return f.ID == id })
		if i < 0 || len(d.Glance) == shown {
			continue
		}
		f := figures[i]
		f.Below, f.Marks, f.X.Name, f.Y.Name = nil, nil, "", "" // its title says it
		f.Traces = slices.Clone(f.Traces)
		for k := range f.Traces {
			f.Traces[k].Name = "" // no legend
		}
		d.Glance = append(d.Glance, plot{ID: d.anchor("glance-" + f.ID), Of: f.ID, Title: f.Title,
			Drawn: template.HTML(draw.Inline(f, draw.Small))})
	}
}

// take removes some figures from the others and returns them.
func take(from *[]figure.Figure, some func(figure.Figure) bool) []figure.Figure {
	taken := lists.Where(*from, some)
	*from = slices.DeleteFunc(slices.Clone(*from), some)
	return taken
}

func parametersOf(p *params.Params) []reports.Table {
	if len(p.Parameters) == 0 {
		return []reports.Table{{Says: []string{"No parameters: no model found the measurements it needs."}}}
	}
	record, others := reports.RecordOf(p)
	return []reports.Table{{Title: "Parameters", Grid: record, Says: reports.ReasonsOf(p),
		More: &reports.More{Summary: "Where each parameter comes from", Items: reports.SourcesOf(p)}},
		{Fold: reports.OthersTitle, Grid: others}, {Fold: "What the intervals are made of", Grid: reports.BudgetOf(p)}}
}

func (d *document) validation(p *params.Params, figures []figure.Figure) {
	says := "Patterns that no fit has seen, predicted and then measured."
	if _, seen := p.Run.Sampled["pattern"]; len(p.Validation) == 0 && seen {
		says = "Patterns were measured. No model has the parameters to predict them."
	} else if len(p.Validation) == 0 {
		says = "This run measured no communication pattern. calib predict validate RUN measures some, and shows " +
			"how far predictions can be trusted."
	}
	d.add(reports.Section{Title: "Validation", Says: []string{says},
		Tables: []reports.Table{{Grid: reports.ValidationOf(p)}}}, d.figures(figures)...)
}

func (d *document) history(figures []figure.Figure) {
	s := reports.Section{Title: "History"}
	if len(figures) == 0 {
		s.Says = []string{"This report shows one run. To follow the parameters from run to run, keep each run with " +
			"calib history add DIR and look at them with calib history plot."}
	}
	d.add(s, d.figures(figures)...)
}
