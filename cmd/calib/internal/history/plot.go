package history

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/runfiles"
	"calib/fit/params"
	"calib/internal/history"
	"calib/reports/draw"
	"calib/reports/figure"
)

// The most figures on a page, and the most of them that are of links, unless links were asked for.
const (
	figuresDrawn = 60
	linksDrawn   = 12
)

// Where a plot goes.
const (
	plotFile = "history.html"
	plotDir  = "history-figures"
)

func plotCommand() *cli.Command {
	return &cli.Command{
		Name: "plot", Usage: "draw the metrics over time, with the changes found, as a page or as figures",
		Description: "calib history plot                               the network's metrics, and the links with the largest changes\n" +
			"calib history plot --metric a_c,g_s.c0           these\n" +
			"calib history plot --link node01,node02          all of this link\n" +
			"calib history plot --format svg --out figures    a file for each figure",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "metric", Usage: "metrics, comma separated: `a_c,g_s.c0`; calib history metrics lists them"},
			&cli.StringFlag{Name: "link", Usage: "the link between two hosts, `FROM,TO`"},
			&cli.StringFlag{Name: "format", Value: command.FormatHTML, Usage: "`FORMAT`: html, svg or png"},
			&cli.StringFlag{Name: "out", Usage: "html: the `FILE`, default " + plotFile + "; svg and png: the directory, default " + plotDir},
		}, append(filterFlags(plottedRuns), StoreFlag(), command.JSONFlag(), command.QuietFlag())...),
		Action: plotHistory,
	}
}

func plotHistory(c *cli.Context) error {
	if err := command.NoArgs(c); err != nil {
		return err
	}
	format := c.String("format")
	if !slices.Contains([]string{command.FormatHTML, draw.SVG, draw.PNG}, format) {
		return command.Usagef("--format %q: want html, svg or png", format)
	}
	filter, err := filterOf(c)
	if err != nil {
		return err
	}
	return withStore(c, history.OpenExisting, func(s *history.Store) error {
		all, err := s.Followed(c.Context)
		if err != nil {
			return err
		}
		of, err := followedFlags(c, s, all)
		if err != nil {
			return err
		}
		v, err := surveyRuns(c.Context, s, filter, of)
		if err != nil {
			return err
		}
		if len(v.runs) == 0 {
			return noRun(s)
		}
		drawn := v.choose(c.String("metric") != "" || c.String("link") != "")
		if err := v.whole(c.Context, drawn); err != nil {
			return err
		}
		return v.write(c, format, drawn)
	})
}

// choose returns the timelines that are drawn, as many as a page holds: of those asked for, the ones that changed most;
// else, of the network and of links, the few links that changed most.
func (v *survey) choose(asked bool) []*timeline {
	if asked {
		return pick(slices.Concat(v.network, v.links), figuresDrawn)
	}
	links := pick(changed(v.links), linksDrawn)
	return append(pick(v.network, figuresDrawn-len(links)), links...)
}

// write draws timelines, as a page or as files.
func (v *survey) write(c *cli.Context, format string, drawn []*timeline) error {
	figures := figuresOf(drawn)
	out := plotted{Format: format, Runs: len(v.runs), Searched: len(v.network) + len(v.links), Drawn: len(drawn),
		LinkRuns: v.linkRuns, Changes: v.changes()}
	to := cmp.Or(c.String("out"), plotDir)
	if format == command.FormatHTML {
		to = cmp.Or(command.OutFile(c, plotFile), plotFile)
	}
	var err error
	out.Files, err = runfiles.WriteFigures(c, format, to, figures, func(w io.Writer) error { return v.page(out, figures).Write(w) })
	if err != nil {
		return err
	}
	return command.Answer(c, "history plot", out, func(w io.Writer) error { return command.Lines(w, out.Files) })
}

// figuresOf draws timelines under headings: those that changed, then the network's and those of links that did not.
func figuresOf(timelines []*timeline) []figure.Figure {
	var out []figure.Figure
	seen := map[string]int{}
	steady := slices.DeleteFunc(slices.Clone(timelines), func(t *timeline) bool { return len(t.changes) > 0 })
	for _, t := range slices.Concat(changed(timelines), steady) {
		f := figure.Timeline(t.series())
		switch {
		case len(t.changes) > 0:
			f.Section = "Changed"
		case t.metric.Link() == "":
			f.Section = "The whole network, without a change"
		default:
			f.Section = "Links, without a change"
		}
		if seen[f.ID]++; seen[f.ID] > 1 { // a metric that has had two units
			f.ID = fmt.Sprintf("%s-%d", f.ID, seen[f.ID])
		}
		out = append(out, f)
	}
	return out
}

// series is t as the data of a figure.
func (t *timeline) series() figure.Series {
	s := figure.Series{Name: t.metric.Name, Link: t.metric.Link(), Label: t.metric.Label, Unit: t.metric.Unit, Better: t.metric.Better, Known: t.known}
	for _, r := range t.readings {
		lo, hi := math.NaN(), math.NaN()
		if r.CI95 != nil {
			lo, hi = r.CI95[0], r.CI95[1]
		}
		s.Runs, s.At, s.Y = append(s.Runs, r.Run), append(s.At, r.At), append(s.Y, r.Value)
		s.Lo, s.Hi = append(s.Lo, lo), append(s.Hi, hi)
	}
	for _, c := range t.changes {
		s.Changes = append(s.Changes, figure.Change{At: c.index, Before: c.Before, After: c.After, P: c.P})
	}
	return s
}

// Timelines draws the parameters of a run over all runs of its plan in the history. There are none where there is no
// history, or where the run is not in it. A history that cannot be read is an error only if --store names it.
func Timelines(c *cli.Context, p *params.Params) ([]figure.Figure, error) {
	var out []figure.Figure
	err := withStore(c, history.OpenExisting, func(s *history.Store) error {
		e, err := s.Find(c.Context, p.Run.ID)
		if errors.Is(err, history.ErrNotFound) || errors.Is(err, history.ErrAmbiguous) || err == nil && e.ID != p.Run.ID {
			return nil
		}
		if err != nil {
			return err
		}
		all, err := s.Followed(c.Context)
		if err != nil {
			return err
		}
		of := slices.DeleteFunc(all, func(f history.Followed) bool {
			_, ok := p.Parameters[f.Name]
			return !ok || f.Link() != ""
		})
		v, err := surveyRuns(c.Context, s, history.Filter{Last: plottedRuns, Plan: e.Plan}, of)
		if err == nil {
			out = figuresOf(v.network)
		}
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil && !c.IsSet("store"):
		command.Note(c, "without timelines: "+err.Error())
		return nil, nil
	}
	return out, err
}
