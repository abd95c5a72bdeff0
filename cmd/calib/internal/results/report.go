package results

import (
	"cmp"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/history"
	"calib/internal/exit"
	"calib/internal/params"
	"calib/internal/rundir"
	"calib/reports"
	"calib/reports/draw"
	"calib/reports/figure"
	"calib/reports/html"
)

// ReportCommand is calib report.
func ReportCommand() *cli.Command {
	return &cli.Command{
		Name: "report", Usage: "print the report of a run, or write it as a page or as figures", ArgsUsage: "RUN",
		Description: "calib report RUN                         the whole report as text, with residuals for each size\n" +
			"calib report --format html RUN           write RUN/report.html again; with timelines of its parameters where the run is in the history\n" +
			"calib report --format svg --out DIR RUN  one file for each figure",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "short", Usage: "only the table of parameters"},
			&cli.StringFlag{Name: "format", Value: command.FormatText, Usage: "`FORMAT`: text, html, svg or png"},
			&cli.StringFlag{Name: "out", Usage: "html: the `FILE`; svg and png: the directory of the figures; default in the run directory"},
			history.StoreFlag(), command.PartialFlag(), command.JSONFlag(), command.QuietFlag(), command.AllFlag(),
		},
		Action: func(c *cli.Context) error {
			dir, err := command.OpenRun(c)
			if err != nil {
				return err
			}
			if err := command.Whole(c, dir); err != nil {
				return err
			}
			p, err := dir.ReadParams()
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			switch f := c.String("format"); {
			case f == command.FormatHTML, f == draw.SVG, f == draw.PNG:
				return writeReport(c, dir, p, f)
			case f != command.FormatText:
				return exit.Usagef("--format %q: want text, html, svg or png", f)
			case c.String("out") != "":
				return exit.Usagef("--out with --format text: the text goes to standard output; %s has it too", dir.File(rundir.ReportFile))
			case c.Bool("json") || c.Bool("short"):
				return command.PrintRun(c, "report", dir, nil)
			}
			return reports.Text(c.App.Writer, p, command.PageOptions(c, dir.Path()))
		},
	}
}

// writeReport writes the page, or a file for each figure. Without its samples a run has a report without raw quantiles.
func writeReport(c *cli.Context, dir *rundir.Dir, p *params.Params, format string) error {
	d, err := dir.Samples()
	if err != nil {
		fmt.Fprintf(c.App.ErrWriter, "calib: without raw timings: %v\n", err)
		d = nil
	}
	figures := figure.Build(p, d)
	if d != nil && d.Err() != nil {
		return d.Err()
	}
	timelines, err := history.Timelines(c, p)
	if err != nil {
		return err
	}
	out := cmp.Or(c.String("out"), dir.File("figures"))
	if format == command.FormatHTML {
		out = cmp.Or(c.String("out"), dir.File(rundir.HTMLFile))
	} else {
		figures = append(figures, timelines...)
	}
	paths, err := command.WriteFigures(c, format, out, figures, func(w io.Writer) error {
		return html.Report(w, p, figures, html.Options{Dir: dir.Path(), History: timelines})
	})
	if err != nil {
		return err
	}
	return command.AnswerFiles(c, "report", dir.Path(), command.Written{Format: format, Files: paths})
}
