package measuring

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"calib/bench"
	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/runfiles"
	"calib/internal/files"
	"calib/internal/rundir"
	"calib/reports"
	"calib/reports/compare"
)

// RunCommand is calib run.
func RunCommand() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "measure, fit and report: the main job",
		Description: "calib run --local 4 --plan quick       four agents on this machine, under a minute\n" +
			"calib run --hosts hosts.txt            a cluster; copies its agent to the hosts over ssh\n" +
			"calib run --slurm --nodes 8            a job of Slurm; inside one without --nodes\n" +
			"calib run --hosts H --launch 'ip netns exec {host}'\n" +
			"                                       any prefix that runs a command on a host\n" +
			"calib run --sim sparc1994:8            a network of known truth, in virtual time\n" +
			"calib run --aa 10 --hosts hosts.txt    ten runs of the same, one after the other: how much they differ is the noise\n" +
			"                                       floor of calib compare and calib gate",
		Flags: slices.Concat(WhereFlags(), PlanFlags(), OutFlags(), []cli.Flag{
			command.AllFlag(),
			runfiles.BreaksFlag(),
			&cli.IntFlag{Name: "aa", Usage: "make `N` runs of the same plan, and write how much they differ to noise.json"},
			&cli.BoolFlag{Name: "dry-run", Usage: "start the agents, look at the network, print the plan, and end"},
		}),
		Action: func(c *cli.Context) error {
			if c.IsSet("aa") {
				return runAA(c)
			}
			if c.Bool("dry-run") {
				return dryRun(c, "run")
			}
			j, err := newJob(c)
			if err != nil {
				return err
			}
			err = j.complete()
			if j.dir == nil {
				return err
			}
			return runfiles.Print(c, "run", j.dir, err)
		},
	}
}

// complete measures, then fits what was measured, also when that is only a part. An error of measuring decides the exit code
// before one of fitting. Where nothing was begun there is no run directory.
func (j *job) complete() error {
	err := j.measure(j.c.Context)
	if j.dir == nil {
		j.show.Done()
		return err
	}
	if j.result != nil && j.result.Slots+j.result.Had > 0 {
		j.show.Phase("fit")
		j.unfit = j.fit()
	}
	return j.finish(err)
}

// fit writes params.json and the reports.
func (j *job) fit() error {
	d, err := j.dir.Samples()
	if err != nil {
		return err
	}
	j.spoilt = spoiltShare(d.Survey())
	j.params, err = runfiles.Fit(j.dir, d, j.detail.Fit.Settings(0), j.notes)
	return err
}

// leastAA is the least number of runs that can be compared with each other.
const leastAA = 2

// runAA makes runs of the same plan, one after the other, and writes how much they differ: the noise floor.
func runAA(c *cli.Context) error {
	n := c.Int("aa")
	switch {
	case n < leastAA:
		return command.Usagef("--aa %d: want %d runs or more; 10 give a noise floor worth having", n, leastAA)
	case c.IsSet("resume"):
		return command.Usagef("--aa with --resume: a series of runs starts anew")
	}
	root := cmp.Or(c.String("out"), "aa-"+rundir.DefaultName(time.Now()))
	runs, err := repeatRuns(root, "run", n, func() (*job, error) { return newJob(c) })
	if len(runs) < leastAA {
		if err == nil {
			err = fmt.Errorf("%d runs have parameters: nothing to compare", len(runs))
		}
		return err
	}
	floor := compare.Noise(runs)
	path := filepath.Join(root, runfiles.NoiseFile)
	if err := files.ReplaceBy(path, func(w io.Writer) error { return compare.WriteFloor(w, floor) }); err != nil {
		return err
	}
	r := reports.Result{Command: "run", Run: root, Files: map[string]string{runfiles.NoiseFile: path}, Data: floor}
	return command.AnswerResult(c, r, err, func(w io.Writer) error {
		if err := compare.FloorText(w, floor); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "\nThe noise floor is in %s: calib compare --noise %s OLD NEW uses it.\n", path, path)
		return err
	})
}

// repeatRuns makes n runs in root/what-1 and on, each with a seed of its own, and returns those that have parameters. It goes
// on after a partial run, and stops at any other error, which it returns with the runs before it.
func repeatRuns(root, what string, n int, start func() (*job, error)) ([]compare.Run, error) {
	var runs []compare.Run
	var partial error
	var path bench.Path // that the first run has seen: all have the same plan
	for i := range n {
		j, err := start()
		if err != nil {
			return runs, err
		}
		j.out = filepath.Join(root, fmt.Sprintf("%s-%d", what, i+1))
		j.detail.Plan.Seed += uint64(i)
		if i > 0 {
			j.detail.Plan.Limits.Path = path
		}
		j.show.Note(fmt.Sprintf("%s %d of %d", what, i+1, n))
		err = j.complete()
		path = j.detail.Plan.Limits.Path
		if command.CodeOf(err) == command.ExitPartial {
			partial, err = fmt.Errorf("run %d of %d: %w", i+1, n, err), nil
		}
		if err != nil {
			return runs, command.WithCode(command.CodeOf(err), fmt.Errorf("run %d of %d: %w; the runs before it are in %s", i+1, n, err, root))
		}
		p, err := j.dir.ReadParams()
		if err != nil {
			return runs, err
		}
		runs = append(runs, compare.FromParams(p, j.dir.Run().Started))
	}
	if partial != nil {
		return runs, command.WithCode(command.ExitPartial, partial)
	}
	return runs, nil
}
