package measuring

import (
	"cmp"
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
	"calib/cmd/calib/internal/history"
	"calib/internal/dataset/names"
	"calib/internal/exit"
	"calib/internal/launch"
	"calib/internal/lists"
	"calib/internal/netspec"
	"calib/internal/progress"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/run"
	"calib/run/plan"
)

const maxLocal = 256

// WhereFlags say which hosts there are, and how agents come to them.
func WhereFlags() []cli.Flag {
	return command.Grouped("Which hosts", []cli.Flag{
		&cli.StringFlag{Name: "hosts", Usage: "`FILE` of hosts, one or a range a line"},
		&cli.StringSliceFlag{Name: "host", Usage: "host or `RANGE`, as node[01-16,20]; repeatable"},
		&cli.IntFlag{Name: "local", Usage: "`N` agents on this machine, over loopback"},
		&cli.BoolFlag{Name: "slurm", Usage: "nodes of this Slurm job; all agents are a step of it"},
		&cli.IntFlag{Name: "nodes", Usage: "outside a Slurm job: start one with `N` nodes"},
		&cli.StringFlag{Name: "sim", Usage: "simulate `PRESET[:HOSTS]` or a lab file"},
		&cli.StringFlag{Name: "launch", Value: launch.SSH, EnvVars: []string{"CALIB_LAUNCH"},
			Usage: "`PREFIX` to run a command on a host"},
		&cli.StringFlag{Name: "cert", EnvVars: []string{"CALIB_CERT"},
			Usage: "`DIR` of your certificate, for daemons on TCP"},
		&cli.StringFlag{Name: "agent-binary", Usage: "`PATH` of a calib-agent for hosts with other processors"},
	})
}

// PlanFlags say what is measured. A plan file says more: docs/explanation/measuring.md.
func PlanFlags() []cli.Flag {
	return command.Grouped("What to measure", []cli.Flag{
		&cli.StringFlag{Name: "plan", Value: "standard", Usage: "quick, standard, full, or a plan `FILE`"},
		&cli.StringFlag{Name: "only", Usage: "`EXPERIMENTS`, such as pingpong,paired"},
		&cli.StringFlag{Name: "sizes", Usage: "message `SIZES`, such as 1,64,1KiB..4MiB"},
		&cli.StringFlag{Name: "pairs", Usage: "`WHICH`: all, ring, random:K; default each host once"},
		&cli.DurationFlag{Name: "budget", Usage: "longest `TIME`, such as 5m; 0 is no limit"},
		&cli.StringFlag{Name: "target", Usage: "end when these `INTERVALS` are met: a_c=2%,b_c=1%"},
		&cli.Uint64Flag{Name: "seed", Usage: "random seed `N` of schedule and bootstrap; default new"},
		&cli.StringFlag{Name: "congestion", Usage: "TCP congestion control `NAME`; default the hosts'"},
		&cli.StringFlag{Name: "send-buffer", Usage: "fixed SO_SNDBUF, `SIZE` such as 128KiB"},
		&cli.BoolFlag{Name: "no-flood", Usage: "overflow no switch port; B_L is not measured"},
		&cli.BoolFlag{Name: "no-validate", Usage: "do not measure traffic to test predictions"},
		&cli.BoolFlag{Name: "no-probe", Usage: "do not probe the network before planning"},
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
		if _, err := run.ParseTargets(config.Targets, config.Plan.Names(experiments.All)); err != nil {
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
	hosts, err := w.Hosts(command.Noter(c))
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
	config.Page = history.Paged(c, config.Show.Note)
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
	ways := []bool{w.HostsFile != "" || w.Slurm, len(w.Ranges) > 0, c.IsSet("local"), w.Sim != ""}
	switch given := lists.Count(ways, func(set bool) bool { return set }); {
	case given == 0:
		return w, exit.Usagef("say which hosts: --hosts FILE, --host RANGE, --slurm, --local N, or --sim PRESET")
	case given > 1:
		return w, exit.Usagef("give one of --hosts, --host, --slurm, --local and --sim, not %d of them", given)
	case c.IsSet("local") && (w.Local < 1 || w.Local > maxLocal):
		return w, exit.Usagef("--local %d: want 1 to %d agents", w.Local, maxLocal)
	case w.Slurm && typed(c, "launch"):
		return w, exit.Usagef("give --slurm or --launch, not both: srun starts the agents of a job")
	}
	for _, flag := range []string{"launch", "cert", "agent-binary", "congestion", "send-buffer"} {
		if w.Sim != "" && typed(c, flag) {
			return w, exit.Usagef("--sim with --%s: a simulated network has no hosts to use it on; leave one of them out", flag)
		}
	}
	for flag, path := range map[string]*string{"hosts": &w.HostsFile, "cert": &w.Cert, "agent-binary": &w.AgentBinary} {
		if err := absolute(flag, path); err != nil {
			return w, err
		}
	}
	if w.Sim, err = networkOf(w.Sim); err != nil {
		return w, err
	}
	switch {
	case !w.Slurm && c.IsSet("nodes"):
		return w, exit.Usagef("--nodes is for --slurm")
	case !w.Slurm || os.Getenv("SLURM_JOB_ID") != "":
		return w, nil
	}
	return w, salloc(c)
}

// typed reports whether a flag was given with a value of its own. The value of a variable such as CALIB_LAUNCH is for
// all runs that have a use for it.
func typed(c *cli.Context, flag string) bool {
	return c.IsSet(flag) && c.String(flag) != os.Getenv("CALIB_"+strings.ToUpper(flag))
}

// absolute makes the path that a flag gives absolute, so that a run may go on from another directory.
func absolute(flag string, path *string) (err error) {
	if *path == "" {
		return nil
	}
	if *path, err = filepath.Abs(*path); err != nil {
		return exit.Usagef("--%s: %w", flag, err)
	}
	return nil
}

// networkOf is the value of --sim with its file, where it names one, as an absolute path.
func networkOf(arg string) (string, error) {
	file, hosts := netspec.Parts(arg)
	if slices.Contains(netspec.PresetNames(), file) || !command.Exists(file) { // an error has the name that was given
		return arg, nil
	}
	err := absolute("sim", &file)
	return file + hosts, err
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
		if p.Limits.Pairs, err = bench.ParsePairs(pairs); err != nil {
			return p, exit.Usagef("--%w", err)
		}
	}
	// A seed that neither flag nor plan file gives is drawn and recorded, so that --seed can repeat the run.
	if p.Seed = cmp.Or(c.Uint64("seed"), p.Seed); p.Seed == 0 || c.IsSet("seed") && c.Uint64("seed") == 0 {
		p.Seed = drawnSeed()
	}
	return p, exit.With(exit.Usage, p.Validate(experiments.All))
}
