// Package history holds the commands of calib history: they keep runs, follow the network over time, and name runs to
// compare others with. The store is calib/internal/history; the search for changes of level is in survey.go.
package history

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
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
		Description: "calib history add RUN                     keep a run, or a directory of runs\n" +
			"calib history plot                        what changed, when, and by how much\n" +
			"calib history ack --at RUN --reason TEXT  say that a change is known\n" +
			"calib history baseline set good RUN...    name runs to compare others with\n" +
			"A change of level needs five runs on each side, and is 5% of the median or more. The\n" +
			"history is one file: --store, or CALIB_STORE. Many processes may use it at once.",
		Subcommands: []*cli.Command{
			{Name: "add", Usage: "keep runs", ArgsUsage: "RUN...",
				Description: "calib history add RUN\n" +
					"RUN is a run directory, its params.json, or a directory of runs (as calib run --aa\n" +
					"writes). A run is stored whole: its directory is needed again only for its raw\n" +
					"timings. A run that is there already is left as it is.",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "label", Usage: "`LABEL` of the runs, such as nightly"},
					&cli.StringFlag{Name: "commit", Usage: "`REVISION` of what was tested"},
					StoreFlag(), command.PartialFlag(), command.JSONFlag(),
				}, Action: addRuns},
			{Name: "list", Usage: "list the runs, oldest first",
				Description: "calib history list --label nightly --last 7",
				Flags:       append(filterFlags(listedRuns), StoreFlag(), command.JSONFlag()),
				Action:      onStore(listRuns)},
			{Name: "show", Usage: "print the parameters of a run", ArgsUsage: "RUN",
				Description: "calib history show 20260301\nRUN is the ID of a run, or a unique prefix of one.",
				Flags:       []cli.Flag{StoreFlag(), command.JSONFlag(), command.AllFlag()},
				Action:      onNamed("run ID", showRun)},
			{Name: "metrics", Usage: "list what can be followed", Description: "calib history metrics",
				Flags: []cli.Flag{StoreFlag(), command.JSONFlag()},
				Action: onStore(func(c *cli.Context, s *history.Store) error {
					all, err := s.Followed(c.Context)
					if err != nil {
						return err
					}
					headings := []string{"METRIC", "LINK", "UNIT", "RUNS", "FIRST (UTC)", "LAST (UTC)", "WHAT IT IS"}
					return command.AnswerTable(c, "history metrics", metricList{s.Path, all}, headings,
						func(t command.Table) {
							for _, f := range all {
								t.Row(f.Name, f.Link(), f.Unit, f.Runs, f.First, f.Last, f.Label)
							}
						})
				}),
			},
			{Name: "changes", Usage: "list what calib watch has found, oldest first",
				Description: "calib history changes --last 5",
				Flags: []cli.Flag{
					lastFlag(listedRuns, "changes", "the newest `N`; 0 is all"), StoreFlag(), command.JSONFlag()},
				Action: onStore(func(c *cli.Context, s *history.Store) error {
					all, err := s.Changes(c.Context, c.Int("last"))
					if err != nil {
						return err
					}
					headings := []string{"FOUND (UTC)", "STATE", "WHAT"}
					return command.AnswerTable(c, "history changes", all, headings, func(t command.Table) {
						for _, f := range all {
							state := "open"
							switch {
							case f.Usual:
								state = "usual by now"
							case f.Over != nil:
								state = "over " + command.Minute(*f.Over)
							}
							t.Row(f.Found, state, f.Says)
						}
					})
				}),
			},
			{Name: "plot", Usage: "draw the metrics over time, with the changes found, as a page or as figures",
				Description: "calib history plot                             the network, odd links\n" +
					"calib history plot --metric a_c,g_s.c0         these\n" +
					"calib history plot --link node01,node02        all of this link\n" +
					"calib history plot --format svg --out figures  a file for each figure",
				Flags: append([]cli.Flag{
					&cli.StringFlag{Name: "metric", Usage: "metrics, comma separated: `a_c,g_s.c0`; calib history metrics lists them"},
					&cli.StringFlag{Name: "link", Usage: "the link between two hosts, `FROM,TO`"},
					&cli.StringFlag{Name: "format", Value: command.FormatHTML, Usage: "`FORMAT`: html, svg or png"},
					&cli.StringFlag{Name: "out",
						Usage: "`FILE` of html, default " + plotFile + "; directory of svg and png, default " + plotDir},
				}, append(filterFlags(plottedRuns), StoreFlag(), command.JSONFlag())...),
				Action: onStore(plotHistory),
			},
			{Name: "log", Usage: "list what was done to the history, and the changes found, in the order of time",
				Description: fmt.Sprintf("calib history log --last 20\n"+
					"Changes are searched anew each time, in the newest %d runs.\n"+
					"A change is listed at the start of its run.", plottedRuns),
				Flags: []cli.Flag{
					lastFlag(loggedLines, "lines", "the newest `N` lines; 0 is all"), StoreFlag(), command.JSONFlag(),
				}, Action: onStore(printLog)},
			{Name: "ack", Usage: "acknowledge a change: say that it is known, and why",
				Description: fmt.Sprintf("calib history ack --at RUN --reason 'new switch'     of everything\n"+
					"calib history ack --metric a_c --at RUN --reason BIOS  of one metric\n"+
					"calib history ack --link n01,n02 --at RUN --reason NIC  of one link\n"+
					"RUN is the first run of the new level; a change within %d runs of it is covered. An\n"+
					"acknowledgement of everything also shortens the baselines of RUN's hosts: runs\n"+
					"before RUN are no longer used.", ackReach),
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "metric", Usage: "only the metric `NAME`; default all"},
					&cli.StringFlag{Name: "link",
						Usage: "only the link between two hosts, `FROM,TO`; default all"},
					&cli.StringFlag{Name: "at", Usage: "first `RUN` of the new level: its ID, or a unique prefix"},
					&cli.StringFlag{Name: "reason", Usage: "`TEXT`: what was changed"},
					&cli.StringFlag{Name: "who", Usage: "`NAME` of the person; default this user"},
					&cli.BoolFlag{Name: "list", Usage: "list the acknowledgements, and add none"},
					StoreFlag(), command.JSONFlag(),
				},
				Action: onStore(func(c *cli.Context, s *history.Store) error {
					if c.Bool("list") {
						return listAcks(c, s)
					}
					return acknowledge(c, s)
				}),
			},
			{Name: "unack", Usage: "withdraw an acknowledgement", ArgsUsage: "ID",
				Description: "calib history unack 1\nID is the number that calib history ack --list shows.",
				Flags:       []cli.Flag{StoreFlag(), command.JSONFlag()},
				Action: onNamed("number of an acknowledgement", func(c *cli.Context, s *history.Store, arg string) error {
					id, err := strconv.ParseInt(arg, 10, 64)
					if err != nil {
						return exit.Usagef("history unack %q: want a number that calib history ack --list shows", arg)
					}
					return answerRemoved(c, s, "history unack", "acknowledgement", arg, s.Unacknowledge(c.Context, id))
				}),
			},
			{Name: "export", Usage: "write the history for other programs, or for calib elsewhere",
				Description: "calib history export --to csv --out history.csv\n" +
					"calib history export --to store --out shared.db   for calib history import\n" +
					"A csv has a row for each value of each run. Columns: time, run, label, commit,\n" +
					"metric, from, to, unit, value, lo, hi. Values are in SI units, lo and hi the 95%\n" +
					"interval. A store is all of the history, in a new file.",
				Flags: append([]cli.Flag{
					&cli.StringFlag{Name: "to", Usage: "`csv|store`"},
					&cli.StringFlag{Name: "out", Usage: "`FILE` to replace, or a directory; default standard output"},
				}, append(filterFlags(0), StoreFlag(), command.JSONFlag())...),
				Action: onStore(exportHistory),
			},
			{Name: "import", Usage: "add what another history has and this one has not", ArgsUsage: "FILE",
				Description: "calib history import shared.db\n" +
					"FILE is what calib history export --to store wrote, or any history. What is here already\n" +
					"does not change. Changes that calib watch has found are imported when they are over.\n" +
					"Restart a running calib watch, so that it reads what was imported.",
				Flags:  []cli.Flag{StoreFlag(), command.JSONFlag()},
				Action: importHistory},
			{Name: "remove", Usage: "take a run out of the history, for good", ArgsUsage: "RUN",
				Description: "calib history remove 20260301-101500\n" +
					"RUN is the ID of a run, or a unique prefix of one. A run of a baseline stays.",
				Flags: []cli.Flag{StoreFlag(), command.JSONFlag()},
				Action: onNamed("run ID", func(c *cli.Context, s *history.Store, id string) error {
					e, err := s.Find(c.Context, id)
					if err != nil {
						return err
					}
					return answerRemoved(c, s, "history remove", "run", e.ID, s.Remove(c.Context, e.ID))
				}),
			},
			baselineCommand(),
		},
		Action: command.Group,
	}
}

