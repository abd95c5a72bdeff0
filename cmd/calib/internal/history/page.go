package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"calib/cmd/calib/internal/command"
	"calib/fit/params"
	"calib/internal/units"
	"calib/reports"
	"calib/reports/figure"
	"calib/reports/html"
)

// How many changes a page describes in sentences, and lists in its table.
const (
	changesDescribed = 3
	changesListed    = 200
)

// page is the HTML page of what was found.
func (v *survey) page(out plotted, figures []figure.Figure) html.Page {
	p := html.Page{Title: "Network history", Lead: slices.Concat(v.summary(out.Changes), v.limits(out)), Figures: figures}
	if len(out.Changes) > 0 {
		p.Tables = []html.Table{changeTable(out.Changes)}
	}
	return p
}

// summary says what changed, when, and by how much.
func (v *survey) summary(all []change) []string {
	from, to := v.span()
	over := fmt.Sprintf("%s from %s to %s", units.Plural(len(v.runs), "run"), day(from), day(to))
	open := slices.DeleteFunc(slices.Clone(all), func(c change) bool { return c.Ack != nil })
	switch {
	case len(v.runs) < 2*leastSegment:
		return []string{fmt.Sprintf("Too few runs to find a change: %s. A change needs %d runs on each side of it.", over, leastSegment)}
	case len(all) == 0:
		return []string{fmt.Sprintf("No change found in %s.", over)}
	case len(open) == 0:
		return []string{fmt.Sprintf("No new change in %s; %s found, all acknowledged.", over, units.Plural(len(all), "change"))}
	}
	metrics := len(changed(v.network)) + len(changed(v.links))
	first := fmt.Sprintf("%s of level in %s, in %s", units.Plural(len(all), "change"), units.Plural(metrics, "metric"), over)
	if known := len(all) - len(open); known > 0 {
		first += fmt.Sprintf("; %d acknowledged", known)
	}
	lead := []string{first + "."}
	slices.SortStableFunc(open, func(a, b change) int { return cmp.Compare(b.size(), a.size()) })
	for _, c := range open[:min(len(open), changesDescribed)] {
		lead = append(lead, c.sentence())
	}
	if n := len(open) - changesDescribed; n > 0 {
		lead = append(lead, fmt.Sprintf("%d more, which are smaller; the table has them all.", n))
	}
	return lead
}

// limits says what was not drawn, and what was not searched.
func (v *survey) limits(out plotted) []string {
	var lines []string
	if v.linkRuns < len(v.runs) && len(v.links) > 0 {
		lines = append(lines, fmt.Sprintf("Links were searched in their newest %s: there are %d metrics of links; --link FROM,TO searches all runs.",
			units.Plural(v.linkRuns, "run"), len(v.links)))
	}
	if n := out.Searched - out.Drawn; n > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d metrics are drawn, at most %d, those that changed first; --metric NAME and "+
			"--link FROM,TO draw others.", out.Drawn, out.Searched, figuresDrawn))
	}
	return lines
}

// size is the share of a change; one that has none is the largest.
func (c change) size() float64 {
	if c.Share == nil {
		return math.Inf(1)
	}
	return math.Abs(*c.Share)
}

// subject is the metric and its link.
func (c change) subject() string {
	if link := (params.Metric{From: c.From, To: c.To}).Link(); link != "" {
		return c.Metric + " " + link
	}
	return c.Metric
}

// percent is the share in percent, a dash where there is none.
func (c change) percent() string {
	if c.Share == nil {
		return command.OrDash("")
	}
	return fmt.Sprintf("%+.1f%%", 100**c.Share)
}

// levels are the medians before and after.
func (c change) levels() string {
	return units.Format(c.Before, c.Unit) + " to " + units.Format(c.After, c.Unit)
}

// sentence is "a_c: +7.1%, from 345 µs to 370 µs, for the worse, with run X of 2026-01-31."
func (c change) sentence() string {
	verdict := ""
	if c.Verdict != changeNeither {
		verdict = ", for the " + c.Verdict
	}
	return fmt.Sprintf("%s: %s, from %s%s, with run %s of %s.", c.subject(), c.percent(), c.levels(), verdict, c.Run, day(c.At))
}

// changeTable lists changes, newest first.
func changeTable(all []change) html.Table {
	const number = reports.KindNumber
	t := html.Table{Title: "Changes", Grid: reports.Grid{Columns: []reports.Column{
		{Name: "run"}, {Name: "started (UTC)"}, {Name: "metric"}, {Name: "before", Kind: number}, {Name: "after", Kind: number},
		{Name: "change", Kind: number}, {Name: "for the"}, {Name: "p", Kind: number}, {Name: "known"},
	}}}
	if len(all) > changesListed {
		t.Title = fmt.Sprintf("Changes, the newest %d of %d", changesListed, len(all))
		all = all[:changesListed]
	}
	for _, c := range all {
		known := ""
		if c.Ack != nil {
			known = c.Ack.Reason
		}
		t.Rows = append(t.Rows, []string{c.Run, command.Minute(c.At), c.subject(), units.Format(c.Before, c.Unit), units.Format(c.After, c.Unit),
			c.percent(), command.OrDash(c.Verdict), fmt.Sprintf("%.2g", c.P), command.OrDash(known)})
	}
	return t
}

// day is a date, in UTC.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
