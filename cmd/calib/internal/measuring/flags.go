package measuring

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"calib/bench"
	"calib/bench/experiments"
	"calib/cmd/calib/internal/command"
	"calib/internal/dataset/names"
	"calib/internal/exit"
	"calib/internal/history"
	"calib/internal/hosts"
	"calib/internal/progress"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/reports"
	"calib/reports/compare"
	"calib/run"
	"calib/run/plan"
)

const defaultLaunch = "ssh {host}" // what starts agents unless --launch says otherwise

const maxLocal = 256

// WhereFlags say which hosts there are, and how agents come to them.
func WhereFlags() []cli.Flag {
	return command.Grouped("Which hosts", []cli.Flag{
		&cli.StringFlag{Name: "hosts", Usage: "`FILE` of hosts, one or a range a line"},
		&cli.StringSliceFlag{Name: "host", Usage: "host or `RANGE`, as node[01-16,20]; repeatable"},
		&cli.IntFlag{Name: "local", Usage: "`N` agents on this machine, over loopback"},
		&cli.BoolFlag{Name: "slurm", Usage: "nodes of this Slurm job; all agents are a step of it"},
		&cli.IntFlag{Name: "nodes", Usage: "--slurm outside a job: ask for one of `N` nodes"},
		&cli.StringFlag{Name: "sim", Usage: "simulate `PRESET[:HOSTS]` or a lab file"},
		&cli.StringFlag{Name: "launch", Value: defaultLaunch, EnvVars: []string{"CALIB_LAUNCH"},
			Usage: "`PREFIX` of commands on a host"},
		&cli.StringFlag{Name: "cert", EnvVars: []string{"CALIB_CERT"},
			Usage: "`DIR` of your certificate, for daemons on TCP"},
		&cli.StringFlag{Name: "agent-binary", Usage: "`PATH` of calib-agent, for other processors"},
	})
}

// PlanFlags say what is measured. A plan file says more: docs/explanation/measuring.md.
func PlanFlags() []cli.Flag {
	return command.Grouped("What to measure", []cli.Flag{
		&cli.StringFlag{Name: "plan", Value: "standard", Usage: "quick, standard, full, or a plan `FILE`"},
		&cli.StringFlag{Name: "only", Usage: "`EXPERIMENTS`, such as pingpong,paired"},
		&cli.StringFlag{Name: "sizes", Usage: "message `SIZES`, such as 1,64,1KiB..4MiB"},
		&cli.StringFlag{Name: "pairs", Usage: "`WHICH`: all, ring or random:K; else one matching a round"},
		&cli.DurationFlag{Name: "budget", Usage: "longest `TIME`, such as 5m; 0 is no limit"},
		&cli.StringFlag{Name: "target", Usage: "end at `INTERVALS` such as a_c=2%,b_c=1%"},
		&cli.Uint64Flag{Name: "seed", Usage: "`N` of schedule and bootstrap; default drawn"},
		&cli.StringFlag{Name: "congestion", Usage: "TCP congestion control `NAME`; default the hosts'"},
		&cli.StringFlag{Name: "send-buffer", Usage: "fixed SO_SNDBUF, `SIZE` such as 128KiB"},
		&cli.BoolFlag{Name: "no-flood", Usage: "overflow no port: B_L is not measured"},
		&cli.BoolFlag{Name: "no-validate", Usage: "measure no traffic to test predictions with"},
		&cli.BoolFlag{Name: "no-probe", Usage: "plan without a probe of the network"},
	})
}

// YesFlag answers what a person at a terminal is asked.
func YesFlag() cli.Flag { return &cli.BoolFlag{Name: "yes", Usage: "do not ask before a long run"} }

// configOf is the run of the flags, or the stored one that goes on.
func configOf(c *cli.Context) (run.Config, error) {
	dir := c.String("resume")
	if dir == "" {
		config, err := flagged(c)
		config.Out = c.String("out")
		return equipped(c, config), err
	}
	if err := onlyResume(c); err != nil {
		return run.Config{}, err
	}
	before, err := rundir.Open(dir)
	if err != nil {
		return run.Config{}, exit.With(exit.Usage, err)
	}
	config, err := run.Stored(before.Run().Detail)
	if err != nil {
		return config, exit.Usagef("resume %s: %s: %w", dir, rundir.RunFile, err)
	}
	config.Resume = dir
	if cert := c.String("cert"); cert != "" {
		if config.Where.Cert, err = filepath.Abs(cert); err != nil {
			return config, exit.Usagef("--cert: %w", err)
		}
	}
	err = confirmStored(c, &config.Where, "calib run --resume "+quote(dir), person(c))
	return equipped(c, config), err
}

