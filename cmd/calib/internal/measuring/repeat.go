package measuring

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/urfave/cli/v2"

	"calib/bench"
	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/history"
	"calib/internal/hosts"
	"calib/reports/compare"
	"calib/run"
	"calib/run/plan"
)

// RepeatOf is a run that measures again what the newest of some runs has measured: with its plan, sizes, points and
// fit, on the same hosts. runs are in the order of time, and names those of the hosts. The flags may say how the hosts
// are reached; those that contradict the runs, and runs that differ from each other, are wrong use.
func RepeatOf(c *cli.Context, baseline string, runs []history.Measured, names []string) (config run.Config, err error) {
	for i, m := range runs {
		stored, err := run.Stored(m.Detail)
		switch {
		case err != nil:
			return config, exit.Usagef("baseline %s: the history does not know the plan of one of its runs (%w), so that nothing "+
				"can be measured like it; calib baseline set %s RUN..., with the run directories, adds it", baseline, err, baseline)
		case i > 0 && asked(stored.Plan) != asked(config.Plan):
			return config, exit.Usagef("baseline %s: its runs have different plans; set it anew with runs of one", baseline)
		}
		config = stored
	}
	if err = agrees(c, config.Plan, baseline); err != nil {
		return config, err
	}
	config.Plan.Seed, config.Probe = cmp.Or(c.Uint64("seed"), drawnSeed()), nil
	if w := &config.Where; slices.ContainsFunc([]string{"hosts", "host", "local", "sim", "slurm"}, c.IsSet) {
		*w, err = whereOf(c)
	} else {
		w.Fanout, w.Cert = c.Int("fanout"), cmp.Or(c.String("cert"), w.Cert)
		err = confirmStored(c, w, "calib gate --baseline "+quote(baseline), person(c))
	}
	if err == nil {
		config.Hosts, err = config.Where.Hosts(func(s string) { command.Note(c, s) })
	}
	var have []string
	for _, h := range config.Hosts {
		have = append(have, h.Name)
	}
	slices.Sort(have)
	if err == nil && !slices.Equal(have, names) && !slices.Contains(c.StringSlice("allow"), compare.AllowHosts) {
		err = exit.Usagef("baseline %s is of other hosts: it has %s, these are %s (--allow hosts compares what both have)", baseline,
			hosts.Fold(names), hosts.Fold(have))
	}
	return equipped(c, config), err
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
		return exit.With(exit.Usage, err)
	}
	if asked(want) != asked(measured) || slices.ContainsFunc([]string{"target", "send-buffer", "congestion"}, c.IsSet) {
		return exit.Usagef("the flags contradict baseline %s: a gate takes plan, sizes and experiments from its baseline; leave them out, or "+
			"set another baseline", baseline)
	}
	return nil
}
