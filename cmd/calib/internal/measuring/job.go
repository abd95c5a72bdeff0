package measuring

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/runfiles"
	"calib/internal/dataset"
	"calib/internal/decode"
	"calib/internal/hosts"
	"calib/internal/params"
	"calib/internal/plane"
	"calib/internal/progress"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/run/coord"
	"calib/run/judge"
	"calib/run/plan"
)

// detail is what run.json keeps so that --resume can go on without flags.
type detail struct {
	Plan   plan.Plan        `json:"plan"`
	Where  where            `json:"where"`
	Socket plane.Socket     `json:"socket,omitzero"`
	Fit    runfiles.Fitting `json:"fit,omitzero"`
	// Unprobed says that the network is not looked at before the plan is made; Probe is what was seen of it.
	Targets  string        `json:"targets,omitempty"` // as --target has them
	Unprobed bool          `json:"unprobed,omitempty"`
	Probe    *coord.Probed `json:"probe,omitempty"`
}

// detailIn is the detail of a run that was measured here. An imported run has none, or only how it is fitted.
func detailIn(r rundir.Run) (d detail, err error) {
	if len(r.Detail) == 0 {
		return d, errImported
	}
	if err = decode.JSON(r.Detail, &d); err == nil && d.Plan.Rounds.Min == 0 {
		err = errImported
	}
	return d, err
}

var errImported = errors.New("it holds no plan, as that of an imported run")

// job is one measuring run. It reads the flags, then opens the files, then starts the agents, so that what is wrong is found
// before anything is started.
type job struct {
	c      *cli.Context
	detail detail
	out    string // run directory to make; "" is the default name
	list   []hosts.Host
	dir    *rundir.Dir
	dry    string // names what is not a run: a look at the network
	log    *rundir.Log
	show   *progress.Reporter
	have   []dataset.Sample // of a resumed run
	before []dataset.Host   // of a resumed run
	sink   *dataset.Writer
	result *coord.Result
	lost   []dataset.Failure // before measuring began
	params *params.Params    // where they were fitted
	unfit  error             // why there are no parameters, or no report of them
	spoilt float64           // share of the timings that loss has touched
	noting sync.Mutex
	notes  []string
	// checked is how long the check of the hosts took.
	checked units.Nanos
}

func newJob(c *cli.Context) (*job, error) {
	if err := command.NoArgs(c); err != nil {
		return nil, err
	}
	j := emptyJob(c, c.String("out"))
	if err := j.read(); err != nil {
		return nil, err
	}
	if err := j.findHosts(); err != nil {
		return nil, err
	}
	return j, j.checkBreaks()
}

// emptyJob is a job that knows neither plan nor hosts yet.
func emptyJob(c *cli.Context, out string) *job {
	return &job{c: c, out: out, show: progress.New(c.App.ErrWriter, progressStyle(c), time.Now)}
}

// progressStyle is a live line on a terminal; elsewhere JSON for a program that asked for it, and lines for a log.
func progressStyle(c *cli.Context) progress.Style {
	switch {
	case c.Bool("quiet"):
		return progress.Quiet
	case progress.IsTerminal(os.Stderr):
		return progress.Live
	case c.Bool("json"):
		return progress.Events
	}
	return progress.Plain
}

// findHosts lists the hosts.
func (j *job) findHosts() (err error) {
	if j.list, err = j.detail.Where.hosts(j.note); err != nil {
		return err
	}
	if len(j.list)%2 == 1 {
		rests := "another host in every round"
		if !j.detail.Plan.Permute {
			rests = j.list[len(j.list)-1].Name
		}
		j.note(fmt.Sprintf("%d hosts, an odd number: paired leaves out %s", len(j.list), rests))
	}
	return nil
}

// read takes plan and hosts from the flags, or from the run that is resumed.
func (j *job) read() error {
	if dir := j.c.String("resume"); dir != "" {
		if err := onlyResume(j.c); err != nil {
			return err
		}
		before, err := rundir.Open(dir)
		if err != nil {
			return command.WithCode(command.ExitUsage, err)
		}
		if j.detail, err = detailIn(before.Run()); err != nil {
			return command.Usagef("resume %s: %s: %w", dir, rundir.RunFile, err)
		}
		return confirmStored(j.c, &j.detail.Where, fmt.Sprintf("calib %s --resume %s", j.c.Command.Name, quote(dir)), person(j.c))
	}
	var err error
	j.detail, err = detailOf(j.c)
	return err
}

// detailOf reads the flags that say what to measure, where and how, and how to fit.
func detailOf(c *cli.Context) (d detail, err error) {
	if d.Where, err = whereOf(c); err != nil {
		return d, err
	}
	if d.Plan, err = planOf(c); err != nil {
		return d, err
	}
	d.Unprobed, d.Targets = c.Bool("no-probe"), c.String("target")
	if d.Targets != "" {
		if _, err := judge.ParseTargets(d.Targets, judge.Known()); err != nil {
			return d, command.Usagef("--%w", err)
		}
	}
	if d.Socket, err = socketOf(c); err != nil {
		return d, err
	}
	d.Fit, err = runfiles.FittingFlags(c)
	return d, err
}

// note prints s now, and keeps it for run.json. It may be called from any goroutine.
func (j *job) note(s string) {
	j.noting.Lock()
	defer j.noting.Unlock()
	j.notes = append(j.notes, s)
	j.show.Note(s)
	if j.log != nil {
		j.log.Info(s)
	}
}
