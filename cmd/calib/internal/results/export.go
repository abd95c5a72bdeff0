package results

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/lists"
	"calib/internal/machine"
	"calib/internal/rundir"
	"calib/params"
	"calib/predict/tuned"
	"calib/reports"
	"calib/reports/export"
)

func ExportCommand() *cli.Command {
	return &cli.Command{
		Name: "export", Usage: "write a run's parameters as the input file of another program", ArgsUsage: "PARAMS|RUN",
		Description: "calib export --list                           the targets\n" +
			"calib export --to simgrid RUN > platform.xml  warnings go to standard error\n" +
			"calib export --to ompi --nodes 4,8 RUN        rules of Open MPI's collectives\n" +
			"calib export --to prometheus --out calib.prom RUN\n" +
			"PARAMS is a params.json, RUN a run directory. A value that the target's format cannot\n" +
			"hold is an error.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "`TARGET`, one of --list"},
			&cli.StringFlag{Name: "out", Usage: "`FILE` to replace, or a directory; default standard output"},
			&cli.StringFlag{Name: "nodes", Usage: "`N` hosts; for rules a list such as 4,8; default the run's"},
			&cli.StringFlag{Name: "bytes", Usage: "rules: message `SIZES` at which they begin; default " + ruleSizes},
			&cli.StringFlag{Name: "device", Usage: "tc: network device `NAME`; default eth0"},
			&cli.Float64Flag{Name: "slowdown", Usage: "lab: slow it down `N` times; default as little as it needs"},
			&cli.BoolFlag{Name: "list", Usage: "list the targets"}, command.JSONFlag(),
		},
		Action: exportAction,
	}
}

type exported struct {
	Target   string   `json:"target"`
	File     string   `json:"file"`              // where it was written, or the target's own name for it
	Content  string   `json:"content,omitempty"` // where it was not written
	Warnings []string `json:"warnings"`
	// Decisions say how rules of collectives came about.
	Decisions []tuned.Decision `json:"decisions,omitempty"`
}

func exportAction(c *cli.Context) error {
	if c.Bool("list") {
		return listTargets(c)
	}
	if c.String("to") == "" {
		return exit.Usagef("--to TARGET is missing; calib export --list shows the targets")
	}
	target, err := export.Lookup(c.String("to"))
	if err != nil {
		return exit.Usagef("--to: %w", err)
	}
	if v := c.Float64("slowdown"); c.IsSet("slowdown") && !(v >= 1 && v <= export.MaxSlowdown) {
		return exit.Usagef("--slowdown %g: want 1 to %g", v, export.MaxSlowdown)
	}
	arg, p, err := command.ParamsArg(c)
	if err != nil {
		return err
	}
	o := export.Options{Device: c.String("device"), Slowdown: c.Float64("slowdown"), Version: machine.Version()}
	data := exported{Target: target.Name, File: target.File}
	if target.Rules {
		o.Rules, data.Decisions, err = rulesOf(c, p)
	} else {
		o.Hosts, err = hostsOf(c)
	}
	if err != nil {
		return err
	}
	run := arg
	if filepath.Base(arg) == rundir.ParamsFile {
		run = filepath.Dir(arg)
	}
	named := func(text string) string { // a target knows no path
		return strings.ReplaceAll(text, " RUN ", " "+reports.ShellWord(run)+" ")
	}
	text, warnings, err := target.Export(p, o)
	switch {
	case errors.Is(err, export.ErrOption):
		return exit.Usagef("%s: %w", arg, err)
	case err != nil:
		return exit.With(exit.CodeOf(err), fmt.Errorf("%s: %s", arg, named(err.Error())))
	}
	data.Warnings = append([]string{}, lists.Map(warnings, named)...)
	r := reports.Result{Command: "export"}
	if out, err := command.SaveOut(c, target.File, text); err != nil {
		return err
	} else if out != "" {
		data.File, r.Files, text = out, map[string]string{target.Name: out}, nil
	}
	data.Content = string(text)
	r.Data = data
	return command.AnswerResult(c, r, nil, func(w io.Writer) error {
		if _, err := w.Write(text); err != nil {
			return fmt.Errorf("write to standard output: %w", err)
		}
		command.Warn(c, data.Warnings)
		return nil
	})
}

func listTargets(c *cli.Context) error {
	if c.NArg() > 0 || c.String("to") != "" {
		return exit.Usagef("--list takes neither --to nor a run (see %s --help)", c.Command.HelpName)
	}
	all := export.Targets()
	return command.AnswerTable(c, "export", all, nil, func(t command.Table) {
		for _, target := range all {
			t.Row(target.Name, target.File, target.About)
		}
	})
}

const ruleSizes = "64..64KiB" // those at which rules of collectives begin

// rulesOf chooses the algorithms of Open MPI's collectives by the predictions from p.
func rulesOf(c *cli.Context, p *params.Params) (rules []export.Rules, decisions []tuned.Decision, err error) {
	hosts, err := numbers(c, "nodes", strconv.Itoa(max(2, len(p.Run.Hosts))), 2, maxHosts)
	if err != nil {
		return nil, nil, err
	}
	sizes, err := numbers(c, "bytes", ruleSizes, 1, 1<<30)
	if err != nil {
		return nil, nil, err
	}
	if rules, decisions, err = tuned.Rules(p, hosts, sizes); err != nil {
		err = fmt.Errorf("rules of collectives: %w", err)
	}
	return rules, decisions, err
}

// hostsOf is the number of hosts that a target's system is to have; 0 is the run's own.
func hostsOf(c *cli.Context) (int, error) {
	if c.IsSet("bytes") {
		return 0, exit.Usagef("--bytes goes with targets of rules, such as ompi")
	}
	if !c.IsSet("nodes") {
		return 0, nil
	}
	n, err := strconv.Atoi(c.String("nodes"))
	if err != nil || n < 2 {
		return 0, exit.Usagef("--nodes %s: want a number of at least 2 hosts", c.String("nodes"))
	}
	return n, nil
}
