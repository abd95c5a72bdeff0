package results

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/history"
	"calib/fit"
	"calib/fit/models"
	"calib/internal/exit"
	"calib/internal/glossary"
	"calib/internal/lists"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/params"
	"calib/reports"
	"calib/reports/draw"
	"calib/reports/export"
	"calib/reports/figure"
	"calib/reports/html"
	"calib/run"
)

func FitCommand() *cli.Command {
	return &cli.Command{
		Name: "fit", Usage: "fit the models to a run's samples again", ArgsUsage: "RUN",
		Description: "calib fit RUN                      with the breaks that run.json keeps\n" +
			"calib fit RUN --breaks 1420,32KiB  T(x) in three ranges; run.json keeps these\n" +
			"calib fit RUN --breaks auto        finds the breaks again",
		Flags: []cli.Flag{
			&cli.Uint64Flag{Name: "seed", Usage: "random seed `N` of the bootstrap; 0 is the run's own"},
			&cli.StringFlag{Name: "breaks", Usage: "`SIZES` above which a new line of T(x) begins, or " + run.FoundBreaks},
			command.PartialFlag(),
			command.JSONFlag(), command.AllFlag(),
		},
		Action: fitRun,
	}
}

// fitRun fits as run.json says, or as the flags say, and then keeps in run.json how.
func fitRun(c *cli.Context) (err error) {
	var breaks []float64
	// Whether breaks suit the sizes is known with those that were measured.
	if text := c.String("breaks"); text != "" && text != run.FoundBreaks {
		sizes, err := units.ParseSizes(text)
		if err != nil {
			return exit.Usagef("--breaks: %w", err)
		}
		breaks = lists.Map(sizes, func(b units.Bytes) float64 { return float64(b) })
	}
	anew, open := c.IsSet("breaks"), rundir.Open
	if anew {
		open = rundir.Edit
	}
	dir, err := command.OpenRun(c, open)
	if err != nil {
		return err
	}
	if anew {
		defer func() { err = errors.Join(err, dir.Close()) }()
	}
	config, err := run.FittedAs(dir.Run())
	if err != nil {
		return err
	}
	if anew {
		config.Fit.Breaks = breaks
	}
	if err := command.Whole(c, dir); err != nil {
		return err
	}
	d, err := dir.Samples()
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	settings := fit.Settings{Seed: c.Uint64("seed"), Breaks: config.Fit.Breaks}
	_, err = run.Fit(dir, d, settings, dir.Run().Warnings, history.Paged(c, command.Noter(c)))
	if err == nil && anew {
		err = config.Store(dir)
	}
	if err != nil {
		return err
	}
	return command.PrintRun(c, "fit", dir, nil, nil)
}

func Documents() []command.Document {
	return []command.Document{command.DataOfEither[exported, []export.Target]("export"),
		command.DataOf[imported]("import"), command.DataOfEither[predicted, ofGraph]("predict"),
		command.DataOf[command.Written]("report"),
		command.DataOfEither[reports.Explained, []glossary.Number]("explain")}
}

func ReportCommand() *cli.Command {
	return &cli.Command{
		Name: "report", Usage: "print the report of a run, or write it as a page or as figures", ArgsUsage: "RUN",
		Description: "calib report RUN                         the whole report as text\n" +
			"calib report --format html RUN           write RUN/report.html again\n" +
			"calib report --format svg --out DIR RUN  one file for each figure\n" +
			"Where the run is in the history, figures have timelines of its parameters.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "short", Usage: "only the last screen of the run"},
			&cli.StringFlag{Name: "format", Value: command.FormatText, Usage: "`FORMAT`: text, html, svg or png"},
			&cli.StringFlag{Name: "out",
				Usage: "`FILE` of html, directory of svg and png; default in RUN"},
			history.StoreFlag(), command.PartialFlag(), command.JSONFlag(), command.AllFlag(),
		},
		Action: func(c *cli.Context) error {
			dir, err := command.OpenRun(c, rundir.Open)
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
				return exit.Usagef("--out with --format text: the text goes to standard output; %s has it too",
					dir.File(rundir.ReportFile))
			case c.Bool("json") || c.Bool("short"):
				return command.PrintRun(c, "report", dir, nil, nil)
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
	figures := figure.Build(p, models.Plots, d)
	if d != nil && d.Err() != nil {
		return d.Err()
	}
	page, err := history.PageOf(c, dir.Path(), p)
	if err != nil && c.IsSet("store") {
		return err
	} else if err != nil {
		command.Note(c, "without the history: "+err.Error())
	}
	if format != command.FormatHTML {
		figures = append(figures, page.History...)
		figure.Unique(figures) // a timeline may be named as another figure is
	}
	file, inRun := dir.File(rundir.HTMLFile), dir.File("figures")
	paths, err := command.WriteFigures(c, format, file, inRun, figures, func(w io.Writer) error {
		return html.Report(w, p, figures, page)
	})
	if err != nil {
		return err
	}
	r := reports.Result{Command: "report", Run: dir.Path(), Data: command.Written{Format: format, Files: paths}}
	return command.AnswerResult(c, r, nil, func(w io.Writer) error { return command.Lines(w, paths) })
}
