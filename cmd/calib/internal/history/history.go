package history

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

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

func Command() *cli.Command {
	return &cli.Command{
		Name: "history", Usage: "keep runs, and follow the network over time",
		Description: "calib history add RUN                          keep a run, or all runs of a directory\n" +
			"calib history list                             the runs that are kept\n" +
			"calib history plot                             a page of what changed, when, and by how much\n" +
			"calib history log                              what was done, and the changes found, in the order of time\n" +
			"calib history ack --at RUN --reason 'new NIC'  say that a change is known\n" +
			"A change of level is found in five runs or more on each side of it, and is 5% of the median or more. The history is\n" +
			"one file, which any number of calib processes may use at once: --store, or the variable CALIB_STORE.",
		Subcommands: []*cli.Command{
			historyAddCommand(), historyListCommand(), historyShowCommand(), historyMetricsCommand(), historyPlotCommand(),
			historyLogCommand(), historyAckCommand(), historyUnackCommand(), historyExportCommand(), historyRemoveCommand(),
		},
		Action: command.GroupAction,
	}
}

// StoreFlag says where the history is.
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

// withStore opens the history by open, history.Open or history.OpenExisting, and closes it after f.
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

// storeError gives an error of the store its exit code: what the user can mend on the command line is wrong use.
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

// filterFlags select runs of the history.
func filterFlags(last int) []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "last", Value: last, Usage: "the newest `N` runs; 0 is all"},
		&cli.StringFlag{Name: "since", Usage: "runs from `DATE` on, such as 2026-01-31, or a time as in RFC 3339"},
		&cli.StringFlag{Name: "label", Usage: "runs of this `LABEL`"},
		&cli.StringFlag{Name: "plan", Usage: "runs of the plan `NAME`"},
	}
}

// filterOf reads filterFlags.
func filterOf(c *cli.Context) (history.Filter, error) {
	f := history.Filter{Last: c.Int("last"), Label: c.String("label"), Plan: c.String("plan")}
	if f.Last < 0 {
		return f, command.Usagef("--last %d: want a number of runs, or 0 for all", f.Last)
	}
	var err error
	f.Since, err = momentFlag(c, "since")
	return f, err
}

// momentFlag reads a flag that is a date or a time; the zero time where it is not set.
func momentFlag(c *cli.Context, name string) (time.Time, error) {
	text := c.String(name)
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly, time.DateTime, "2006-01-02 15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, command.Usagef("--%s %q: want a date such as 2026-01-31, or a time such as 2026-01-31T02:00:00Z; both are UTC "+
		"unless they say otherwise", name, text)
}

// splitLink reads a link: FROM,TO or FROM→TO.
func splitLink(text string) (from, to string, err error) {
	from, to, ok := strings.Cut(text, "→")
	if !ok {
		from, to, ok = strings.Cut(text, ",")
	}
	from, to = strings.TrimSpace(from), strings.TrimSpace(to)
	if !ok || from == "" || to == "" || strings.Contains(to, ",") {
		return "", "", command.Usagef("--link %q: want two hosts, FROM,TO", text)
	}
	return from, to, nil
}
