// Package history holds the commands calib history and calib baseline: they keep runs, follow the network over time,
// and name runs to compare others with. The store is calib/internal/history; the search for changes of level is in
// survey.go.
package history

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/history"
)

// Selections that are made where none is given.
const (
	listedRuns  = 50
	plottedRuns = 500
	loggedLines = 50
)

// Command is calib history.
func Command() *cli.Command {
	return &cli.Command{
		Name: "history", Usage: "keep runs, and follow the network over time",
		Description: "calib history add RUN                          keep a run, or all runs of a directory\n" +
			"calib history list                             the runs that are kept\n" +
			"calib history plot                             a page of what changed, when, and by how much\n" +
			"calib history log                              what was done, and the changes found, in the order of time\n" +
			"calib history ack --at RUN --reason 'new NIC'  say that a change is known\n" +
			"A change of level needs five runs or more on each side of it, and is 5% of the median or more. The history is one\n" +
			"file, which any number of calib processes may use at once: --store, or the variable CALIB_STORE.",
		Subcommands: []*cli.Command{
			addCommand(), listCommand(), showCommand(), metricsCommand(), plotCommand(),
			logCommand(), ackCommand(), unackCommand(), exportCommand(), removeCommand(),
		},
		Action: command.Group,
	}
}

// StoreFlag names the file of the history.
func StoreFlag() cli.Flag {
	return &cli.StringFlag{Name: "store", EnvVars: []string{"CALIB_STORE"},
		Usage: "history `FILE`; default calib/history.db in $XDG_DATA_HOME, else in ~/.local/share"}
}

// storePath returns the file of the history.
func storePath(c *cli.Context) (string, error) {
	if path := c.String("store"); path != "" {
		return path, nil
	}
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) { // its specification says to ignore a relative one
		home, err := os.UserHomeDir()
		if err != nil {
			return "", command.Usagef("where the history is kept: %w; name its file with --store", err)
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "calib", "history.db"), nil
}

// withStore opens the history with open (history.Open or history.OpenExisting), runs f and closes the history.
func withStore(c *cli.Context, open func(context.Context, string) (*history.Store, error), f func(*history.Store) error) error {
	path, err := storePath(c)
	if err != nil {
		return err
	}
	s, err := open(c.Context, path)
	if errors.Is(err, os.ErrNotExist) {
		return command.WithCode(command.ExitUsage, err)
	}
	if err != nil {
		return storeError(err)
	}
	return errors.Join(storeError(f(s)), s.Close())
}

// onStore is the action of a command without arguments that works on a history that exists.
func onStore(f func(*cli.Context, *history.Store) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := command.NoArgs(c); err != nil {
			return err
		}
		return withStore(c, history.OpenExisting, func(s *history.Store) error { return f(c, s) })
	}
}

// onNamed is onStore for a command with one argument, which is called what.
func onNamed(what string, f func(c *cli.Context, s *history.Store, arg string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		arg, err := command.OneArg(c, what)
		if err != nil {
			return err
		}
		return withStore(c, history.OpenExisting, func(s *history.Store) error { return f(c, s, arg) })
	}
}

// storeError gives an error of the store its exit code: what the user can correct on the command line is wrong use.
func storeError(err error) error {
	var c *command.Coded
	if errors.As(err, &c) {
		return err
	}
	for _, class := range []error{history.ErrNotFound, history.ErrAmbiguous, history.ErrConflict, history.ErrInvalid, history.ErrInUse,
		history.ErrNotStore, history.ErrNewer} {
		if errors.Is(err, class) {
			return command.WithCode(command.ExitUsage, err)
		}
	}
	return err
}
