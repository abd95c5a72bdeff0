// Package history holds the commands calib history and calib baseline: they keep runs, follow the network over time,
// and name runs to compare others with. The store is calib/internal/history; the search for changes of level is in
// survey.go.
package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/history"
	"calib/internal/units"
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
			"A change of level needs five runs or more on each side of it, and is 5% of the median or more. " +
			"The history is one\n" +
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
			return "", exit.Usagef("where the history is kept: %w; name its file with --store", err)
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "calib", "history.db"), nil
}

// withStore opens the history with open (history.Open or history.OpenExisting), runs f and closes the history.
func withStore(c *cli.Context, open func(context.Context, string) (*history.Store, error),
	f func(*history.Store) error) error {
	path, err := storePath(c)
	if err != nil {
		return err
	}
	s, err := open(c.Context, path)
	if errors.Is(err, os.ErrNotExist) {
		return exit.With(exit.Usage, err)
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
	var c *exit.Error
	if errors.As(err, &c) {
		return err
	}
	for _, class := range []error{history.ErrNotFound, history.ErrAmbiguous, history.ErrConflict, history.ErrInvalid,
		history.ErrInUse, history.ErrNotStore, history.ErrNewer} {
		if errors.Is(err, class) {
			return exit.With(exit.Usage, err)
		}
	}
	return err
}

// filterFlags select runs of the history; without --last, the newest so many.
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
		return f, exit.Usagef("--last %d: want a number of runs, or 0 for all", f.Last)
	}
	var err error
	f.Since, err = timeFlag(c, "since")
	return f, err
}

// timeFlag reads a flag that is a date or a time; the zero time where it is not set.
func timeFlag(c *cli.Context, name string) (time.Time, error) {
	text := c.String(name)
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly, time.DateTime, "2006-01-02 15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, exit.Usagef("--%s %q: want a date such as 2026-01-31, or a time such as 2026-01-31T02:00:00Z; "+
		"both are UTC unless they say otherwise", name, text)
}

// followedFlags returns the metrics that --metric and --link select, in the order of all. With --link, a metric of
// links is selected for that link only.
func followedFlags(c *cli.Context, s *history.Store, all []history.Followed) ([]history.Followed, error) {
	var from, to string
	if text := c.String("link"); text != "" {
		var err error
		if from, to, err = linkOf(all, text); err != nil {
			return nil, err
		}
	}
	var names []string
	for _, name := range command.List(c, "metric") {
		if name != "" {
			names = append(names, name)
		}
	}
	if c.IsSet("metric") && len(names) == 0 {
		return nil, exit.Usagef("--metric %q: name a metric; calib history metrics lists them", c.String("metric"))
	}
	var out []history.Followed
	for _, f := range all {
		named := len(names) == 0 && (from == "" || f.Link() != "") || slices.ContainsFunc(names, f.Named)
		if named && (from == "" || f.Link() == "" || f.From == from && f.To == to) {
			out = append(out, f)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(out, func(f history.Followed) bool { return f.Named(name) }) {
			return nil, noMetric(c, s, all, name)
		}
	}
	return out, nil
}

// noMetric is the error of a metric that no run has ok. It names those there are, or says which of the newest runs have
// it otherwise.
func noMetric(c *cli.Context, s *history.Store, all []history.Followed, name string) error {
	link := c.String("link")
	runs, err := s.List(c.Context, history.Filter{Last: listedRuns})
	if err != nil {
		return err
	}
	have, status := 0, ""
	for _, r := range runs {
		p, err := s.Params(c.Context, r.ID)
		if err != nil {
			return err
		}
		function, _, _ := strings.Cut(name, ".")
		if is := cmp.Or(p.Parameters[name].Status, p.Functions[function].Status); is != "" {
			have, status = have+1, is
		}
	}
	if have > 0 && link == "" {
		return exit.Usagef("--metric %s: only what is ok is followed, and no run has it ok; %d of the newest %s have it, "+
			"the last of them %s (calib history show RUN says why)", name, have, units.Plural(len(runs), "run"), status)
	}
	const shown = 12
	var names []string
	for _, f := range all {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	list := strings.Join(names[:min(shown, len(names))], ", ")
	if len(names) > shown {
		list += fmt.Sprintf(" and %d more", len(names)-shown)
	}
	if link != "" && slices.ContainsFunc(all, func(f history.Followed) bool { return f.Named(name) }) {
		return exit.Usagef("--metric %s: no run has it of the link %s", name, link)
	}
	return exit.Usagef("--metric %q: no run has it; there are %s (calib history metrics)", name, list)
}

// linkOf finds the link that text names, FROM,TO or FROM→TO, in the direction in which it was measured.
func linkOf(all []history.Followed, text string) (from, to string, err error) {
	from, to, ok := strings.Cut(text, "→")
	if !ok {
		from, to, ok = strings.Cut(text, ",")
	}
	from, to = strings.TrimSpace(from), strings.TrimSpace(to)
	if !ok || from == "" || to == "" || strings.Contains(to, ",") {
		return "", "", exit.Usagef("--link %q: want two hosts, FROM,TO", text)
	}
	for _, d := range [][2]string{{from, to}, {to, from}} {
		if slices.ContainsFunc(all, func(f history.Followed) bool { return f.From == d[0] && f.To == d[1] }) {
			return d[0], d[1], nil
		}
	}
	return "", "", exit.Usagef("--link %s: no run has measured it; calib history metrics lists the links", text)
}
