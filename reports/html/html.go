// Package html writes pages that need nothing but a browser: one file, no network, figures as SVG.
//
// The opinion of this package: a report is kept for years, mailed, and opened on a machine that has no network, so a
// page is small, loads nothing and sends nothing: its content security policy allows the one script and the one style
// that were written into it, by their hashes, and nothing else. Nothing needs the script: it only helps to read values
// off a figure. Every sentence and every table cell is made by package reports, so that the page cannot disagree with
// the text report. The same input gives the same bytes.
package html

import (
	"io"

	"calib/internal/params"
	"calib/reports"
	"calib/reports/figure"
)

// Options of a report.
type Options struct {
	Dir     string          // run directory, for "where the files are"; "" leaves that out
	History []figure.Figure // timelines; none leaves the section's place with a sentence how to get it
}

// Report writes report.html.
func Report(w io.Writer, p *params.Params, figures []figure.Figure, o Options) error {
	return report(p, figures, o).write(w)
}

// Page is any other page: a history, a comparison.
type Page struct {
	Title   string
	Lead    []string // the finding, in sentences
	Tables  []Table
	Figures []figure.Figure
}

// Table of a page. One without a title stands before the contents.
type Table struct {
	Title string
	reports.Grid
}

// Write writes the page: the tables, then the figures under the headings of their sections.
func (p Page) Write(w io.Writer) error {
	d := newDocument(p.Title)
	d.Heading, d.Lead = p.Title, p.Lead
	for _, t := range p.Tables {
		if t.Title == "" {
			d.Opening = append(d.Opening, tableOf(t.Grid))
		} else {
			d.add(section{Title: t.Title, Tables: []table{tableOf(t.Grid)}})
		}
	}
	d.addFigures(p.Figures)
	return d.write(w)
}
