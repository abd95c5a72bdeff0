package main

import (
	"fmt"
	"slices"
	"strings"
)

// paper is one paper's tables and figures.
type paper struct {
	title, citation string
	words           string // what the reader should know first
	rows            []row
	missing         []missing
}

// missing is what the paper shows and calib cannot rebuild.
type missing struct {
	place  string
	shows  string
	why    string
	golden []string // numbers of testdata/published.json that stand here
}

// papers builds all four. Root is the project's directory, whose examples some rows reduce.
func papers(root string, m measurements) ([]paper, error) {
	var out []paper
	for _, build := range []func(string, measurements) (paper, error){hyperbolicPaper, clusterPaper, overlapPaper, logpcPaper} {
		p, err := build(root, m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.title, err)
		}
		out = append(out, p)
	}
	return out, nil
}

const introduction = `# The papers, rebuilt

What the four papers behind calib state as numbers, beside what calib computes and measures: figure by figure, table by table. ` + "`make papers`" + `
measures and writes this file. A formula row calls the product's own functions (column *by*), so that it proves them and not a copy. A row
*measured* is from a real run of calib on the lab's copy of the paper's cluster: real agents, real kernel TCP, an emulated wire. What was
measured is stored in ` + "`internal/papers/measured`" + `; ` + "`go test ./internal/papers`" + ` holds this file to the formulas and to what is stored, without measuring.

A difference is (ours − paper's)/paper's. The paper's own error is what it states of that number, or half a unit of the last digit that it prints.
A difference is **bold** where it is larger than that and where the 95% interval (in brackets) of a measured number does not hold the paper's either; its
cause stands beside it. Where a paper states the largest error of its predictions, ours is the largest error of the same predictions of what
we measured. Expressions of a paper were worked out by hand with its own parameters. What is only drawn as a curve, and what needs the paper's own
machine, cannot be rebuilt: it is listed behind each table.
`

// page is the whole of docs/PAPERS.md.
func page(all []paper, m measurements) string {
	var b strings.Builder
	b.WriteString(introduction)
	b.WriteString(m.table())
	b.WriteString(summary(all))
	for _, p := range all {
		b.WriteString(p.section())
	}
	return b.String()
}

// summary counts the rows of each paper.
func summary(all []paper) string {
	var b strings.Builder
	b.WriteString("\n## In short\n\n| paper | numbers rebuilt | within the paper's own error | outside, with its cause | cannot be rebuilt |\n|---|---|---|---|---|\n")
	for _, p := range all {
		within := 0
		for _, r := range p.rows {
			if r.holds() {
				within++
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d figures, tables or columns |\n", p.citation, len(p.rows), within, len(p.rows)-within, len(p.missing))
	}
	return b.String()
}

// section is one paper's part of the page.
func (p paper) section() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n%s. %s.\n", p.title, p.citation, p.words)
	b.WriteString("\n| where | what | paper | ours | difference | by | cause |\n|---|---|---|---|---|---|---|\n")
	before := ""
	for _, r := range p.rows {
		b.WriteString(r.line(before))
		before = r.place
	}
	b.WriteString("\nCannot be rebuilt:\n\n| where | what it shows | why not |\n|---|---|---|\n")
	for _, m := range p.missing {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", m.place, m.shows, m.why)
	}
	return b.String()
}

// at gives rows that have none a place.
func at(place string, rows ...row) []row {
	for i := range rows {
		if rows[i].place == "" {
			rows[i].place = place
		}
	}
	return rows
}

// join is all rows in one list.
func join(groups ...[]row) []row { return slices.Concat(groups...) }
