// Package run is a whole run: it is planned on its hosts, started, measured, fitted and closed, and its directory is
// valid in every state. Run is what calib run does. Preview and Examine go the first part of the same way, and measure
// nothing.
package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/doctor"
	"calib/internal/exit"
	"calib/internal/files"
	"calib/internal/hosts"
	"calib/internal/launch"
	"calib/internal/machine"
	"calib/internal/plane"
	"calib/internal/progress"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/reports"
	"calib/run/coord"
	"calib/run/plan"
)

// Config says what a run measures, where and how. What has a name in JSON is kept in run.json, as its detail.
type Config struct {
	Plan    plan.Plan    `json:"plan"`
	Where   Where        `json:"where"`
	Socket  plane.Socket `json:"socket,omitzero"`
	Fit     Fitting      `json:"fit,omitzero"`
	Targets string       `json:"targets,omitempty"` // as ParseTargets reads them; "" is DefaultTargets
	// Unprobed says that the network is not looked at before the plan is made; Probe is what was seen of it.
	Unprobed bool          `json:"unprobed,omitempty"`
	Probe    *coord.Probed `json:"probe,omitempty"`

	Out         string       `json:"-"` // run directory to make; "" is one named by the time
	Resume      string       `json:"-"` // run directory to go on in instead
	Hosts       []hosts.Host `json:"-"` // where they are known already; else Where lists them
	MeasureOnly bool         `json:"-"` // without a fit
	// Agents are those that are a part of this calib, to be copied to hosts.
	Agents func() ([]launch.Binary, error) `json:"-"`
	Show   *progress.Reporter              `json:"-"`
	// Confirm may refuse the plan on so many hosts, before anything is begun. It may be nil.
	Confirm func(hosts int) error `json:"-"`
	Page    Page                  `json:"-"`
	Watch   string                `json:"-"` // as of plane.Session
	Keep    time.Duration         `json:"-"`
}

var errImported = errors.New("it holds no plan, as that of an imported run")

// Stored is the Config of a run that was measured. An imported run has none, or only how it is fitted.
func Stored(detail json.RawMessage) (c Config, err error) {
	if len(detail) == 0 {
		return c, errImported
	}
	if err = files.JSON(detail, &c); err == nil && c.Plan.Rounds.Min == 0 {
		err = errImported
	}
	return c, err
}

type Result struct {
	Dir   *rundir.Dir   // nil where nothing is left of it
	Plan  plan.Plan     // as hosts and network have made it
	Probe *coord.Probed // nil where there was none
}

// Store writes c to the run.json of a run, which is open for editing.
func (c Config) Store(dir *rundir.Dir) error {
	detail, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return dir.Update(func(r *rundir.Run) { r.Detail = detail })
}

type run struct {
	Config
	id       string
	dir      *rundir.Dir
	begun    bool // run.json says that it is running
	log      *slog.Logger
	closeLog func() error
	sink     *dataset.Writer  // of samples.jsonl; nil before it is there
	opening  []dataset.Sample // before the first round, of pairs that look at their ways
	measured bool             // the walk has ended, however it did: walked
	walked   coord.Result
	lost     []dataset.Failure
	findings []doctor.Finding // of the check of the hosts; none is of lost ones alone
	checked  units.Nanos      // how long the check of the hosts took
	spoilt   float64          // share of the timings that loss has touched
	held     int              // slots of which it had samples when it went on
	noting   sync.Mutex
	notes    []string
}

func newRun(c Config, kind string) *run {
	none := func() error { return nil }
	return &run{Config: c, id: kind + randomWord(), log: slog.New(slog.DiscardHandler), closeLog: none}
}

// prepared is a run whose plan suits its hosts.
func prepared(c Config) (*run, error) {
	r := newRun(c, "plan-")
	if r.Hosts == nil {
		list, err := r.Where.Hosts(r.note)
		if err != nil {
			return nil, err
		}
		if r.Hosts = list; len(list)%2 == 1 {
			rests := "another host in every round"
			if !r.Plan.Permute {
				rests = list[len(list)-1].Name
			}
			r.note(fmt.Sprintf("%d hosts, an odd number: paired leaves out %s", len(list), rests))
		}
	}
	_, err := scheduleOf(r.Plan, len(r.Hosts)) // the look at the network may change it, and not whether there is one
	return r, err
}

func randomWord() string { return strings.ToLower(rand.Text()[:8]) }

// note prints s now, and keeps it once for run.json. It may be called from any goroutine.
func (r *run) note(s string) {
	r.noting.Lock()
	defer r.noting.Unlock()
	if !slices.Contains(r.notes, s) {
		r.notes = append(r.notes, s)
	}
	r.Show.Note(s)
	r.log.Info(s)
}

// Run measures a plan to its end, its budget, a failure or an interrupt, and fits what was measured, also when that is
// only a part. Whatever happens, the agents are gone and the files are whole when it returns. An error of measuring
// decides the exit code before one of fitting.
func Run(ctx context.Context, c Config) (Result, error) {
	defer c.Show.Done()
	r, err := prepared(c)
	if err == nil && r.Confirm != nil {
		err = r.Confirm(len(r.Hosts))
	}
	if err == nil {
		err = r.makeDir()
	}
	if err != nil {
		return Result{}, err
	}
	if log, closeLog, failed := r.dir.OpenLog(); failed != nil {
		err = failed
	} else {
		r.log, r.closeLog = log, closeLog
		err = r.with(ctx, func(f *fleet) error { return r.measure(ctx, f) })
	}
	var unfit error
	if !r.MeasureOnly && r.walked.Slots+r.walked.Had > 0 {
		r.Show.Phase("fit")
		unfit = r.fit()
	}
	err = r.close(ctx, err, unfit)
	return Result{r.dir, r.Plan, r.Probe}, err
}

