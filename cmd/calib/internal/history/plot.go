package history

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/history"
	"calib/internal/lists"
	"calib/internal/units"
	"calib/params"
	"calib/reports"
	"calib/reports/draw"
	"calib/reports/figure"
	"calib/reports/html"
)

// The most figures on a page, and the most of them that are of links, unless links were asked for.
const (
	maxFigures     = 60
	maxLinkFigures = 12
)

const (
	plotFile = "history.html"
	plotDir  = "history-figures"
)

type plotted struct {
	Format   string   `json:"format"`
	Files    []string `json:"files"`
	Runs     int      `json:"runs"`     // that were looked at
	Searched int      `json:"searched"` // metrics; each link counts as one
	Drawn    int      `json:"drawn"`
	LinkRuns int      `json:"link_runs"` // newest runs in which links were searched
	Changes  []change `json:"changes"`   // newest first
}

type change struct {
	Metric  string       `json:"metric"`
	From    string       `json:"from,omitempty"` // with To, the link; else it is of the whole network
	To      string       `json:"to,omitempty"`
	Hosts   string       `json:"hosts,omitempty"` // the cluster, where the runs are of several
	Unit    string       `json:"unit"`
	Run     string       `json:"run"` // the first of the new level
	At      time.Time    `json:"at"`  // its start
	Before  float64      `json:"before"`
	After   float64      `json:"after"`           // medians up to the neighbouring changes
	Share   *float64     `json:"share,omitempty"` // (after − before)/|before|, over |after| where before is 0
	P       float64      `json:"p"`               // of the permutation test
	Verdict string       `json:"verdict"`         // better, worse, or empty where neither is
	Ack     *history.Ack `json:"ack,omitempty"`   // that covers it
	index   int          // of Run among the readings of the metric
}

func plotHistory(c *cli.Context, s *history.Store) error {
	format := c.String("format")
	if !slices.Contains([]string{command.FormatHTML, draw.SVG, draw.PNG}, format) {
		return exit.Usagef("--format %q: want html, svg or png", format)
	}
	filter, err := filterOf(c)
	if err != nil {
		return err
	}
	looks, err := watched(c, s, filter)
	if err != nil {
		return err
	}
	of, err := selected(c, s)
	if err != nil && len(looks) == 0 { // else no run has measured the link
		return err
	}
	v, err := surveyRuns(c.Context, s, filter, of)
	if err != nil {
		return err
	}
	if len(v.runs)+len(looks) == 0 {
		return noRun(s)
	}
	drawn := v.choose(c.String("metric") != "" || c.String("link") != "")
	figures := append(figuresOf(drawn), looks...)
	out := plotted{Format: format, Runs: len(v.runs), Searched: len(v.network) + len(v.links),
		Drawn: len(drawn), LinkRuns: v.linkRuns, Changes: v.changes()}
	out.Files, err = command.WriteFigures(c, format, plotFile, plotDir, figures, func(w io.Writer) error {
		return html.Page(w, "Network history", slices.Concat(v.summary(out.Changes), v.limits(out)),
			changeTable(out.Changes), figures)
	})
	if err != nil {
		return err
	}
	return command.AnswerLines(c, "history plot", out, out.Files...)
}

// choose returns the timelines that are drawn, as many as a page holds: of those asked for, the ones that changed most;
// else, of the network and of links, the few links that changed most.
func (v *survey) choose(asked bool) []*timeline {
	if asked {
		return pick(slices.Concat(v.network, v.links), maxFigures)
	}
	links := pick(changed(v.links), maxLinkFigures)
	return append(pick(v.network, maxFigures-len(links)), links...)
}

// figuresOf draws timelines under headings: those that changed, then the network's and those of links that did not.
func figuresOf(timelines []*timeline) (out []figure.Figure) {
	steady := lists.Where(timelines, func(t *timeline) bool { return len(t.changes) == 0 })
	for _, t := range slices.Concat(changed(timelines), steady) {
		f := t.figure()
		switch {
		case len(t.changes) > 0:
			f.Section = "Changed"
		case t.metric.Link() == "":
			f.Section = "The whole network, without a change"
		default:
			f.Section = "Links, without a change"
		}
		out = append(out, f)
	}
	figure.Unique(out) // a metric may have had two units
	return out
}

