package html

import (
	"fmt"
	"slices"
	"strings"

	"calib/internal/params"
	"calib/internal/units"
	"calib/reports"
	"calib/reports/draw"
	"calib/reports/figure"
)

// How long a list may be to be shown whole.
const (
	warningsShown = 4
	flagsShown    = 6
)

// report lays out the report of one run.
func report(p *params.Params, figures []figure.Figure, o Options) *document {
	v := reports.SummaryOf(p, o.Dir, 0)
	d := newDocument("calib report " + v.Run)
	d.Eyebrow, d.Scope = v.Run, v.Measured
	d.Heading, d.Lead, d.Alerts = v.Verdict+": "+v.Network, v.Spoiled, v.Odd
	if v.Unseen != "" {
		d.Lead = append(d.Lead, "Unseen traffic: "+v.Unseen)
	}
	if len(v.Numbers.Rows) > 0 {
		d.Opening = append(d.Opening, tableOf(v.Numbers))
	}
	d.Warnings = folded(reports.WarningsOf(p), warningsShown)
	d.parameters(p)

	d.glance(figures)
	links := take(&figures, func(f figure.Figure) bool { return f.Heat != nil || f.Section == "Pairs" })
	validated := take(&figures, func(f figure.Figure) bool { return f.Section == "Validation" })
	d.addFigures(figures)
	if all := reports.FindingsOf(p); len(all) > 0 {
		d.add(section{Title: "Findings", List: all})
	}
	d.functions(p)
	d.hosts(p)
	d.pairs(p, links)
	d.validation(p, validated)
	d.history(o.History)
	d.quality(p)
	d.environment(p)
	d.files(p, o.Dir)
	return d
}

// glances are the figures of which a small one stands on the first screen: the time of a message, and what others that
// send at once make of it.
var glances = []string{"t-x", "a-prime", "b-prime"}

// glance puts small figures beside the verdict. They come before the whole ones, whose anchors are kept free.
func (d *document) glance(figures []figure.Figure) {
	for _, id := range glances {
		i := slices.IndexFunc(figures, func(f figure.Figure) bool { return f.ID == id })
		if i < 0 {
			continue
		}
		f := figures[i]
		f.Below, f.Marks, f.X.Name, f.Y.Name = nil, nil, "", "" // its title says it
		f.Traces = slices.Clone(f.Traces)
		for k := range f.Traces {
			f.Traces[k].Name = "" // no legend
		}
		d.Glance = append(d.Glance, plot{ID: d.anchor("glance-" + f.ID), Of: f.ID, Title: f.Title, Drawn: drawn(&f, draw.Small)})
	}
}

// take removes some figures from the others and returns them.
func take(from *[]figure.Figure, some func(figure.Figure) bool) []figure.Figure {
	taken := slices.DeleteFunc(slices.Clone(*from), func(f figure.Figure) bool { return !some(f) })
	*from = slices.DeleteFunc(slices.Clone(*from), some)
	return taken
}

func (d *document) parameters(p *params.Params) {
	if len(p.Parameters) == 0 {
		d.Opening = append(d.Opening, table{Says: []string{"No parameters: no model found the measurements it needs."}})
		return
	}
	record, others := reports.RecordOf(p)
	t := tableOf(record)
	t.Title, t.Says = "Parameters", reports.ReasonsOf(p)
	t.More = &more{Summary: "Where each parameter comes from", Items: reports.SourcesOf(p)}
	d.Opening = append(d.Opening, t)
	for _, g := range []Table{{reports.OthersTitle, others}, {"What the intervals are made of", reports.BudgetOf(p)}} {
		if len(g.Rows) > 0 {
			t := tableOf(g.Grid)
			t.Fold = g.Title
			d.Opening = append(d.Opening, t)
		}
	}
}

