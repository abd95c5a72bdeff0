package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/internal/rundir"
	"calib/reports/compare"
)

// baselinePrefix marks an argument that names runs of the history.
const baselinePrefix = "baseline:"

// runsOf returns the runs that an argument names: baseline:NAME, or a path as loadRuns takes it.
func runsOf(c *cli.Context, arg string) ([]compare.Run, error) {
	if name, ok := strings.CutPrefix(arg, baselinePrefix); ok {
		return baselineRuns(c, name)
	}
	return loadRuns(arg)
}

// runsOfAll returns the runs of several arguments. A run counts once: named twice, it would be taken for two.
func runsOfAll(c *cli.Context, args []string) ([]compare.Run, error) {
	var out []compare.Run
	from := map[string]string{}
	for _, arg := range args {
		runs, err := runsOf(c, arg)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if first, twice := from[r.ID]; twice && r.ID != "" {
				return nil, usagef("run %s is in %s and in %s: give each run once", r.ID, first, arg)
			}
			from[r.ID] = arg
		}
		out = append(out, runs...)
	}
	return out, nil
}

// floorOfAll returns the noise floor that is kept with the only baseline among the arguments; nil where there is none.
func floorOfAll(c *cli.Context, args []string) (*compare.Floor, error) {
	if len(args) != 1 || !strings.HasPrefix(args[0], baselinePrefix) {
		return nil, nil
	}
	return baselineFloor(c, strings.TrimPrefix(args[0], baselinePrefix))
}

// loadRuns reads the runs at a path: a run directory, a params.json, or a directory that holds run directories. A run
// without parameters among them is an error rather than left out.
func loadRuns(path string) ([]compare.Run, error) {
	paths, err := paramsFiles(path)
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

func hasFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// oneRun reads a params.json. Its run.json, where there is one, says when it was started, and otherwise the name of the run.
func oneRun(path string) ([]compare.Run, error) {
	p, err := readParams(path)
	if err != nil {
		return nil, withCode(exitUsage, err)
	}
	dir := filepath.Dir(path)
	at := startOf(p.Run.ID)
	if d, err := rundir.Open(dir); err == nil && d.Run().ID == p.Run.ID {
		at = d.Run().Started
	}
	return []compare.Run{compare.FromParams(p, at)}, nil
}

// startOf reads the moment off the name of a run, 20060102-150405-…; the zero time where it has none.
func startOf(id string) time.Time {
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
