package runfiles

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/progress"
	"calib/internal/rundir"
	"calib/reports"
)

// FilesOf lists what a run directory holds, by name.
func FilesOf(dir string) map[string]string {
	out := map[string]string{}
	for _, name := range []string{rundir.RunFile, rundir.SamplesFile, rundir.ParamsFile, rundir.ReportFile,
		rundir.HTMLFile, rundir.LogFile} {
		if path := filepath.Join(dir, name); command.Exists(path) {
			out[name] = path
		}
	}
	return out
}

// PageOptions suit the terminal, where there is one.
func PageOptions(c *cli.Context, dir string) reports.Options {
	o := reports.Options{Dir: dir}
	if f, ok := c.App.Writer.(*os.File); ok && progress.IsTerminal(f) {
		o.Width, o.Colour = progress.Width(f), os.Getenv("NO_COLOR") == ""
	}
	return o
}

// Print prints the table of a run, or its one JSON document, and passes the error on.
func Print(c *cli.Context, verb, path string, err error) error {
	dir, openErr := rundir.Open(path)
	if openErr != nil {
		return errors.Join(err, openErr)
	}
	p, readErr := dir.ReadParams()
	if c.Bool("json") {
		r := reports.Result{Command: verb, Exit: command.CodeOf(err), Run: path, Files: FilesOf(path), Params: p}
		if err != nil {
			r.Error = err.Error()
		}
		r.Warnings = dir.Run().Warnings
		return command.Silent(err, r.Encode(c.App.Writer))
	}
	if readErr != nil {
		return errors.Join(err, command.OnlyIf(err == nil, readErr))
	}
	return errors.Join(err, reports.Table(c.App.Writer, p, PageOptions(c, path)))
}
