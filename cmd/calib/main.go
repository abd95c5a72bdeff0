// Command calib measures the network of a cluster and fits the parameters of published cost models to it.
//
// This package lists the commands, handles signals and returns exit codes. The commands are in the packages below
// internal and beside this file: flags, files and wiring. What they call is in the packages of the module.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/history"
	"calib/cmd/calib/internal/measuring"
	"calib/cmd/calib/internal/results"
	"calib/internal/exit"
	"calib/internal/lists"
	"calib/internal/machine"
	"calib/internal/units"
)

func main() {
	os.Exit(execute(os.Args))
}

// execute runs one command line and returns its exit code; docs/reference/commands.md lists them.
func execute(args []string) int {
	completing := strings.TrimLeft(args[len(args)-1], "-") == cli.BashCompletionFlag.Names()[0]
	if completing && slices.Contains(args, "--") {
		return exit.OK // offers nothing: the cli library would not complete the command but run it
	}
	if len(args) > 1 && args[1] == "help" { // calib help COMMAND…
		args = append(append(args[:1:1], args[2:]...), "--help")
	}
	cli.HelpPrinter = command.PrintHelp
	ctx := command.Interruptible()
	app := newApp()
	err := app.RunContext(ctx, command.FlagsFirst(app.Commands, args))
	if wrong := cli.ExitCoder(nil); errors.As(err, &wrong) { // help on what there is not, to which the library gives 3
		err = exit.With(exit.Usage, err)
	}
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		err = exit.With(exit.Interrupted, exit.ErrInterrupted)
	}
	_, words := command.Named(app.Commands, args[1:])
	name := strings.Join(args[1:1+words], " ")
	return command.Report(app.Writer, app.ErrWriter, command.WantsJSON(args), name, err)
}

func newApp() *cli.App {
	return &cli.App{
		Name:    "calib",
		Usage:   "measure a cluster's network and calibrate communication cost models",
		Version: machine.Version(),
		Writer:  &units.PrintableWriter{To: os.Stdout}, ErrWriter: &units.PrintableWriter{To: os.Stderr},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "version", Aliases: []string{"v"},
				Usage: "print the version and how it was built"},
			&cli.BoolFlag{Name: "json", Usage: "with --version: print one JSON document"},
		},
		Description: "calib run --hosts hosts.txt  calibrate a cluster; needs nothing but ssh\n" +
			"calib run --local 2          two agents on this machine\n" +
			"calib explain a_c            what a number is\n" +
			"Exit codes: 0 done, 1 failed, 2 wrong use, 3 regression, 4 partial (saved),\n" +
			"5 inconclusive, 130 interrupted (saved).",
		DisableSliceFlagSeparator: true, // a host range holds commas: node[01-03,7]
		EnableBashCompletion:      true,
		HideHelpCommand:           true,
		HideVersion:               true, // Flags has it
		Before: func(c *cli.Context) error {
			if c.Bool("json") && !c.Bool("version") { // it would do nothing
				return exit.Usagef("--json must come after the command, as in calib run --json")
			}
			return nil
		},
		ExitErrHandler: func(*cli.Context, error) {}, // execute decides the exit code
		OnUsageError:   usageError,
		Commands: withUsage([]*cli.Command{
			measuring.RunCommand(), results.FitCommand(), results.ReportCommand(), results.ExplainCommand(),
			results.PredictCommand(), results.ExportCommand(), results.ImportCommand(), results.CompareCommand(),
			results.GateCommand(), history.Command(), measuring.DoctorCommand(), measuring.CheckCommand(),
			measuring.WatchCommand(), labCommand(), measuring.AgentCommand(), certCommand(), schemaCommand(),
			measuring.HostsCommand(), manCommand(), completionCommand(),
		}), Action: func(c *cli.Context) error {
			if c.Bool("version") {
				return printVersion(c)
			}
			if c.Args().Present() {
				return command.NoCommand(c.App.Commands, c.Args().First(), c.App.Name)
			}
			return cli.ShowAppHelp(c)
		},
	}
}

// withUsage gives every command and subcommand the same answer to a wrong flag, and to arguments that it does not take.
func withUsage(cmds []*cli.Command) []*cli.Command {
	for _, c := range cmds {
		c.OnUsageError = usageError
		c.HideHelpCommand = true
		if len(c.Subcommands) == 0 {
			c.Before = command.CheckArgs
		}
		withUsage(c.Subcommands)
	}
	return cmds
}

func usageError(c *cli.Context, err error, _ bool) error {
	name := "calib"
	if c != nil && c.Command != nil && c.Command.HelpName != "" {
		name = c.Command.HelpName
	}
	text := strings.NewReplacer("flag provided but not defined: -", "no such flag: --", "for flag -", "for flag --",
		": parse error", "").Replace(err.Error())
	return exit.Usagef("%s%s (see %s --help)", text, advice(c, err), name)
}

// advice names the flag that is near one that there is not, and says how a number is written.
func advice(c *cli.Context, err error) string {
	if c == nil || c.Command == nil || len(c.Command.Flags) == 0 {
		return ""
	}
	if word, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); unknown {
		if near := lists.Nearest(strings.TrimPrefix(word, "-"), lists.Flat(c.Command.Flags, cli.Flag.Names)); near != "" {
			return fmt.Sprintf(". Did you mean --%s?", near)
		}
	}
	i := slices.IndexFunc(c.Command.Flags, func(f cli.Flag) bool {
		return strings.Contains(err.Error(), "for flag -"+f.Names()[0]+":")
	})
	if i < 0 {
		return ""
	}
	switch c.Command.Flags[i].(type) {
	case *cli.DurationFlag:
		return ": want a time with its unit, such as 90s, 5m or 1h30m"
	case *cli.Uint64Flag:
		return ": want a whole number from 0"
	case *cli.IntFlag:
		return ": want a whole number"
	}
	return ""
}
