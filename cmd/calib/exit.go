package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/reports"
)

// Exit codes, documented in README.md.
const (
	exitOK           = 0
	exitFailed       = 1
	exitUsage        = 2
	exitRegression   = 3
	exitPartial      = 4
	exitInconclusive = 5
	exitInterrupted  = 130
)

var errInterrupted = errors.New("interrupted")

// coded is an error that knows its exit code. silent errors were already told to the user.
type coded struct {
	code   int
	silent bool
	err    error
}

func (c *coded) Error() string { return c.err.Error() }
func (c *coded) Unwrap() error { return c.err }

// ExitCode lets the cli library carry it.
func (c *coded) ExitCode() int { return c.code }

func withCode(code int, err error) error { return &coded{code: code, err: err} }

// usagef is a wrong use: exit 2.
func usagef(format string, args ...any) error {
	return withCode(exitUsage, fmt.Errorf(format, args...))
}

func codeOf(err error) int {
	var c *coded
	var x cli.ExitCoder
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &c):
		return c.code
	case errors.As(err, &x):
		return x.ExitCode()
	}
	return exitFailed
}

// silent joins err with what failed while telling it; err itself has been told.
func silent(err, telling error) error {
	if telling != nil {
		return errors.Join(err, telling)
	}
	if err == nil {
		return nil
	}
	return &coded{code: codeOf(err), silent: true, err: err}
}

// report tells the user of err, as one JSON document on out where asked, and returns the exit code.
func report(out, errOut io.Writer, asJSON bool, command string, err error) int {
	code := codeOf(err)
	var c *coded
	if err == nil || (errors.As(err, &c) && c.silent) {
		return code
	}
	if asJSON {
		err := reports.Result{Command: command, Exit: code, Error: err.Error()}.Encode(out)
		if err == nil {
			return code
		}
	}
	fmt.Fprintln(errOut, "calib: "+err.Error())
	return code
}

// wantsJSON looks for --json among calib's own flags, also when parsing failed before it was read.
func wantsJSON(args []string) bool {
	for _, a := range args {
		switch {
		case a == "--":
			return false
		case a == "--json" || a == "-json" || a == "--json=true":
			return true
		}
	}
	return false
}

// commandOf returns the words of args that name a command: "run", "hosts expand".
func commandOf(cmds []*cli.Command, args []string) string {
	var words []string
	for _, a := range args {
		i := slices.IndexFunc(cmds, func(c *cli.Command) bool { return c.HasName(a) })
		if i < 0 {
			break
		}
		words, cmds = append(words, a), cmds[i].Subcommands
	}
	return strings.Join(words, " ")
}

// noFlagsAfter rejects an argument that looks like a flag: the cli library stops reading flags at the first argument, and
// a flag after it would silently do nothing.
func noFlagsAfter(c *cli.Context) error {
	for _, a := range c.Args().Slice() {
		if strings.HasPrefix(a, "-") && a != "-" {
			return usagef("flag %s comes after an argument: write flags first (see %s --help)", a, c.Command.HelpName)
		}
	}
	return nil
}

// oneArg returns the single argument.
func oneArg(c *cli.Context, what string) (string, error) {
	if err := noFlagsAfter(c); err != nil {
		return "", err
	}
	if c.NArg() != 1 {
		return "", usagef("want one %s, got %d arguments (see %s --help)", what, c.NArg(), c.Command.HelpName)
	}
	return c.Args().First(), nil
}