// Documents are the data that --json prints for calib history. Values are in SI units, times in UTC.
func Documents() []command.Document {
	return []command.Document{
		command.DataOf[baselineList]("history baseline list"), command.DataOf[removed]("history baseline remove"),
		command.DataOf[baselineSet]("history baseline set"), command.DataOf[baselineShown]("history baseline show"),
		command.DataOf[ackList]("history ack"), command.DataOf[additions]("history add"),
		command.DataOf[exported]("history export"), command.DataOf[runList]("history list"),
		command.DataOf[historyLog]("history log"), command.DataOf[metricList]("history metrics"),
		command.DataOf[merged]("history import"), command.DataOf[[]history.Change]("history changes"),
		command.DataOf[plotted]("history plot"), command.DataOf[removed]("history remove"),
		command.DataOf[storedRun]("history show"), command.DataOf[removed]("history unack"),
	}
}

// metricList is of history metrics: what can be followed, of the whole network before that of links.
type metricList struct {
	Store   string             `json:"store"`
	Metrics []history.Followed `json:"metrics"`
}

func StoreFlag() cli.Flag {
	return &cli.StringFlag{Name: "store", EnvVars: []string{"CALIB_STORE"},
		Usage: "history `FILE`; default calib/history.db in $XDG_DATA_HOME, else in ~/.local/share"}
}

