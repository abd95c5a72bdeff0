package command

import (
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"calib/internal/files"
	"calib/internal/progress"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/reports"
	"calib/reports/draw"
	"calib/reports/figure"
)

// FilesOf lists what a run directory holds, by name.
func FilesOf(dir string) map[string]string {
	out := map[string]string{}
	for _, name := range []string{rundir.RunFile, rundir.SamplesFile, rundir.ParamsFile, rundir.ReportFile,
		rundir.HTMLFile, rundir.LogFile} {
		if path := filepath.Join(dir, name); Exists(path) {
			out[name] = path
		}
	}
	return out
}

// PageOptions suit the terminal, where there is one.
func PageOptions(c *cli.Context, dir string) reports.Options {
	o := reports.Options{Dir: dir, All: c.Bool("all")}
	if f, ok := units.RawWriter(c.App.Writer).(*os.File); ok && progress.IsTerminal(f) {
		o.Width, o.Colour = progress.Width(f), os.Getenv("NO_COLOR") == ""
	}
	return o
}

// PrintRun prints the summary of a run, or its one JSON document, for the command called name. err is how that command
// ended.
func PrintRun(c *cli.Context, name string, dir *rundir.Dir, err error) error {
	p, readErr := dir.ReadParams()
	r := reports.Result{Command: name, Run: dir.Path(), Files: FilesOf(dir.Path()), Warnings: dir.Run().Warnings, Params: p}
	return AnswerResult(c, r, err, func(w io.Writer) error {
		switch {
		case readErr == nil:
			o, run := PageOptions(c, dir.Path()), dir.Run()
			if run.Ended != nil {
				o.Took = run.Ended.Sub(run.Started)
			}
			return reports.Screen(w, p, o)
		case err != nil: // which says more than that there are no parameters
			return nil
		}
		return readErr
	})
}

// WriteFigures writes the page to the file out, which may be that of --out, where format is html, else a file for each
// figure to the directory out. It returns the paths.
func WriteFigures(c *cli.Context, format, out string, figures []figure.Figure, page func(io.Writer) error) ([]string, error) {
	if format == FormatHTML {
		if c.String("out") != "" {
			return []string{out}, files.Write(out, page)
		}
		return []string{out}, files.ReplaceBy(out, page)
	}
	return draw.Files(out, figures, format)
}
