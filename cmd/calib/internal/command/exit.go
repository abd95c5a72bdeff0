// Package command holds what all commands of calib share: exit codes and the errors that carry them, the check of
// arguments, shared flags, and output: one JSON document with --json, else text.
package command

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/internal/exit"
	"calib/reports"
)

// What package exit has, for commands.
const (
	ExitOK           = exit.OK
	ExitFailed       = exit.Failed
	ExitUsage        = exit.Usage
	ExitRegression   = exit.Regression
	ExitPartial      = exit.Partial
	ExitInconclusive = exit.Inconclusive
	ExitInterrupted  = exit.Interrupted
)

// ErrInterrupted is how a command ends that was interrupted.
var ErrInterrupted = exit.ErrInterrupted

// Coded is an error with an exit code.
type Coded = exit.Error

// WithCode gives err an exit code.
func WithCode(code int, err error) error { return exit.With(code, err) }

// Usagef is an error of wrong use: exit code 2.
func Usagef(format string, args ...any) error { return exit.Usagef(format, args...) }

// CodeOf returns the exit code of err: its own, or ExitFailed.
func CodeOf(err error) int {
	var c *Coded
	var x cli.ExitCoder // of the cli library
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &c):
		return c.Code
	case errors.As(err, &x):
		return x.ExitCode()
	}
	return ExitFailed
}

// Silent is err, marked as reported. reporting is what failed meanwhile: then err is still to be reported with it.
func Silent(err, reporting error) error {
	if reporting != nil {
		return errors.Join(err, reporting)
	}
	if err == nil {
		return nil
	}
	return &Coded{Code: CodeOf(err), Silent: true, Err: err}
}

// Report prints err, unless that was done, and returns the exit code: as one JSON document on out, or as a line on
// errOut.
func Report(out, errOut io.Writer, asJSON bool, name string, err error) int {
	code := CodeOf(err)
	var c *Coded
	if err == nil || (errors.As(err, &c) && c.Silent) {
		return code
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

// NameOf returns the words of args that name a command: "run", "hosts expand".
func NameOf(cmds []*cli.Command, args []string) string {
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
