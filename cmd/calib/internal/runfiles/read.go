package runfiles

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/fit"
	"calib/internal/files"
	"calib/internal/rundir"
	"calib/reports/compare"
)

// NoiseFile holds what runs of the same differ by, beside the runs of calib run --aa.
const NoiseFile = "noise.json"

// ReadParams reads a params.json, or that of a run directory.
func ReadParams(arg string) (*fit.Params, error) {
	path := arg
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		path = filepath.Join(arg, rundir.ParamsFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w; give a params.json or a run directory that holds one (calib fit RUN writes it)", path, files.Reason(err))
	}
	defer f.Close()
	p, err := fit.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return p, nil
}

// Open opens the run directory that is the one argument.
func Open(c *cli.Context) (*rundir.Dir, error) {
	arg, err := command.OneArg(c, "run directory")
	if err != nil {
		return nil, err
	}
	dir, err := rundir.Open(arg)
	if err != nil {
		return nil, command.WithCode(command.ExitUsage, err)
	}
	return dir, nil
}

// ParamsFiles returns the params.json of a run directory, of each run in a directory, or the file itself.
func ParamsFiles(arg string) ([]string, error) {
	info, err := os.Stat(arg)
	if err != nil {
		return nil, command.Usagef("runs: %w; give a run directory, a params.json, or a directory of runs", err)
	}
	if !info.IsDir() {
		return []string{arg}, nil
	}
	dirs := []string{arg}
	if !isRun(arg) {
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, command.Usagef("runs: %w", err)
		}
		dirs = nil
		for _, e := range entries {
			if dir := filepath.Join(arg, e.Name()); isRun(dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	var out []string
	for _, dir := range dirs {
		path := filepath.Join(dir, rundir.ParamsFile)
		if !command.HasFile(path) {
			return nil, command.Usagef("run %s: no %s yet; calib fit %s makes it", dir, rundir.ParamsFile, dir)
		}
		out = append(out, path)
	}
	if len(out) == 0 {
		return nil, command.Usagef("runs: %s holds no run: neither it nor a directory in it has a %s", arg, rundir.ParamsFile)
	}
	return out, nil
}

func isRun(dir string) bool {
	return command.HasFile(filepath.Join(dir, rundir.ParamsFile)) || command.HasFile(filepath.Join(dir, rundir.RunFile))
}

// Load reads the runs at a path: a run directory, a params.json, or a directory that holds run directories. A run
// without parameters among them is an error rather than left out.
func Load(path string) ([]compare.Run, error) {
	paths, err := ParamsFiles(path)
	if err != nil {
		return nil, err
	}
	var out []compare.Run
	for _, p := range paths {
		runs, err := oneRun(p)
		if err != nil {
			return nil, err
		}
		out = append(out, runs...)
	}
	return out, nil
}

// oneRun reads a params.json. Its run.json, where there is one, says when it was started, and otherwise the name of the run.
func oneRun(path string) ([]compare.Run, error) {
	p, err := ReadParams(path)
	if err != nil {
		return nil, command.WithCode(command.ExitUsage, err)
	}
	dir := filepath.Dir(path)
	at := StartOf(p.Run.ID)
	if d, err := rundir.Open(dir); err == nil && d.Run().ID == p.Run.ID {
		at = d.Run().Started
	}
	return []compare.Run{compare.FromParams(p, at)}, nil
}

// StartOf reads the moment off the name of a run, 20060102-150405-…; the zero time where it has none.
func StartOf(id string) time.Time {
	const layout = "20060102-150405"
	if len(id) < len(layout) {
		return time.Time{}
	}
	t, err := time.Parse(layout, id[:len(layout)])
	if err != nil {
		return time.Time{}
	}
	return t
}
