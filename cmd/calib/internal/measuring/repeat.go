package measuring

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"calib/bench"
	"calib/cmd/calib/internal/command"
	"calib/internal/hosts"
	"calib/reports/compare"
	"calib/run"
	"calib/run/plan"
)

// Repeat measures again what the runs of a baseline have measured: with their plan, sizes, points and fit, on the same hosts.
type Repeat struct {
	c      *cli.Context
	config run.Config
}

// RepeatOf is the Repeat of the newest of some runs, of which details are the members of run.json, oldest first, and names the hosts. The
// flags may say how the hosts are reached; those that contradict the runs, and runs that differ from each other, are wrong use.
func RepeatOf(c *cli.Context, baseline string, details []json.RawMessage, names []string) (*Repeat, error) {
	var config run.Config
	for i, text := range details {
		stored, err := run.Stored(text)
		switch {
		case err != nil:
			return nil, command.Usagef("baseline %s: the history does not know the plan of one of its runs (%w), so that nothing can be measured "+
				"like it; calib baseline set %s RUN..., with the run directories, adds it", baseline, err, baseline)
		case i > 0 && asked(stored.Plan) != asked(config.Plan):
			return nil, command.Usagef("baseline %s: its runs have different plans; set it anew with runs of one", baseline)
		}
		config = stored
	}
	if err := agrees(c, config.Plan, baseline); err != nil {
		return nil, err
	}
	config.Plan.Seed, config.Probe = cmp.Or(c.Uint64("seed"), drawnSeed()), nil
	var err error
	if w := &config.Where; slices.ContainsFunc([]string{"hosts", "host", "local", "sim", "slurm"}, c.IsSet) {
		*w, err = whereOf(c)
	} else {
		w.Fanout, w.Cert = c.Int("fanout"), cmp.Or(c.String("cert"), w.Cert)
		err = confirmStored(c, w, "calib gate --baseline "+quote(baseline), person(c))
	}
	if err == nil {
		config.Hosts, err = config.Where.Hosts(func(s string) { command.Note(c, s) })
	}
	if err != nil {
		return nil, err
	}
	return &Repeat{c, equipped(c, config)}, sameHosts(c, config.Hosts, baseline, names)
}

// asked is what a user asked for in a plan, as JSON: without its seed and what was found on the network.
func asked(p plan.Plan) string {
	p.Seed, p.Limits.Path, p.Limits.Segment = 0, bench.Path{}, 0
	text, _ := json.Marshal(p) // of plain data
	return string(text)
}

// agrees refuses flags that ask for something else than the runs have measured.
func agrees(c *cli.Context, measured plan.Plan, baseline string) (err error) {
	want := measured
	if c.IsSet("plan") {
		want, err = plan.Load(c.String("plan"))
	}
	if err == nil {
		want, err = changedPlan(c, want)
	}
	if err != nil {
		return command.WithCode(command.ExitUsage, err)
	}
	if asked(want) != asked(measured) || slices.ContainsFunc([]string{"target", "send-buffer", "congestion"}, c.IsSet) {
		return command.Usagef("the flags contradict baseline %s: a gate takes plan, sizes and experiments from its baseline; leave them out, or "+
			"set another baseline", baseline)
	}
	return nil
}

// sameHosts refuses other hosts than those of the runs, unless --allow hosts.
func sameHosts(c *cli.Context, list []hosts.Host, baseline string, want []string) error {
	var have []string
	for _, h := range list {
		have = append(have, h.Name)
	}
	slices.Sort(have)
	if slices.Equal(have, want) || slices.Contains(c.StringSlice("allow"), compare.AllowHosts) {
		return nil
	}
	return command.Usagef("baseline %s is of other hosts: it has %s, these are %s (--allow hosts compares what both have)", baseline,
		hosts.Fold(want), hosts.Fold(have))
}

// Budget is the longest time that the plan gives a run; 0 is no bound.
func (r *Repeat) Budget() time.Duration { return time.Duration(r.config.Plan.Budget) }

// Runs makes n more runs in root/what-1 and on, as series does.
func (r *Repeat) Runs(root, what string, n int) ([]compare.Run, error) {
	defer func() { r.config.Plan.Seed += uint64(n) }()
	return series(r.c, r.config, root, what, n)
}