func (d *document) functions(p *params.Params) {
	all := reports.FunctionsOf(p)
	if len(all) == 0 {
		return
	}
	g := reports.Grid{Columns: []reports.Column{
		{Name: "function", Kind: reports.KindSymbol}, {Name: "what it is, and its form", Kind: reports.KindForm},
		{Name: "coefficients, with 95% intervals", Kind: reports.KindLines}, {Name: "status", Kind: reports.KindStatus}, {Name: "holds for", Kind: reports.KindBreaks}, {Name: "source"},
	}}
	for _, f := range all {
		coeff := make([]string, len(f.Coeff))
		for i, c := range f.Coeff {
			coeff[i] = c.Name + " = " + c.String()
		}
		g.Rows = append(g.Rows, []string{f.Name, f.Label + "\n" + f.Form + " [" + f.Unit + "]", strings.Join(coeff, "\n"), f.Status, strings.ReplaceAll(f.Domain, ", ", ",\n"),
			f.Source})
	}
	d.add(section{Title: "Functions", Tables: []table{tableOf(g)}})
}

func (d *document) hosts(p *params.Params) {
	says, grids := reports.HostsOf(p)
	if says == nil {
		return
	}
	s := section{Title: "Hosts", Says: says}
	for _, g := range grids {
		s.Tables = append(s.Tables, tableOf(g))
	}
	d.add(s)
}

func (d *document) pairs(p *params.Params, links []figure.Figure) {
	part := reports.PairsOf(p)
	if len(p.Pairs) == 0 && len(links) == 0 {
		return
	}
	s := section{Title: "Pairs", Says: part.Says, Figures: d.figures(links)}
	if n := len(part.Slow.Rows); n > 0 {
		t := tableOf(part.Slow)
		if part.Hidden > 0 {
			t.Says = []string{fmt.Sprintf("The %d slowest; %d more are in params.json.", n, part.Hidden)}
		}
		s.Tables = append(s.Tables, t)
	}
	if n := len(part.All.Rows); n > len(part.Slow.Rows) {
		t := tableOf(part.All)
		t.Fold = fmt.Sprintf("All %d pairs", n)
		s.Tables = append(s.Tables, t)
	}
	d.add(s)
}

func (d *document) validation(p *params.Params, figures []figure.Figure) {
	s := section{Title: "Validation", Figures: d.figures(figures)}
	if t := reports.ValidationOf(p); len(t.Rows) > 0 {
		s.Says = []string{"Patterns that no fit has seen, predicted and then measured."}
		s.Tables = []table{tableOf(t)}
	} else {
		s.Says = []string{"In this run no communication pattern was predicted and then measured. How far the parameters can be trusted " +
			"follows from the quality of the fits below alone."}
	}
	d.add(s)
}

func (d *document) history(figures []figure.Figure) {
	s := section{Title: "History", Figures: d.figures(figures)}
	if len(figures) == 0 {
		s.Says = []string{"This report shows one run. To follow the parameters from run to run, keep each run with " +
			"calib history add DIR and look at them with calib history plot."}
	}
	d.add(s)
}

func (d *document) quality(p *params.Params) {
	if len(p.Fits) == 0 {
		return
	}
	t, says := reports.QualityOf(p)
	s := section{Title: "Quality of each fit", Tables: []table{tableOf(t)}}
	s.Tables[0].Says = says[:1]
	s.Tables[0].More = &more{Summary: "Which data each fit saw", Items: says[1:]}
	d.add(s)
}

func (d *document) environment(p *params.Params) {
	part := reports.EnvironmentOf(p)
	if len(part.Differs.Rows) == 0 && len(part.Common.Rows) == 0 {
		return
	}
	s := section{Title: "Environment", Says: []string{part.Says}}
	if len(part.Differs.Rows) > 0 {
		t := tableOf(part.Differs)
		t.Title = "The hosts differ in"
		s.Tables = append(s.Tables, t)
	}
	if n := len(part.Common.Rows); n > 0 {
		t := tableOf(part.Common)
		t.Fold = "The same on every host: " + units.GroupedPlural(n, "fact")
		s.Tables = append(s.Tables, t)
	}
	d.add(s)
}

func (d *document) files(p *params.Params, dir string) {
	if dir == "" {
		return
	}
	files, next := reports.FilesOf(p, dir)
	d.add(section{Title: "Files and next steps", Tables: []table{tableOf(files)}, List: next})
}

// folded shows the first n of all, and folds the rest.
func folded(all []string, n int) *more {
	if len(all) == 0 {
		return nil
	}
	m := &more{Items: slices.Clone(all)}
	if len(all) > n+1 { // folding a single one saves nothing
		m.Items, m.Rest = all[:n], all[n:]
		m.Summary = fmt.Sprintf("%d more", len(m.Rest))
	}
	return m
}
