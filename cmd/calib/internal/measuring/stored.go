package measuring

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/bench"
	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/history"
	"calib/internal/hosts"
	"calib/internal/launch"
	"calib/internal/lists"
	"calib/internal/progress"
	"calib/reports"
	"calib/reports/compare"
	"calib/run"
	"calib/run/plan"
)

// againFlags name the flags that replace what a stored run has. The values of the first two are executed, here or on
// the hosts, so that the stored ones need a person's consent. The third may come from the variable CALIB_CERT.
var againFlags = []string{"launch", "agent-binary", "cert"}

// onlyResume rejects flags that --resume would silently ignore: the run goes on as it was planned.
func onlyResume(c *cli.Context) error {
	for _, f := range slices.Concat(WhereFlags(), PlanFlags()) {
		if name := f.Names()[0]; !slices.Contains(againFlags, name) && c.IsSet(name) {
			return exit.Usagef("--%s with --resume: a run goes on with the hosts and the plan it began with; "+
				"start a new one with --out", name)
		}
	}
	if c.IsSet("out") {
		return exit.Usagef("--out with --resume: a run goes on in its own directory")
	}
	return nil
}

// confirmStored decides what is executed to measure again where a run was measured. run.json may come from somebody
// else, so that no command in it is executed unasked: a flag given again replaces it, else ask is shown it. ask is nil
// where nobody can be asked. again is the command line to which the flag is to be added. A certificate that is given
// again replaces the stored one.
func confirmStored(c *cli.Context, w *run.Where, again string, ask asking) error {
	w.Cert = cmp.Or(c.String("cert"), w.Cert)
	if err := absolute("cert", &w.Cert); err != nil {
		return err
	}
	for i, value := range []*string{&w.Launch, &w.AgentBinary} {
		name := againFlags[i]
		switch {
		case typed(c, name):
			*value = c.String(name)
		case c.IsSet(name) && c.String(name) == *value: // CALIB_LAUNCH confirms what is stored, and does not replace it
		case w.Local > 0 || w.Sim != "" || *value == "" || *value == launch.SSH: // nothing but calib's own
		case ask == nil:
			return exit.Usagef("the run has stored --%s %s, which would be executed. If that is right, give it "+
				"again: %s --%s %s", name, quote(*value), again, name, quote(*value))
		default:
			question := fmt.Sprintf("The run has stored --%s:\n  %s\nIt is executed to start the agents. Execute it? [y/N] ",
				name, quote(*value))
			if err := ask(question, exit.Usagef("not begun; --%s says what to execute instead", name)); err != nil {
				return err
			}
		}
	}
	return absolute("agent-binary", &w.AgentBinary)
}

// quote writes s for a shell. Characters that a terminal would obey are escaped.
func quote(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }) {
		return fmt.Sprintf("%q", s)
	}
	return reports.ShellWord(s)
}

// asking asks a question, and returns nil where the answer is yes, else the error no.
type asking func(question string, no error) error

// person asks who sits at the terminal; nil where nobody does. A signal ends the question, with ErrInterrupted.
func person(c *cli.Context) asking {
	if c.Bool("json") || !progress.IsTerminal(os.Stdin) {
		return nil
	}
	return func(question string, no error) error {
		fmt.Fprint(c.App.ErrWriter, question)
		answered := make(chan error, 1)
		go func() { // which waits for a line for as long as the program runs
			answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
			if err == nil && slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))) {
				no = nil
			}
			answered <- no
		}()
		select {
		case err := <-answered:
			return err
		case <-c.Context.Done():
			fmt.Fprintln(c.App.ErrWriter)
			return exit.With(exit.Interrupted, exit.ErrInterrupted)
		}
	}
}

// RepeatOf is a run that measures again what the newest of some runs has measured: with its plan, sizes, points and
// fit, on the same hosts. runs are in the order of time, and names those of the hosts. The flags may say how the hosts
// are reached. Runs that differ from each other are wrong use.
func RepeatOf(c *cli.Context, baseline string, runs []history.Measured, names []string) (config run.Config, err error) {
	for i, m := range runs {
		stored, err := run.Stored(m.Detail)
		switch {
		case err != nil:
			return config, exit.Usagef("baseline %s: the history does not know the plan of one of its runs (%w), so that "+
				"nothing can be measured like it; calib history baseline set %s RUN..., with the run directories, adds it",
				baseline, err, baseline)
		case i > 0 && asked(stored.Plan) != asked(config.Plan):
			return config, exit.Usagef("baseline %s: its runs have different plans; set it anew with runs of one", baseline)
		}
		config = stored
	}
	config.Plan.Seed, config.Probe = cmp.Or(c.Uint64("seed"), drawnSeed()), config.Probe.Known()
	if w := &config.Where; slices.ContainsFunc([]string{"hosts", "host", "local", "sim", "slurm"}, c.IsSet) {
		*w, err = whereOf(c)
	} else {
		err = confirmStored(c, w, "calib gate --baseline "+quote(baseline), person(c))
	}
	if err == nil {
		config.Hosts, err = config.Where.Hosts(command.Noter(c))
	}
	have := slices.Sorted(slices.Values(lists.Map(config.Hosts, func(h hosts.Host) string { return h.Name })))
	if err == nil && !slices.Equal(have, names) && !slices.Contains(c.StringSlice("allow"), compare.AllowHosts) {
		err = exit.Usagef("baseline %s is of other hosts: it has %s, these are %s (--allow hosts compares what both have)",
			baseline, hosts.Fold(names), hosts.Fold(have))
	}
	return equipped(c, config), err
}

// asked is what a user asked for in a plan, as JSON: without its seed and what was found on the network.
func asked(p plan.Plan) string {
	p.Seed, p.Limits.Path, p.Limits.Segment = 0, bench.Path{}, 0
	text, _ := json.Marshal(p) // of plain data
	return string(text)
}
