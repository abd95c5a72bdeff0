package command

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
	ExitOK           = 0
	ExitFailed       = 1
	ExitUsage        = 2
	ExitRegression   = 3
	ExitPartial      = 4
	ExitInconclusive = 5
	ExitInterrupted  = 130
)

var ErrInterrupted = errors.New("interrupted")

// Coded is an error that knows its exit code. silent errors were already told to the user.
type Coded struct {
	code   int
	silent bool
	err    error
}

func (c *Coded) Error() string { return c.err.Error() }

func (c *Coded) Unwrap() error { return c.err }

// ExitCode lets the cli library carry it.
func (c *Coded) ExitCode() int { return c.code }

func WithCode(code int, err error) error { return &Coded{code: code, err: err} }

// Usagef is a wrong use: exit 2.
func Usagef(format string, args ...any) error {
	return WithCode(ExitUsage, fmt.Errorf(format, args...))
}

func CodeOf(err error) int {
	var c *Coded
	var x cli.ExitCoder
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &c):
		return c.code
	case errors.As(err, &x):
		return x.ExitCode()
	}
	return ExitFailed
}

// Silent joins err with what failed while telling it; err itself has been told.
func Silent(err, telling error) error {
	if telling != nil {
		return errors.Join(err, telling)
	}
	if err == nil {
		return nil
	}
	return &Coded{code: CodeOf(err), silent: true, err: err}
}

// Report tells the user of err, as one JSON document on out where asked, and returns the exit code.
func Report(out, errOut io.Writer, asJSON bool, command string, err error) int {
	code := CodeOf(err)
	var c *Coded
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

// WantsJSON looks for --json among calib's own flags, also when parsing failed before it was read.
func WantsJSON(args []string) bool {
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

// CommandOf returns the words of args that name a command: "run", "hosts expand".
func CommandOf(cmds []*cli.Command, args []string) string {
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
