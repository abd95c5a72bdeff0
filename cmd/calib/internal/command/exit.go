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

// CodeOf returns the exit code of err: its own, or exit.Failed.
func CodeOf(err error) int {
	var c *exit.Error
	var x cli.ExitCoder // of the cli library
	switch {
	case err == nil:
		return exit.OK
	case errors.As(err, &c):
		return c.Code
	case errors.As(err, &x):
		return x.ExitCode()
	}
	return exit.Failed
}

// Silent is err, marked as reported. reporting is what failed meanwhile: then err is still to be reported with it.
func Silent(err, reporting error) error {
	if reporting != nil {
		return errors.Join(err, reporting)
	}
	if err == nil {
		return nil
	}
	return &exit.Error{Code: CodeOf(err), Silent: true, Err: err}
}

// Report prints err, unless that was done, and returns the exit code: as one JSON document on out, or as a line on
// errOut.
func Report(out, errOut io.Writer, asJSON bool, name string, err error) int {
	code := CodeOf(err)
	var c *exit.Error
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