// makeDir makes the run directory, or goes on in the one that is resumed.
func (r *run) makeDir() (err error) {
	if r.Resume != "" {
		r.dir, err = rundir.Resume(r.Resume)
		if err != nil {
			return exit.With(exit.Usage, err)
		}
		before := r.dir.Run().Warnings
		again := func(s string) bool { return slices.Contains(before, s) }
		r.notes = slices.Concat(before, slices.DeleteFunc(r.notes, again))
	} else {
		text, err := json.Marshal(r.Config)
		if err != nil {
			return err
		}
		now := time.Now()
		r.dir, err = Create(cmp.Or(r.Out, rundir.DefaultName(now)), rundir.Run{
			ID:   now.UTC().Format("20060102-150405") + "-" + randomWord(),
			Plan: r.Plan.Name, Seed: r.Plan.Seed, Detail: text,
		})
		if err != nil {
			return err
		}
		r.begun = true
	}
	r.id = r.dir.Run().ID
	return nil
}

// Create makes the run directory path for r, and adds to r this build, the command line and, where it has none, the
// start.
func Create(path string, r rundir.Run) (*rundir.Dir, error) {
	build, err := machine.BuildHash()
	if err != nil {
		return nil, err
	}
	r.Version, r.Build, r.Args, r.Started = machine.Version(), build, os.Args[1:], cmp.Or(r.Started, time.Now().UTC())
	dir, err := rundir.Create(path, r)
	return dir, exit.With(exit.Usage, err)
}

// with starts the agents of the hosts, shows it, does what is to be done with them, and ends them.
func (r *run) with(ctx context.Context, do func(*fleet) error) error {
	if r.Where.Sim == "" {
		r.Show.Phase("start agents")
		r.Show.Update(0, float64(len(r.Hosts)), 0, "")
	}
	f, err := r.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(f), f.close())
}

// measure prepares the agents, makes the schedule, and walks it.
func (r *run) measure(ctx context.Context, f *fleet) error {
	have, before, err := r.had(f)
	if err == nil {
		err = r.checkup(ctx, f)
	}
	switch {
	case err != nil:
	case before != nil:
		err = f.sameAs(before)
	default:
		err = r.createSamples(f)
	}
	if err != nil {
		return err
	}
	r.sayLost(f)
	schedule, err := r.planned(ctx, f)
	if err == nil {
		err = r.sameSlots(schedule, have)
	}
	if err != nil {
		return err
	}
	if !r.begun {
		if err := r.dir.GoOn(); err != nil {
			return err
		}
		r.begun = true
	}
	if len(have) == 0 && len(r.opening) == 0 { // not again where a run was cut off while pairs looked
		if err := r.screened(ctx, f); err != nil {
			return err
		}
	}
	if r.Probe != nil {
		schedule.Groups = r.Probe.Groups
	}
	if err := r.Config.Store(r.dir); err != nil { // with the plan as the hosts and the network have made it
		return err
	}
	cost := forecast(schedule)
	if r.Where.Sim != "" { // its rounds take no time
		cost.Asked = 0
	}
	for _, l := range reports.LeftText(cost) {
		r.note(l)
	}
	return r.walk(ctx, f, schedule, have)
}

// had opens samples.jsonl of a run that is resumed, and returns its samples and hosts; none where it has not begun.
func (r *run) had(f *fleet) ([]dataset.Sample, []dataset.Host, error) {
	if r.Resume == "" {
		return nil, nil, nil
	}
	path := r.dir.File(rundir.SamplesFile)
	begun, err := dataset.Begun(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err == nil && !begun:
		return nil, nil, os.Remove(path)
	case err != nil:
		return nil, nil, err
	}
	out, d, err := dataset.Resume(path)
	if err != nil {
		return nil, nil, err
	}
	r.sink, r.held = out, len(d.Survey().Slots)
	var have []dataset.Sample
	for _, s := range d.Samples {
		if s.Exp == names.Probe {
			r.opening = append(r.opening, s)
		} else {
			have = append(have, s)
		}
	}
	for i, h := range slices.Backward(f.hosts) { // samples name hosts by index, which stays
		if !slices.Contains(namesOf(d.Header.Hosts), h.Name) {
			f.leave(i, "it answers now, but the run began without it: a new run will have it")
		}
	}
	return have, d.Header.Hosts, nil
}

// sameSlots returns an error where a slot that was measured has another experiment in this schedule.
func (r *run) sameSlots(s *plan.Schedule, have []dataset.Sample) error {
	round, exps := -1, []string(nil)
	for _, h := range have {
		if r := h.Slot / s.Slots(); r != round {
			round, exps = r, s.Exps(r)
		}
		offset := h.Exp == names.Clock && h.Phase == names.PhaseOffset // slots of other experiments have these too
		if h.Exp != exps[h.Slot%s.Slots()] && !offset {
			return exit.Usagef("resume %s: another build of calib, with another schedule, began this run: use that build",
				r.Resume)
		}
	}
	return nil
}

// createSamples creates samples.jsonl for the hosts of f.
func (r *run) createSamples(f *fleet) (err error) {
	r.sink, err = dataset.Create(r.dir.File(rundir.SamplesFile), r.header(f))
	if err != nil {
		return err
	}
	return r.dir.Update(func(run *rundir.Run) { run.Hosts = f.hosts })
}

func (r *run) header(f *fleet) dataset.Header {
	run := r.dir.Run()
	return dataset.Header{Run: run.ID, Seed: run.Seed, Plan: run.Plan, Hosts: slices.Clone(f.hosts)}
}