func storePath(c *cli.Context) (string, error) {
	if path := cmp.Or(c.String("store"), os.Getenv("CALIB_STORE")); path != "" { // not every command has the flag
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

// WithStore opens the history, which with create it may make, runs f and closes the history.
func WithStore(c *cli.Context, create bool, f func(*history.Store) error) error {
	path, err := storePath(c)
	if err != nil {
		return err
	}
	s, err := history.Open(c.Context, path, create)
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

// onStore is the action of a command without arguments that works on a history that exists.
func onStore(f func(*cli.Context, *history.Store) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		return WithStore(c, false, func(s *history.Store) error { return f(c, s) })
	}
}

// onNamed is onStore for a command with one argument, which is called what.
func onNamed(what string, f func(c *cli.Context, s *history.Store, arg string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		arg, err := command.OneArg(c, what)
		if err != nil {
			return err
		}
		return WithStore(c, false, func(s *history.Store) error { return f(c, s, arg) })
	}
}

// lastFlag is how many of something are wanted, the newest.
func lastFlag(most int, what, usage string) cli.Flag {
	return &cli.IntFlag{Name: "last", Value: most, Usage: usage, Action: func(_ *cli.Context, n int) error {
		if n < 0 {
			return exit.Usagef("--last %d: want a number of %s, or 0 for all", n, what)
		}
		return nil
	}}
}

func filterFlags(last int) []cli.Flag {
	return []cli.Flag{
		lastFlag(last, "runs", "the newest `N` runs; 0 is all"),
		&cli.StringFlag{Name: "since", Usage: "runs from `DATE` on, such as 2026-01-31, or a time as in RFC 3339"},
		&cli.StringFlag{Name: "label", Usage: "runs of this `LABEL`"},
		&cli.StringFlag{Name: "plan", Usage: "runs of the plan `NAME`"},
	}
}

func filterOf(c *cli.Context) (f history.Filter, err error) {
	f = history.Filter{Last: c.Int("last"), Label: c.String("label"), Plan: c.String("plan")}
	since := c.String("since")
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly, time.DateTime, "2006-01-02 15:04"} {
		if f.Since, err = time.Parse(layout, since); err == nil || since == "" {
			return f, nil
		}
	}
	return f, exit.Usagef("--since %q: want a date such as 2026-01-31, or a time such as 2026-01-31T02:00:00Z; "+
		"both are UTC unless they say otherwise", since)
}

// selected returns the metrics that --metric and --link select, those of the whole network first. With --link, a metric
// of links is selected for that link only.
func selected(c *cli.Context, s *history.Store) ([]history.Followed, error) {
	all, err := s.Followed(c.Context)
	var from, to string
	if text := c.String("link"); text != "" && err == nil {
		from, to, err = linkOf(all, text)
	}
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(command.List(c, "metric"), func(name string) bool { return name == "" })
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
			return nil, exit.Usagef("--metric %q: no run has it ok (only that is followed); calib history metrics lists them",
				name)
		}
	}
	return out, nil
}

// linkOf finds the link that text names, FROM,TO or FROM→TO, in the order of the store.
func linkOf(all []history.Followed, text string) (from, to string, err error) {
	from, to, ok := hostsOf(text)
	if !ok {
		return "", "", exit.Usagef("--link %q: want two hosts, FROM,TO", text)
	}
	for _, d := range [][2]string{{from, to}, {to, from}} {
		if slices.ContainsFunc(all, func(f history.Followed) bool { return f.From == d[0] && f.To == d[1] }) {
			return d[0], d[1], nil
		}
	}
	return "", "", exit.Usagef("--link %s: no run has measured it; calib history metrics lists the links", text)
}

func hostsOf(link string) (from, to string, ok bool) {
	from, to, ok = strings.Cut(link, "→")
	if !ok {
		from, to, ok = strings.Cut(link, ",")
	}
	from, to = strings.TrimSpace(from), strings.TrimSpace(to)
	return from, to, ok && from != "" && to != "" && !strings.Contains(to, ",")
}