// flagged reads the flags that say what to measure, where and how, and how to fit.
func flagged(c *cli.Context) (config run.Config, err error) {
	if config.Where, err = whereOf(c); err != nil {
		return config, err
	}
	p, err := plan.Load(c.String("plan"))
	if err != nil {
		return config, exit.With(exit.Usage, err)
	}
	if config.Plan, err = changedPlan(c, p); err != nil {
		return config, err
	}
	config.Unprobed, config.Targets = c.Bool("no-probe"), c.String("target")
	if config.Targets != "" {
		targets, err := run.ParseTargets(config.Targets)
		if err == nil {
			err = targets.Check(config.Plan.Names(experiments.All))
		}
		if err != nil {
			return config, exit.Usagef("--%w", err)
		}
	}
	socket := &config.Socket
	if socket.Congestion = c.String("congestion"); strings.ContainsAny(socket.Congestion, " /\n") {
		return config, exit.Usagef("--congestion %q: want a name such as cubic", socket.Congestion)
	}
	if size := c.String("send-buffer"); size != "" {
		if socket.SndBuf, err = units.ParseBytes(size); err != nil || socket.SndBuf <= 0 {
			return config, exit.Usagef("--send-buffer %q: want a size such as 128KiB", size)
		}
	}
	return config, nil
}

// longPlan is the budget above which a person at a terminal is asked first. How long a run takes is not known before a
// look at the network, but for its bound.
const longPlan = 20 * time.Minute

// listed is a Config of the hosts alone.
func listed(c *cli.Context, w run.Where) (run.Config, error) {
	config := equipped(c, run.Config{Where: w})
	hosts, err := w.Hosts(func(s string) { command.Note(c, s) })
	config.Hosts = hosts
	return config, err
}

// equipped is a run that shows its progress here, has this calib's agents, and asks a person before long work.
func equipped(c *cli.Context, config run.Config) run.Config {
	style := progress.Plain // lines for a log
	switch {
	case c.Bool("quiet"):
		style = progress.Quiet
	case progress.IsTerminal(os.Stderr):
		style = progress.Live
	case c.Bool("json"):
		style = progress.Events
	}
	config.Show, config.Agents = progress.New(c.App.ErrWriter, style, time.Now), packedAgents
	budget, ask := time.Duration(config.Plan.Budget), person(c)
	if long := budget > longPlan || budget == 0 && config.Where.Sim == ""; !long || c.Bool("yes") || ask == nil {
		return config
	}
	config.Confirm = func(hosts int) error {
		bound := "has no budget, and ends after its rounds"
		if budget > 0 {
			bound = fmt.Sprintf("measures for up to %v, less if all targets are met before", budget)
		}
		fmt.Fprintf(c.App.ErrWriter, "Plan %s on %s %s (--dry-run shows what).\n", config.Plan.Name,
			units.Plural(hosts, "host"), bound)
		return ask("Go on? [y/N] ", exit.Usagef("not started; --plan quick is shorter, --yes does not ask"))
	}
	return config
}

// whereOf reads WhereFlags. With --slurm and --nodes outside a job it becomes salloc.
func whereOf(c *cli.Context) (w run.Where, err error) {
	w = run.Where{
		HostsFile: c.String("hosts"), Ranges: c.StringSlice("host"), Local: c.Int("local"), Sim: c.String("sim"),
		Launch: c.String("launch"), AgentBinary: c.String("agent-binary"), Slurm: c.Bool("slurm"), Cert: c.String("cert"),
	}
	given := 0
	for _, set := range []bool{w.HostsFile != "" || w.Slurm, len(w.Ranges) > 0, c.IsSet("local"), w.Sim != ""} {
		if set {
			given++
		}
	}
	switch {
	case given == 0:
		return w, exit.Usagef("say which hosts: --hosts FILE, --host RANGE, --slurm, --local N, or --sim PRESET")
	case given > 1:
		return w, exit.Usagef("give one of --hosts, --host, --slurm, --local and --sim, not %d of them", given)
	case c.IsSet("local") && (w.Local < 1 || w.Local > maxLocal):
		return w, exit.Usagef("--local %d: want 1 to %d agents", w.Local, maxLocal)
	case w.Slurm && c.IsSet("launch") && os.Getenv("CALIB_LAUNCH") == "":
		return w, exit.Usagef("give --slurm or --launch: a job's step is started by srun")
	}
	for flag, path := range map[string]*string{"hosts": &w.HostsFile, "cert": &w.Cert} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return w, exit.Usagef("--%s: %w", flag, err)
		}
	}
	switch {
	case !w.Slurm && c.IsSet("nodes"):
		return w, exit.Usagef("--nodes is for --slurm")
	case !w.Slurm || os.Getenv("SLURM_JOB_ID") != "":
		return w, nil
	}
	return w, salloc(c)
}

