// Package measuring holds the commands that measure, calib run, measure, plan and agent, and calib hosts: where the hosts are,
// what is planned, and the run directory that measurements are written to.
package measuring

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"calib/agent"
	"calib/bench"
	"calib/bench/experiments"
	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/runfiles"
	"calib/internal/dataset"
	"calib/internal/plane"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/reports"
	"calib/run/coord"
	"calib/run/plan"
)

// MeasureCommand is calib measure.
func MeasureCommand() *cli.Command {
	return &cli.Command{
		Name: "measure", Usage: "measure only: write samples.jsonl (calib fit goes on from there)",
		Flags: slices.Concat(WhereFlags(), PlanFlags(), OutFlags()),
		Action: func(c *cli.Context) error {
			j, err := newJob(c)
			if err != nil {
				return err
			}
			if err = j.finish(j.measure(c.Context)); j.dir == nil {
				return err
			}
			return answerMeasured(c, j.dir, err)
		},
	}
}

// OutFlags say where the run is written, and how it is reported.
func OutFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "out", Usage: "run `DIR`ectory; default calib-run-DATE-TIME"},
		command.JSONFlag(), command.QuietFlag(),
		&cli.BoolFlag{Name: "yes", Usage: "do not ask, also when the plan is long"},
		&cli.StringFlag{Name: "resume", Usage: "go on with the interrupted run in `DIR`"},
	}
}

// answerMeasured says where the samples are. err, how measuring ended, says so too.
func answerMeasured(c *cli.Context, dir *rundir.Dir, err error) error {
	path := dir.Path()
	r := reports.Result{Command: "measure", Run: path, Files: runfiles.FilesOf(path), Warnings: dir.Run().Warnings}
	return command.AnswerResult(c, r, err, func(w io.Writer) error {
		if err != nil {
			return nil
		}
		_, err := fmt.Fprintf(w, "The samples are in %s; calib fit %s makes parameters of them.\n", dir.File(rundir.SamplesFile), quote(path))
		return err
	})
}

// measure runs the plan to its end, its budget, a failure or an interrupt. Whatever happens, the agents are gone and the
// files are whole when it returns.
func (j *job) measure(ctx context.Context) error {
	if err := planFault(j.detail.Plan.Check(len(j.list), experiments.All)); err != nil {
		return err
	}
	if err := j.confirm(); err != nil {
		return err
	}
	if err := j.openFiles(); err != nil {
		return err
	}
	cl, err := j.start(ctx)
	if err != nil {
		return err
	}
	return errors.Join(j.walk(ctx, cl), cl.close())
}

// start starts the agents of the hosts, and shows it.
func (j *job) start(ctx context.Context) (*cluster, error) {
	j.show.Phase("start agents")
	answered := func(n int) { j.show.Update(float64(n), float64(len(j.list)), 0, "") }
	answered(0)
	return j.detail.Where.open(ctx, j.list, answered, j.note)
}

// sayLost says which hosts the run goes on without.
func (j *job) sayLost(cl *cluster) {
	for _, l := range cl.lost {
		j.note(fmt.Sprintf("going on without host %s: %s", l.Host, l.Error))
	}
}

// openFiles makes the run directory, or goes on in the one that is resumed.
func (j *job) openFiles() (err error) {
	if dir := j.c.String("resume"); dir != "" {
		if j.dir, err = rundir.Resume(dir); err != nil {
			return command.WithCode(command.ExitUsage, err)
		}
	} else {
		text, err := json.Marshal(j.detail)
		if err != nil {
			return err
		}
		j.dir, err = runfiles.Create(cmp.Or(j.out, rundir.DefaultName(time.Now())), rundir.Run{
			ID:   fmt.Sprintf("%s-%s", time.Now().UTC().Format("20060102-150405"), strings.ToLower(rand.Text()[:8])),
			Plan: j.detail.Plan.Name, Seed: j.detail.Plan.Seed, Detail: text,
		})
		if err != nil {
			return err
		}
	}
	command.GoesOn(j.c.Context, "calib run --resume "+quote(j.dir.Path())+" goes on")
	j.log, err = j.dir.OpenLog()
	return err
}

