package history

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/fit"
	"calib/internal/files"
	"calib/internal/history"
	"calib/reports"
	"calib/reports/draw"
	"calib/reports/figure"
)

// Figures that are drawn at most, and of these those of links that nobody asked for.
const (
	figuresDrawn = 60
	linksDrawn   = 12
)

// Where a plot goes.
const (
	plotFile = "history.html"
	plotDir  = "history-figures"
)

func historyPlotCommand() *cli.Command {
	return &cli.Command{
		Name: "plot", Usage: "draw the metrics over time, with the changes found, as a page or as figures",
		Description: "calib history plot                               the network's metrics, and the links with the largest changes\n" +
			"calib history plot --metric a_c,g_s.c0           these\n" +
			"calib history plot --link node01,node02          all of this link\n" +
			"calib history plot --format svg --out figures    a file for each figure",
		Flags: command.Join([]cli.Flag{
			&cli.StringFlag{Name: "metric", Usage: "metrics, comma separated: `a_c,g_s.c0`; calib history metrics lists them"},
			&cli.StringFlag{Name: "link", Usage: "the link between two hosts, `FROM,TO`"},
			&cli.StringFlag{Name: "format", Value: command.FormatHTML, Usage: "`FORMAT`: html, svg or png"},
			&cli.StringFlag{Name: "out", Usage: "html: the `FILE`, default " + plotFile + "; svg and png: the directory, default " + plotDir},
		}, filterFlags(plottedRuns), []cli.Flag{StoreFlag(), command.JSONFlag(), command.QuietFlag()}),
		Action: historyPlotAction,
	}
}

func historyPlotAction(c *cli.Context) error {
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
		of, err := followedFlags(c, all)
		if err != nil {
			return err
		}
		v, err := surveyRuns(c.Context, s, filter, of)
		if err != nil {
			return err
		}
		if len(v.runs) == 0 {
			return command.Usagef("no such run in %s; calib history list shows what there is", s.Path())
		}
		drawn := v.choose(c.String("metric") != "" || c.String("link") != "")
		if err := v.whole(c.Context, drawn); err != nil {
			return err
		}
		return v.write(c, format, drawn)
	})
}

// followedFlags returns what --metric and --link select of what is followed, in its order: a metric of links only of the link,
// where one is given.
func followedFlags(c *cli.Context, all []history.Followed) ([]history.Followed, error) {
	var from, to string
	if text := c.String("link"); text != "" {
		var err error
		if from, to, err = linkOf(all, text); err != nil {
			return nil, err
		}
	}
	var names []string
	for _, name := range strings.Split(c.String("metric"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	if c.IsSet("metric") && len(names) == 0 {
		return nil, command.Usagef("--metric %q: name a metric; calib history metrics lists them", c.String("metric"))
	}
	found := map[string]bool{}
	var out []history.Followed
	for _, f := range all {
		named := len(names) == 0 && (from == "" || f.Link() != "") || slices.Contains(names, f.Name)
		if named && (from == "" || f.Link() == "" || f.From == from && f.To == to) {
			out = append(out, f)
			found[f.Name] = true
		}
	}
	for _, name := range names {
		if !found[name] {
			return nil, noMetric(all, name, c.String("link"))
		}
	}
	return out, nil
}

// noMetric says which metrics there are.
func noMetric(all []history.Followed, name, link string) error {
	const shown = 12
	var names []string
	for _, f := range all {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	list := strings.Join(names[:min(shown, len(names))], ", ")
	if len(names) > shown {
		list += fmt.Sprintf(" and %d more", len(names)-shown)
	}
	if link != "" && slices.Contains(names, name) {
		return command.Usagef("--metric %s: no run has it of the link %s", name, link)
	}
	return command.Usagef("--metric %q: no run has it; there are %s (calib history metrics)", name, list)
}

// linkOf finds the link that text names among what is followed, in the direction in which it was measured.
func linkOf(all []history.Followed, text string) (from, to string, err error) {
	from, to, err = splitLink(text)
	if err != nil {
		return "", "", err
	}
	for _, d := range [][2]string{{from, to}, {to, from}} {
		if slices.ContainsFunc(all, func(f history.Followed) bool { return f.From == d[0] && f.To == d[1] }) {
			return d[0], d[1], nil
		}
	}
	return "", "", command.Usagef("--link %s: no run has measured it; calib history metrics lists the links", text)
}

// choose returns what is drawn: of what was asked for, or else of the network, as much as a page holds, what changed most
// first; and of links, unless they were asked for, the few that changed most.
func (v *survey) choose(asked bool) []*track {
	if asked {
		return pick(slices.Concat(v.network, v.links), figuresDrawn)
	}
	links := pick(changed(v.links), linksDrawn)
	return append(pick(v.network, figuresDrawn-len(links)), links...)
}

// write draws tracks.
func (v *survey) write(c *cli.Context, format string, drawn []*track) error {
	figures := figuresOf(drawn)
	out := historyPlot{Format: format, Runs: len(v.runs), Searched: len(v.network) + len(v.links), Drawn: len(drawn),
		LinkRuns: v.linkRuns, Changes: v.changes()}
	to := c.String("out")
	var err error
	if format == command.FormatHTML {
		if to == "" {
			to = plotFile
		} else if info, serr := os.Stat(to); serr == nil && info.IsDir() {
			to = filepath.Join(to, plotFile)
		}
		out.Files = []string{to}
		err = files.ReplaceBy(to, func(w io.Writer) error { return v.page(out, figures).Write(w) })
	} else {
		if to == "" {
			to = plotDir
		}
		out.Files, err = draw.Files(to, figures, format)
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return reports.Result{Command: "history plot", Data: out}.Encode(c.App.Writer)
	}
	return command.PrintFiles(c, "history plot", "", command.Written{Format: format, Files: out.Files})
}

// figuresOf draws tracks under headings: those that changed, then the network's and those of links that did not.
func figuresOf(tracks []*track) []figure.Figure {
	var out []figure.Figure
	seen := map[string]int{}
	steady := slices.DeleteFunc(slices.Clone(tracks), func(t *track) bool { return len(t.changes) > 0 })
	for _, t := range slices.Concat(changed(tracks), steady) {
		f := figure.Timeline(t.series())
		switch {
		case len(t.changes) > 0:
			f.Section = "Changed"
		case t.of.Link() == "":
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

// series is t as a figure takes it.
func (t *track) series() figure.Series {
	s := figure.Series{Name: t.of.Name, Link: t.of.Link(), Label: t.of.Label, Unit: t.of.Unit, Better: t.of.Better, Known: t.known}
	for _, r := range t.in {
		lo, hi := math.NaN(), math.NaN()
		if r.CI95 != nil {
			lo, hi = r.CI95[0], r.CI95[1]
		}
		s.Runs, s.At, s.Y = append(s.Runs, r.Run), append(s.At, r.At), append(s.Y, r.Value)
		s.Lo, s.Hi = append(s.Lo, lo), append(s.Hi, hi)
	}
	for _, c := range t.changes {
		s.Changes = append(s.Changes, figure.Change{At: c.Index, Before: c.Before, After: c.After, P: c.P})
	}
	return s
}

// Timelines draws the parameters of a run over the runs of its plan in the history; nothing where there is no history, or
// where the run is not in it. A history that nobody has named and that cannot be read is a note, and no error.
func Timelines(c *cli.Context, p *fit.Params) ([]figure.Figure, error) {
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
		command.NoteTo(c)("without timelines: " + err.Error())
		return nil, nil
	}
	return out, err
}
