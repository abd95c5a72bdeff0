package measuring

import (
	"slices"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/runfiles"
)

// RunCommand is calib run.
func RunCommand() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "measure, fit and report: the main job",
		Description: "calib run --local 4 --plan quick       four agents on this machine, under a minute\n" +
			"calib run --hosts hosts.txt            a cluster; copies itself to the hosts over ssh\n" +
			"calib run --hosts H --launch 'ip netns exec {host}'\n" +
			"                                       any prefix that runs a command on a host\n" +
			"calib run --sim sparc1994:8            a network of known truth, in virtual time\n" +
			"calib run --aa 10 --hosts hosts.txt    ten runs of the same, one after the other: how much they differ is the noise\n" +
			"                                       floor of calib compare and calib gate",
		Flags: slices.Concat(WhereFlags(), PlanFlags(), OutFlags(), []cli.Flag{
			&cli.IntFlag{Name: "aa", Usage: "make `N` runs of the same plan, and write how much they differ to noise.json"},
		}),
		Action: func(c *cli.Context) error {
			if c.IsSet("aa") {
				return runAA(c)
			}
			j, err := newJob(c)
			if err != nil {
				return err
			}
			err = j.complete()
			if j.dir == nil {
				return err
			}
			return runfiles.Print(c, "run", j.dir.Path(), err)
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
	d, err := j.dir.Dataset()
	if err != nil {
		return err
	}
	_, err = runfiles.Fit(j.dir, d, 0, j.notes)
	return err
}
