package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/files"
	"calib/internal/rundir"
	"calib/reports"
	"calib/reports/draw"
	"calib/reports/figure"
	"calib/reports/html"
)

const (
	formatText = "text"
	formatHTML = "html"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name: "report", Usage: "print the report of a run, or write it as a page or as figures", ArgsUsage: "RUN",
		Description: "calib report RUN                         the whole report as text, with residuals for each size\n" +
			"calib report --format html RUN           write RUN/report.html again; with timelines of its parameters where the run is in the history\n" +
			"calib report --format svg --out DIR RUN  one file for each figure",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "short", Usage: "only the table of parameters"},
			&cli.StringFlag{Name: "format", Value: formatText, Usage: "`FORMAT`: text, html, svg or png"},
			&cli.StringFlag{Name: "out", Usage: "html: the `FILE`; svg and png: the directory of the figures; default in the run directory"},
			storeFlag(), jsonFlag(), quietFlag(),
		},
		Action: func(c *cli.Context) error {
			dir, err := openRun(c)
			if err != nil {
				return err
			}
			p, err := dir.ReadParams()
			if err != nil {
				return withCode(exitUsage, err)
			}
			switch f := c.String("format"); {
			case f == formatHTML, f == draw.SVG, f == draw.PNG:
				return writeReport(c, dir, p, f)
			case f != formatText:
				return usagef("--format %q: want text, html, svg or png", f)
			case c.String("out") != "":
				return usagef("--out with --format text: the text goes to standard output; %s has it too", dir.File(rundir.ReportFile))
			case c.Bool("json") || c.Bool("short"):
				return tell(c, "report", dir.Path(), nil)
			}
			return reports.Text(c.App.Writer, p, pageOptions(c, dir.Path()))
		},
	}
}

// writeResults replaces params.json and the reports.
func writeResults(dir *rundir.Dir, d *dataset.Dataset, p *fit.Params) error {
	var text, page bytes.Buffer
	if err := reports.Text(&text, p, reports.Options{}); err != nil {
		return err
	}
	if err := html.Report(&page, p, figure.Build(p, d), html.Options{}); err != nil {
		return fmt.Errorf("%s: %w", rundir.HTMLFile, err)
	}
	return errors.Join(dir.WriteParams(p), dir.WriteReport(rundir.ReportFile, text.Bytes()),
		dir.WriteReport(rundir.HTMLFile, page.Bytes()))
}

// written is what a report in another format tells: the files.
type written struct {
	Format string   `json:"format"`
	Files  []string `json:"files"`
}

// writeReport writes the page, or a file for each figure. Without its samples a run has a report without raw quantiles.
func writeReport(c *cli.Context, dir *rundir.Dir, p *fit.Params, format string) error {
	d, err := dir.Dataset()
	if err != nil {
		fmt.Fprintf(c.App.ErrWriter, "calib: without raw timings: %v\n", err)
		d = nil
	}
	figures := figure.Build(p, d)
	timelines, err := runTimelines(c, p)
	if err != nil {
		return err
	}
	var paths []string
	if format == formatHTML {
		out := c.String("out")
		if out == "" {
			out = dir.File(rundir.HTMLFile)
		}
		paths = []string{out}
		err = files.ReplaceBy(out, func(w io.Writer) error {
			return html.Report(w, p, figures, html.Options{Dir: dir.Path(), History: timelines})
		})
	} else {
		out := c.String("out")
		if out == "" {
			out = filepath.Join(dir.Path(), "figures")
		}
		paths, err = draw.Files(out, slices.Concat(figures, timelines), format)
	}
	if err != nil {
		return err
	}
	return tellFiles(c, "report", dir.Path(), written{format, paths})
}

// tellFiles names the files that were written.
func tellFiles(c *cli.Context, command, run string, w written) error {
	if c.Bool("json") {
		return reports.Result{Command: command, Run: run, Data: w}.Encode(c.App.Writer)
	}
	for _, f := range w.Files {
		if _, err := fmt.Fprintln(c.App.Writer, f); err != nil {
			return err
		}
	}
	return nil
}