// walk prepares the agents of a cluster and measures.
func (j *job) walk(ctx context.Context, cl *cluster) error {
	resumed, err := j.continueSamples(cl)
	if err != nil {
		return err
	}
	if err := j.claim(ctx, cl); err != nil {
		return err
	}
	if err := j.checkup(ctx, cl); err != nil {
		return err
	}
	if resumed {
		err = cl.sameAs(j.before)
	} else {
		err = j.createSamples(cl)
	}
	if err != nil {
		return err
	}
	j.lost = cl.lost
	j.sayLost(cl)
	for _, d := range cl.otherBuilds() {
		j.note(d)
	}
	schedule, err := j.planned(ctx, cl)
	if err != nil {
		return err
	}
	if err := j.keepDetail(); err != nil {
		return err
	}
	for _, l := range leftNotes(schedule) {
		j.note(l)
	}
	steering, err := j.newSteering(schedule, cl.infos)
	if err != nil {
		return err
	}
	j.show.Phase("measure")
	ticks := tickEvery(time.Second, j.show.Tick)
	defer ticks()
	cfg := coord.Config{
		Run: j.dir.Run().ID, Names: hostNames(cl.infos), Schedule: schedule, Steering: steering, Have: j.have, Spent: j.looked(),
		Deadline: func(s bench.Slot) units.Nanos { return slotDeadline(schedule, s) },
		Sink:     j.sink.Append,
		Progress: func(p coord.Progress) {
			var label string
			if p.Exp != "" {
				label = fmt.Sprintf("%s, round %d", p.Exp, p.Round+1)
			}
			j.show.MayEnd(time.Duration(p.Least))
			j.show.Update(p.Done, 1, time.Duration(p.Spent), label)
		},
		Slot: func(s bench.Slot, took time.Duration) {
			j.log.Debug("slot", "id", s.ID, "round", s.Round, "exp", s.Exp, "ms", float64(took.Microseconds())/1000)
		},
		Note: j.note,
	}
	j.result, err = coord.Walk(ctx, cl.agents, cfg)
	if steering != nil && len(steering.States()) > 0 {
		j.sayTargets(steering)
	}
	return errors.Join(err, j.record(schedule, cl.infos))
}

// sayTargets says how far the targets were met when measuring ended.
func (j *job) sayTargets(t *plan.Steering) {
	if j.result != nil && j.result.TargetsMet {
		j.show.Note(fmt.Sprintf("all targets are met or beyond reach after %s: %s", units.GroupedPlural(j.result.Rounds, "round"), t))
		return
	}
	j.show.Note(fmt.Sprintf("not all targets are met: %s", t))
}

// agreeSegment gives the plan the smallest segment of the hosts' interfaces. A plan that has one keeps it.
func (j *job) agreeSegment(infos []dataset.Host) error {
	if j.detail.Plan.Limits.Segment != 0 {
		return nil
	}
	size, missing := dataset.Segment(infos)
	if size == 0 {
		j.note(fmt.Sprintf("the interface of host %s is not known: packet sizes are those of Ethernet, up to %d bytes", infos[missing].Name,
			bench.EthernetSegment))
	}
	j.detail.Plan.Limits.Segment = units.Bytes(size)
	return nil
}

// keepDetail writes the plan, as the hosts and the network have made it, to run.json.
func (j *job) keepDetail() error {
	text, err := json.Marshal(j.detail)
	if err != nil {
		return err
	}
	return j.dir.Update(func(r *rundir.Run) { r.Detail = text })
}

// looked is how long the check and the probe of this run took. A run that is resumed has had both.
func (j *job) looked() units.Nanos {
	switch {
	case len(j.have) > 0:
		return 0
	case j.detail.Probe == nil:
		return j.checked
	}
	return j.checked + j.detail.Probe.Took
}

// claim takes the agents for the run, once: its session serves the check, the probe and the measuring. The tickets last a day longer than
// twice the plan's budget, and no longer than agents take them.
func (j *job) claim(ctx context.Context, cl *cluster) error {
	life := 2*time.Duration(j.detail.Plan.Budget) + 24*time.Hour
	life = min(life, agent.DefaultLimits().Life-time.Hour) // clocks may differ
	if err := cl.claim(ctx, plane.Session{Run: j.runID(), Socket: j.detail.Socket}, agent.DefaultLimits().Bytes, life); err != nil {
		return err
	}
	return j.agreeSegment(cl.infos)
}

// slotDeadline bounds a slot: what it sends at 100 kB/s, a hundredth of a second a message, and time to begin.
func slotDeadline(s *plan.Schedule, slot bench.Slot) units.Nanos {
	d := 30 * units.Second
	e, ok := experiments.Lookup(slot.Exp)
	if !ok {
		return d
	}
	for _, p := range slot.Points {
		c := e.Cost(s.Limits, p)
		d += units.Nanos(c.Messages)*10*units.Millisecond + units.Nanos(min(c.Bytes, units.GiB))*10*units.Microsecond
	}
	return min(d, 10*60*units.Second)
}

// tickEvery calls f in the background until the returned function is called, which waits for it to end.
func tickEvery(d time.Duration, f func()) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-time.After(d):
				f()
			case <-done:
				return
			}
		}
	})
	return func() { close(done); wg.Wait() }
}
