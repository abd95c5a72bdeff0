package measuring

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/runfiles"
	"calib/internal/dataset"
	"calib/internal/rundir"
)

// onlyResume rejects flags that --resume would silently ignore: the run goes on as it was planned. Those that say what is executed
// may be given again.
func onlyResume(c *cli.Context) error {
	for _, f := range slices.Concat(WhereFlags(), PlanFlags(), []cli.Flag{runfiles.BreaksFlag()}) {
		if name := f.Names()[0]; !slices.Contains(executedFlags, name) && c.IsSet(name) {
			return command.Usagef("--%s with --resume: a run goes on with the hosts and the plan it began with; start a new one with --out", name)
		}
	}
	if c.IsSet("out") {
		return command.Usagef("--out with --resume: a run goes on in its own directory")
	}
	return nil
}

// continueSamples opens samples.jsonl of a resumed run, where anything is in it, and reports whether there is.
func (j *job) continueSamples(cl *cluster) (bool, error) {
	path := j.dir.File(rundir.SamplesFile)
	if j.c.String("resume") == "" || !command.Exists(path) {
		return false, nil
	}
	if begun, err := dataset.Begun(path); err != nil {
		return false, err
	} else if !begun {
		return false, os.Remove(path)
	}
	out, d, err := dataset.Resume(path)
	if err != nil {
		return false, err
	}
	j.sink, j.have, j.before = out, d.Samples, d.Header.Hosts
	return true, errors.Join(j.dir.Seal(), cl.resume(d.Header.Hosts)) // Resume may have cut off an end
}

// createSamples creates samples.jsonl for the hosts of cl.
func (j *job) createSamples(cl *cluster) error {
	run := j.dir.Run()
	out, err := dataset.Create(j.dir.File(rundir.SamplesFile), dataset.Header{Run: run.ID, Seed: run.Seed, Plan: run.Plan, Hosts: cl.infos})
	j.sink = out
	if err != nil {
		return err
	}
	return j.dir.Update(func(r *rundir.Run) { r.Hosts = cl.infos })
}

// late is why a host is left out that was not there when the run began: samples name hosts by index, which cannot change.
const late = "it answers now, but the run began without it: a new run will have it"

// resume removes from c the hosts that the run began without. All others must be there, in the same order.
func (c *cluster) resume(before []dataset.Host) error {
	old := hostNames(before)
	var ends []error
	for i := len(c.infos) - 1; i >= 0; i-- {
		if slices.Contains(old, c.infos[i].Name) {
			continue
		}
		c.lost = append(c.lost, dataset.Failure{Host: c.infos[i].Name, Error: late})
		ends = append(ends, c.agents[i].Close())
		c.agents, c.infos = slices.Delete(c.agents, i, i+1), slices.Delete(c.infos, i, i+1)
	}
	return errors.Join(append(ends, c.sameAs(before))...)
}

// sameAs returns an error where the hosts are not those with which the run began.
func (c *cluster) sameAs(before []dataset.Host) error {
	if old, now := hostNames(before), hostNames(c.infos); !slices.Equal(old, now) {
		return fmt.Errorf("resume: the run is on hosts %s; of them answer %s: bring all of them up, in the same order "+
			"in the hosts file, or start a new run", strings.Join(old, ", "), strings.Join(now, ", "))
	}
	return nil
}

func hostNames(list []dataset.Host) []string {
	var out []string
	for _, h := range list {
		out = append(out, h.Name)
	}
	return out
}

// savedSlots counts the slots in samples.jsonl. A run that failed before it measured has those of the run that it resumed.
func (j *job) savedSlots() int {
	if j.result != nil {
		return j.result.Slots + j.result.Had
	}
	d, err := j.dir.Samples()
	if err != nil {
		return 0
	}
	return len(d.Survey().Slots)
}
