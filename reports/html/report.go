package html

import (
	"fmt"
	"html/template"
	"io"
	"slices"

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

// Report writes the report of one run.
func Report(w io.Writer, p *params.Params, figures []figure.Figure, o Options) error {
	v := reports.SummaryOf(p, o.Dir, 0)
	d := newDocument("calib report " + v.Run)
	d.Eyebrow, d.Scope = v.Run, v.Measured
	d.Heading, d.Lead, d.Alerts = v.Verdict+": "+v.Network, v.Spoiled, v.Odd
	if v.Unseen != "" {
		d.Lead = append(d.Lead, "Unseen traffic: "+v.Unseen)
	}
	if len(v.Numbers.Rows) > 0 {
		d.Opening = append(d.Opening, Table{Grid: v.Numbers})
	}
	d.Warnings = folded(reports.WarningsOf(p), warningsShown)
	d.parameters(p)

	d.glance(figures)
	links := take(&figures, func(f figure.Figure) bool { return f.Heat != nil || f.Section == "Pairs" })
	validated := take(&figures, func(f figure.Figure) bool { return f.Section == "Validation" })
	d.addFigures(figures)
	d.add(section{Title: "Findings", List: reports.FindingsOf(p)})
	d.add(section{Title: "Functions", Tables: []Table{{Grid: reports.FunctionsOf(p)}}})
	says, grids := reports.HostsOf(p)
	hosts := section{Title: "Hosts", Says: says}
	for _, g := range grids {
		hosts.Tables = append(hosts.Tables, Table{Grid: g})
	}
	d.add(hosts)
	d.pairs(p, links)
	d.validation(p, validated)
	d.history(o.History)
	if len(p.Fits) > 0 {
		g, says := reports.QualityOf(p)
		d.add(section{Title: "Quality of each fit", Tables: []Table{{Grid: g, Says: says[:1],
			More: &more{Summary: "Which data each fit saw", Items: says[1:]}}}})
	}
	e := reports.EnvironmentOf(p)
	d.add(section{Title: "Environment", Says: e.Says, Tables: []Table{{Title: "The hosts differ in", Grid: e.Differs},
		{Fold: "The same on every host: " + units.GroupedPlural(len(e.Common.Rows), "fact"), Grid: e.Common}}})
	if o.Dir != "" {
		files, next := reports.FilesOf(p, o.Dir)
		d.add(section{Title: "Files and next steps", Tables: []Table{{Grid: files}}, List: next})
	}
	return d.write(w)
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
		d.Glance = append(d.Glance, plot{ID: d.anchor("glance-" + f.ID), Of: f.ID, Title: f.Title,
			Drawn: template.HTML(draw.Inline(f, draw.Small))})
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
		d.Opening = append(d.Opening, Table{Says: []string{"No parameters: no model found the measurements it needs."}})
		return
	}
	record, others := reports.RecordOf(p)
	d.Opening = append(d.Opening, Table{Title: "Parameters", Grid: record, Says: reports.ReasonsOf(p),
		More: &more{Summary: "Where each parameter comes from", Items: reports.SourcesOf(p)}})
	for _, t := range []Table{{Fold: reports.OthersTitle, Grid: others},
		{Fold: "What the intervals are made of", Grid: reports.BudgetOf(p)}} {
		if len(t.Rows) > 0 {
			d.Opening = append(d.Opening, t)
		}
	}
}

func (d *document) pairs(p *params.Params, links []figure.Figure) {
	part := reports.PairsOf(p)
	slow, all := Table{Grid: part.Slow}, Table{Grid: part.All, Fold: fmt.Sprintf("All %d pairs", len(part.All.Rows))}
	if part.Hidden > 0 {
		slow.Says = []string{fmt.Sprintf("The %d slowest; %d more are in params.json.", len(slow.Rows), part.Hidden)}
	}
	if len(all.Rows) == len(slow.Rows) {
		all.Rows = nil
	}
	d.add(section{Title: "Pairs", Says: part.Says, Figures: d.figures(links), Tables: []Table{slow, all}})
}

func (d *document) validation(p *params.Params, figures []figure.Figure) {
	s := section{Title: "Validation", Figures: d.figures(figures)}
	if t := reports.ValidationOf(p); len(t.Rows) > 0 {
		s.Says = []string{"Patterns that no fit has seen, predicted and then measured."}
		s.Tables = []Table{{Grid: t}}
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
