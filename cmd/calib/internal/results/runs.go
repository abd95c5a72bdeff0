package results

import (
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/history"
	"calib/cmd/calib/internal/runfiles"
	"calib/reports/compare"
)

// baselinePrefix marks an argument that names runs of the history.
const baselinePrefix = "baseline:"

// runsOf returns the runs that an argument names: baseline:NAME, or a path as loadRuns takes it.
func runsOf(c *cli.Context, arg string) ([]compare.Run, error) {
	if name, ok := strings.CutPrefix(arg, baselinePrefix); ok {
		return history.BaselineRuns(c, name)
	}
	return runfiles.Load(arg)
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
				return nil, command.Usagef("run %s is in %s and in %s: give each run once", r.ID, first, arg)
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
	return history.BaselineFloor(c, strings.TrimPrefix(args[0], baselinePrefix))
}