// salloc becomes that program, which runs this command again in the job that it is granted, and ends the job with it.
// It reads its own variables, such as SALLOC_PARTITION.
func salloc(c *cli.Context) error {
	switch {
	case !c.IsSet("nodes"):
		return exit.Usagef("--slurm outside a job of Slurm: run it in one (sbatch, salloc), or ask for one with --nodes N")
	case c.Int("nodes") < 2:
		return exit.Usagef("--nodes %d: a network needs two", c.Int("nodes"))
	}
	path, err := exec.LookPath("salloc")
	if err != nil {
		return exit.Usagef("--slurm: %w: run calib on a host that can submit jobs", err)
	}
	own, err := os.Executable()
	if err != nil {
		return err
	}
	argv := slices.Concat([]string{"salloc", "--nodes=" + strconv.Itoa(c.Int("nodes")), "--ntasks-per-node=1",
		"--exclusive", "--job-name=calib", own}, os.Args[1:])
	return fmt.Errorf("start salloc: %w", syscall.Exec(path, argv, os.Environ()))
}

// drawnSeed is exact as a JSON number everywhere.
func drawnSeed() uint64 { return rand.Uint64() >> 11 }

// changedPlan is p as the flags that are given change it.
func changedPlan(c *cli.Context, p plan.Plan) (_ plan.Plan, err error) {
	if c.String("only") != "" {
		p.Experiments, p.Chosen = command.List(c, "only"), true
	}
	if sizes := c.String("sizes"); sizes != "" {
		if p.Limits.Sizes, err = units.ParseSizes(sizes); err != nil {
			return p, exit.Usagef("--sizes: %w", err)
		}
		p.Limits.MaxBytes = 0
	}
	for flag, experiment := range map[string]string{"no-validate": names.Pattern, "no-flood": names.Flood} {
		if !c.Bool(flag) {
			continue
		}
		if err := p.Validate(experiments.All); err != nil { // before names are looked up
			return p, exit.With(exit.Usage, err)
		}
		p.Experiments = slices.DeleteFunc(p.Names(experiments.All), func(name string) bool { return name == experiment })
		if len(p.Experiments) == 0 {
			return p, exit.Usagef("--%s leaves nothing to measure: %s was all", flag, experiment)
		}
	}
	if c.IsSet("budget") {
		p.Budget = units.Nanos(c.Duration("budget"))
	}
	if pairs := c.String("pairs"); pairs != "" {
		if p.Limits.Pairs, p.Limits.AllPairs, err = bench.ParsePairs(pairs); err != nil {
			return p, exit.Usagef("--%w", err)
		}
	}
	// A seed that neither flag nor plan file gives is drawn and recorded, so that --seed can repeat the run.
	if p.Seed = cmp.Or(c.Uint64("seed"), p.Seed); p.Seed == 0 || c.IsSet("seed") && c.Uint64("seed") == 0 {
		p.Seed = drawnSeed()
	}
	return p, exit.With(exit.Usage, p.Validate(experiments.All))
}

// executedFlags name the flags whose values are executed, here or on the hosts.
var executedFlags = []string{"launch", "agent-binary"}

// onlyResume rejects flags that --resume would silently ignore: the run goes on as it was planned. Those that say what
// is executed, and the certificate, which may be in the environment, may be given again.
func onlyResume(c *cli.Context) error {
	for _, f := range slices.Concat(WhereFlags(), PlanFlags()) {
		if name := f.Names()[0]; !slices.Contains(executedFlags, name) && name != "cert" && c.IsSet(name) {
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
// where nobody can be asked. again is the command line to which the flag is to be added.
func confirmStored(c *cli.Context, w *run.Where, again string, ask asking) error {
	for i, value := range []*string{&w.Launch, &w.AgentBinary} {
		name := executedFlags[i]
		switch {
		case c.IsSet(name):
			*value = c.String(name)
		case w.Local > 0 || w.Sim != "" || *value == "" || *value == defaultLaunch: // nothing but calib's own
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
	return nil
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
		w.Cert = cmp.Or(c.String("cert"), w.Cert)
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