// How many changes a page describes in sentences, and lists in its table.
const (
	changesDescribed = 3
	changesListed    = 200
)

func (v *survey) summary(all []change) []string {
	if len(v.runs) == 0 {
		return []string{"No run is in the history. It has what calib watch has seen."}
	}
	over := fmt.Sprintf("%s from %s to %s", units.Plural(len(v.runs), "run"), day(v.runs[0].Started),
		day(v.runs[len(v.runs)-1].Started))
	open := lists.Where(all, func(c change) bool { return c.Ack == nil })
	changes := units.Plural(len(all), "change")
	switch {
	case !slices.ContainsFunc(slices.Concat(v.network, v.links), (*timeline).searchable):
		return []string{fmt.Sprintf("Too few runs to find a change: %s. A change needs %d runs on each side of it.",
			over, minSegment)}
	case len(all) == 0:
		return []string{fmt.Sprintf("No change found in %s.", over)}
	case len(open) == 0:
		return []string{fmt.Sprintf("No new change in %s; %s found, all acknowledged.", over, changes)}
	}
	metrics := len(changed(v.network)) + len(changed(v.links))
	lead := []string{fmt.Sprintf("%s of level in %s, in %s", changes, units.Plural(metrics, "metric"), over)}
	if known := len(all) - len(open); known > 0 {
		lead[0] += fmt.Sprintf("; %d acknowledged", known)
	}
	lead[0] += "."
	slices.SortStableFunc(open, func(a, b change) int { return cmp.Compare(b.size(), a.size()) })
	for _, c := range open[:min(len(open), changesDescribed)] {
		lead = append(lead, c.sentence())
	}
	if n := len(open) - changesDescribed; n > 0 {
		lead = append(lead, fmt.Sprintf("%d more are smaller: see the table.", n))
	}
	return lead
}

func (v *survey) limits(out plotted) (lines []string) {
	if v.linkRuns < len(v.runs) && len(v.links) > 0 {
		lines = append(lines, fmt.Sprintf("Links are searched and drawn in their newest %s: there are %d metrics of "+
			"links; --link FROM,TO takes all runs.", units.Plural(v.linkRuns, "run"), len(v.links)))
	}
	if n := out.Searched - out.Drawn; n > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d metrics are drawn, at most %d, those with a change before the "+
			"others; --metric NAME and --link FROM,TO draw others.", out.Drawn, out.Searched, maxFigures))
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

func (c change) subject() string {
	return strings.TrimSpace(c.Metric+" "+params.Metric{From: c.From, To: c.To}.Link()) + ofCluster(c.Hosts)
}

func (c change) percent() string {
	if c.Share == nil {
		return command.OrDash("")
	}
	return fmt.Sprintf("%+.1f%%", 100**c.Share)
}

// known is why an acknowledged change came.
func (c change) known() string {
	if c.Ack == nil {
		return ""
	}
	return c.Ack.Reason
}

func (c change) levels() string {
	return units.Format(c.Before, c.Unit) + " to " + units.Format(c.After, c.Unit)
}

// sentence is "a_c: +7.1%, from 345 µs to 370 µs, for the worse, with run X of 2026-01-31."
func (c change) sentence() string {
	verdict := ""
	if c.Verdict != "" {
		verdict = ", for the " + c.Verdict
	}
	return fmt.Sprintf("%s: %s, from %s%s, with run %s of %s.", c.subject(), c.percent(), c.levels(), verdict, c.Run,
		day(c.At))
}

func changeTable(all []change) reports.Section {
	s, t := reports.Section{Title: "Changes"}, reports.NewGrid("run", "started (UTC)", "metric", "before/number",
		"after/number", "change/number", "for the", "p/number", "known")
	if len(all) > changesListed {
		s.Title = fmt.Sprintf("Changes, the newest %d of %d", changesListed, len(all))
		all = all[:changesListed]
	}
	for _, c := range all {
		t.Rows = append(t.Rows, []string{c.Run, command.Minute(c.At), c.subject(), units.Format(c.Before, c.Unit),
			units.Format(c.After, c.Unit), c.percent(), command.OrDash(c.Verdict), fmt.Sprintf("%.2g", c.P),
			command.OrDash(c.known())})
	}
	s.Tables = []reports.Table{{Grid: t}}
	return s
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
