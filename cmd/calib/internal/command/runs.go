package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"calib/internal/exit"
	"calib/internal/files"
	"calib/internal/progress"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/params"
	"calib/reports"
	"calib/reports/compare"
	"calib/reports/draw"
	"calib/reports/figure"
)

const NoiseFile = "noise.json" // the name of the noise floor that calib run --aa writes beside its runs

func ReadParams(arg string) (*params.Params, error) {
	path := arg
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		path = filepath.Join(arg, rundir.ParamsFile)
	}
	p, err := params.Load(path)
	if err != nil && !errors.Is(err, params.ErrParams) {
		how := "give a params.json or a run directory that holds one"
		if isRun(arg) {
			how = "calib fit " + reports.ShellWord(arg) + " writes it"
		}
		err = fmt.Errorf("read %s: %w; %s", path, files.Reason(err), how)
	}
	return p, exit.With(exit.Usage, err)
}

// ParamsArg reads the params.json, or that of the run directory, that is the one argument, and returns the argument.
func ParamsArg(c *cli.Context) (arg string, p *params.Params, err error) {
	if arg, err = OneArg(c, "params.json or run directory"); err == nil {
		p, err = ReadParams(arg)
	}
	return arg, p, err
}

// OpenRun opens the run directory that is the one argument, by open: rundir.Open or, to change it, rundir.Edit.
func OpenRun(c *cli.Context, open func(string) (*rundir.Dir, error)) (*rundir.Dir, error) {
	arg, err := OneArg(c, "run directory")
	if err != nil {
		return nil, err
	}
	dir, err := open(arg)
	return dir, exit.With(exit.Usage, err)
}

// PartialFlag takes samples that are not those that were measured.
func PartialFlag() cli.Flag {
	return &cli.BoolFlag{Name: "partial", Usage: "use samples that were changed or cut off after the run"}
}

// Whole refuses a run whose samples were cut off or changed after it ended, unless --partial takes what is there.
func Whole(c *cli.Context, dir *rundir.Dir) error {
	err := dir.Sealed()
	switch {
	case !errors.Is(err, rundir.ErrChanged):
		return err
	case c.Bool("partial"):
		Note(c, err.Error())
		return nil
	}
	return exit.Usagef("%w; --partial takes what is there", err)
}

// ParamsFiles returns the params.json of a run directory, of each run in a directory, or the file itself.
func ParamsFiles(arg string) (out []string, err error) {
	info, err := os.Stat(arg)
	if err != nil {
		return nil, exit.Usagef("runs: %w; give a run directory, a params.json, or a directory of runs", err)
	}
	if !info.IsDir() {
		return []string{arg}, nil
	}
	dirs := []string{arg}
	if !isRun(arg) {
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, exit.Usagef("runs: %w", err)
		}
		dirs = nil
		for _, e := range entries {
			if dir := filepath.Join(arg, e.Name()); isRun(dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, rundir.ParamsFile)
		if !Exists(path) {
			return nil, exit.Usagef("run %s: no %s yet; calib fit %s makes it", dir, rundir.ParamsFile, reports.ShellWord(dir))
		}
		out = append(out, path)
	}
	if out == nil {
		err = exit.Usagef("runs: %s holds no run: neither it nor a directory in it has a %s", arg, rundir.ParamsFile)
	}
	return out, err
}

func isRun(dir string) bool {
	return Exists(filepath.Join(dir, rundir.ParamsFile)) || Exists(filepath.Join(dir, rundir.RunFile))
}

// LoadRuns reads the runs at a path: a run directory, a params.json, or a directory that holds run directories. A run
// without parameters among them is an error. A run.json beside a params.json, or else the name of the run, says when it
// started.
func LoadRuns(path string) ([]compare.Run, error) {
	paths, err := ParamsFiles(path)
	if err != nil {
		return nil, err
	}
	var out []compare.Run
	for _, path := range paths {
		p, err := ReadParams(path)
		if err != nil {
			return nil, err
		}
		started := StartOf(p.Run.ID)
		if d, err := rundir.Open(filepath.Dir(path)); err == nil && d.Run().ID == p.Run.ID {
			started = d.Run().Started
		}
		out = append(out, compare.FromParams(p, started))
	}
	return out, nil
}

// StartOf reads the time in the name of a run, 20060102-150405-…; the zero time where there is none.
func StartOf(id string) time.Time {
	const layout = "20060102-150405"
	t, _ := time.Parse(layout, id[:min(len(id), len(layout))])
	return t
}

// FilesOf lists what a run directory holds, by name.
func FilesOf(dir string) map[string]string {
	out := map[string]string{}
	for _, name := range []string{rundir.RunFile, rundir.SamplesFile, rundir.ParamsFile, rundir.PointsFile,
		rundir.ReportFile, rundir.HTMLFile, rundir.LogFile} {
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

// PrintRun prints the summary of a run, or its JSON document, for the command called name, which has ended with err.
// truth holds the network's own parameters where they are known.
func PrintRun(c *cli.Context, name string, dir *rundir.Dir, truth map[string]float64, err error) error {
	p, readErr := dir.ReadParams()
	r := reports.Result{Command: name, Run: dir.Path(), Files: FilesOf(dir.Path()), Warnings: dir.Run().Warnings,
		Params: p}
	return AnswerResult(c, r, err, func(w io.Writer) error {
		switch {
		case readErr == nil:
			o, run := PageOptions(c, dir.Path()), dir.Run()
			o.Truth, o.Took = truth, run.Took()
			return reports.Screen(w, p, o)
		case err != nil: // which says more than that there are no parameters
			return nil
		}
		return readErr
	})
}

// WriteFigures writes the page to --out, or else to file, where format is html. For other formats it writes a file for
// each figure to the directory --out, or else dir. It returns the paths.
func WriteFigures(c *cli.Context, format, file, dir string, f []figure.Figure, page func(io.Writer) error) (
	[]string, error) {
	out := c.String("out")
	switch {
	case format != FormatHTML:
		return draw.Files(cmp.Or(out, dir), f, format)
	case out == "":
		return []string{file}, files.ReplaceBy(file, page)
	}
	out = OutFile(c, filepath.Base(file))
	return []string{out}, files.Write(out, page)
}
