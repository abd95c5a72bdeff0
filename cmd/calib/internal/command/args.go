// Package command holds what all commands of calib share: exit codes and the errors that carry them, the check of
// arguments, shared flags, and output: one JSON document with --json, else text.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"calib/internal/exit"
	"calib/internal/lists"
	"calib/reports"
)

// Named returns the command that args begin with, nil where there is none, and how many of args name it: one of "run",
// two of "hosts expand".
func Named(cmds []*cli.Command, args []string) (c *cli.Command, words int) {
	for _, a := range args {
		i := slices.IndexFunc(cmds, func(c *cli.Command) bool { return c.HasName(a) })
		if i < 0 {
			break
		}
		c, cmds, words = cmds[i], cmds[i].Subcommands, words+1
	}
	return c, words
}

// FlagsFirst moves a command's flags, with their values, before its arguments: the cli library stops reading flags at
// the first argument. What is behind "--" stays where it is.
func FlagsFirst(cmds []*cli.Command, args []string) []string {
	c, i := Named(cmds, args[1:])
	i++
	if c == nil || args[len(args)-1] == "--"+cli.BashCompletionFlag.Names()[0] {
		return args
	}
	flags, rest := slices.Clone(args[:i]), []string{}
	for ; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return slices.Concat(flags, rest, args[i:])
		case !looksLikeFlag(a):
			rest = append(rest, a)
		case !slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { // one that takes the next argument for its value
			_, isBool := f.(*cli.BoolFlag)
			return !isBool && slices.Contains(f.Names(), strings.TrimLeft(a, "-"))
		}):
			flags = append(flags, a)
		case i+1 == len(args): // it would take an argument for its value
			return args
		default:
			flags = append(flags, a, args[i+1])
			i++
		}
	}
	return append(flags, rest...)
}

func looksLikeFlag(a string) bool { return strings.HasPrefix(a, "-") && a != "-" }

// CheckArgs rejects the arguments of a command that takes none, and one that looks like a flag: FlagsFirst leaves it
// behind "--", and where it has no value. It rejects a flag that is given and empty, as "$UNSET" is in a shell. A
// variable of the environment may be empty.
func CheckArgs(c *cli.Context) error {
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		values := c.StringSlice(name)
		if text, is := f.(*cli.StringFlag); is && c.IsSet(name) && !text.HasBeenSet { // by the environment
			values = []string{c.String(name)}
		}
		if slices.ContainsFunc(values, func(v string) bool { return strings.TrimSpace(v) == "" }) {
			return exit.Usagef("--%s is given, but empty: give a value, or leave it out (see %s --help)", name,
				c.Command.HelpName)
		}
	}
	for _, a := range c.Args().Slice() {
		switch {
		case strings.Contains(c.Command.ArgsUsage, "--"): // behind it is the command line of another program
		case looksLikeFlag(a):
			return exit.Usagef("argument %s looks like a flag, but comes after -- or has no value (see %s --help)", a,
				c.Command.HelpName)
		case c.Command.ArgsUsage == "":
			return exit.Usagef("unexpected argument %q (see %s --help)", a, c.Command.HelpName)
		}
	}
	return nil
}

// OneArg returns the single argument, which is called what.
func OneArg(c *cli.Context, what string) (string, error) {
	if c.NArg() != 1 {
		return "", exit.Usagef("want one %s, got %d arguments (see %s --help)", what, c.NArg(), c.Command.HelpName)
	}
	return c.Args().First(), nil
}

// Group is the action of a command that only has subcommands.
func Group(c *cli.Context) error {
	if c.Args().Present() {
		return NoCommand(c.Command.Subcommands, c.Args().First(), c.Command.HelpName)
	}
	return cli.ShowSubcommandHelp(c)
}

// NoCommand says that the command of that name has none called word, and which is near.
func NoCommand(cmds []*cli.Command, word, name string) error {
	if near := lists.Nearest(word, lists.Flat(cmds, (*cli.Command).Names)); near != "" {
		return exit.Usagef("no command %q. Did you mean %q? %s --help lists them", word, near, name)
	}
	return exit.Usagef("no command %q; %s --help lists them", word, name)
}

func JSONFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON document"}
}

func QuietFlag() cli.Flag { return &cli.BoolFlag{Name: "quiet", Usage: "no progress"} }

// List is the words of a flag, separated by commas; blanks around them do not count.
func List(c *cli.Context, flag string) []string {
	return lists.Map(strings.Split(c.String(flag), ","), strings.TrimSpace)
}

func AllFlag() cli.Flag {
	return &cli.BoolFlag{Name: "all", Usage: "print the whole report"}
}

// Silent is err, marked as reported. reporting is what failed meanwhile: then err is still to be reported with it.
func Silent(err, reporting error) error {
	if reporting != nil {
		return errors.Join(err, reporting)
	}
	if err == nil {
		return nil
	}
	return &exit.Error{Code: exit.CodeOf(err), Silent: true, Err: err}
}

// Report prints err, unless that was done: one JSON document on out, or a line on errOut. It returns the exit code.
func Report(out, errOut io.Writer, asJSON bool, name string, err error) int {
	code := exit.CodeOf(err)
	c, known := errors.AsType[*exit.Error](err)
	if err == nil || known && c.Silent {
		return code
	}
	unread, is := errors.AsType[*fs.PathError](err)
	if is && !known && unread.Path == os.Stdout.Name() && unread.Err == syscall.EPIPE {
		return code // as of calib report | head
	}
	if asJSON {
		if (reports.Result{Command: name, Exit: code, Error: err.Error()}).Encode(out) == nil {
			return code
		}
	}
	fmt.Fprintln(errOut, "calib: "+err.Error())
	return code
}

// WantsJSON looks for --json among calib's own flags, also when parsing failed before it was read.
func WantsJSON(args []string) bool {
	i := slices.IndexFunc(args, func(a string) bool {
		return slices.Contains([]string{"--", "--json", "-json", "--json=true"}, a)
	})
	return i >= 0 && args[i] != "--"
}

// Interruptible returns a context that INT, TERM or HUP ends: what runs then stops in order, and keeps what it has. A
// HUP that the process was started to ignore, as by nohup, stays ignored. A second signal ends the process at once, but
// for HUP, which comes twice when a terminal is closed: from its shell, and from the kernel when that ends. Agents end
// with their input, and the files of a run are whole at every moment.
func Interruptible() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	wanted := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		wanted = append(wanted, syscall.SIGHUP)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, wanted...)
	// Writing to a pipe that nobody reads is an error, and does not end the process. SIGPIPE is not ignored: ssh would be
	// started to ignore it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		<-signals
		cancel()
		for <-signals == syscall.SIGHUP {
		}
		fmt.Fprintln(os.Stderr, "calib: interrupted a second time: ended at once")
		os.Exit(exit.Interrupted)
	}()
	return ctx
}

// Compute does what only computes and prints, and is left where it is when c is interrupted.
func Compute(c *cli.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-c.Done():
		return exit.With(exit.Interrupted, exit.ErrInterrupted)
	}
}
