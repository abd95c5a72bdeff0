package history

import (
	"fmt"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/history"
	"calib/reports"
)

func historyLogCommand() *cli.Command {
	return &cli.Command{
		Name: "log", Usage: "list what was done to the history, and the changes found, in the order of time",
		Description: fmt.Sprintf("Changes are found anew each time, in the newest %d runs; those of one run stand at its start.", plottedRuns),
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "last", Value: loggedLines, Usage: "the newest `N` lines; 0 is all"},
			StoreFlag(), command.JSONFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := command.NoArgs(c); err != nil {
				return err
			}
			if n := c.Int("last"); n < 0 {
				return command.Usagef("--last %d: want a number of lines, or 0 for all", n)
			}
			return withStore(c, history.OpenExisting, func(s *history.Store) error { return historyLogAction(c, s) })
		},
	}
}

func historyLogAction(c *cli.Context, s *history.Store) error {
	events, err := s.Events(c.Context, c.Int("last"))
	if err != nil {
		return err
	}
	all, err := s.Followed(c.Context)
	if err != nil {
		return err
	}
	v, err := surveyRuns(c.Context, s, history.Filter{Last: plottedRuns}, all)
	if err != nil {
		return err
	}
	out := historyLog{Store: s.Path(), Lines: logLines(events, v.changes(), c.Int("last"))}
	if c.Bool("json") {
		return reports.Result{Command: "history log", Data: out}.Encode(c.App.Writer)
	}
	t := command.NewTable(c.App.Writer)
	for _, l := range out.Lines {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", command.Minute(l.At), l.Kind, l.Subject, l.Detail)
	}
	return t.Flush()
}

// logLines merges events and changes by time, and returns the newest so many; last 0 is all.
func logLines(events []history.Event, changes []historyChange, last int) []historyLogLine {
	out := []historyLogLine{}
	for i := range changes {
		c := &changes[i]
		detail := fmt.Sprintf("%s, %s, with run %s", c.amount(), c.levels(), c.Run)
		if c.Ack != nil {
			detail += "; acknowledged: " + c.Ack.Reason
		}
		out = append(out, historyLogLine{At: c.At, Kind: kindChange, Subject: c.subject(), Detail: detail, Change: c})
	}
	for _, e := range events {
		out = append(out, historyLogLine{At: e.At, Kind: e.Kind, Subject: e.Subject, Detail: e.Detail})
	}
	slices.SortStableFunc(out, func(a, b historyLogLine) int { return a.At.Compare(b.At) })
	if last > 0 && len(out) > last {
		out = out[len(out)-last:]
	}
	return out
}

func historyAckCommand() *cli.Command {
	return &cli.Command{
		Name: "ack", Usage: "acknowledge a change: say that it is known, and why",
		Description: fmt.Sprintf("calib history ack --at RUN --reason 'new switch'                      of everything\n"+
			"calib history ack --metric a_c --at RUN --reason 'new kernel'         of one metric\n"+
			"calib history ack --link node01,node02 --at RUN --reason 'new cable'  of one link\n"+
			"RUN is the first run of the new level; a change within %d runs of it is covered. Of everything, it also cuts baselines:\n"+
			"runs before it are not compared with any more.", ackReach),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "metric", Usage: "only the metric `NAME`; default all"},
			&cli.StringFlag{Name: "link", Usage: "only the link between two hosts, `FROM,TO`; default all, and the whole network"},
			&cli.StringFlag{Name: "at", Usage: "first `RUN` of the new level: its ID, or the beginning of only one ID"},
			&cli.StringFlag{Name: "reason", Usage: "`TEXT`: what was changed"},
			&cli.StringFlag{Name: "who", Usage: "`NAME` of who says so; default this user"},
			&cli.BoolFlag{Name: "list", Usage: "list what is acknowledged, and make nothing"},
			StoreFlag(), command.JSONFlag(),
		},
		Action: historyAck,
	}
}

func historyAck(c *cli.Context) error {
	if err := command.NoArgs(c); err != nil {
		return err
	}
	if c.Bool("list") {
		if c.IsSet("at") || c.IsSet("reason") {
			return command.Usagef("--list makes no acknowledgement: leave out --at and --reason")
		}
		return withStore(c, history.OpenExisting, func(s *history.Store) error {
			all, err := s.Acks(c.Context)
			if err != nil {
				return err
			}
			return tellAcks(c, historyAcks{s.Path(), append([]history.Ack{}, all...)})
		})
	}
	if c.String("at") == "" || c.String("reason") == "" {
		return command.Usagef("history ack: give --at RUN and --reason TEXT (see %s --help)", c.Command.HelpName)
	}
	return withStore(c, history.OpenExisting, func(s *history.Store) error { return acknowledge(c, s) })
}

func acknowledge(c *cli.Context, s *history.Store) error {
	e, err := s.Find(c.Context, c.String("at"))
	if err != nil {
		return fmt.Errorf("--at: %w", err)
	}
	a := history.Ack{Run: e.ID, Reason: c.String("reason"), Who: c.String("who")}
	if a.Metric, a.Link, err = ackOf(c, s); err != nil {
		return err
	}
	if a.Who == "" {
		if u, err := user.Current(); err == nil { // a user without a name is nobody
			a.Who = u.Username
		}
	}
	if a.ID, err = s.Acknowledge(c.Context, a); err != nil {
		return err
	}
	if c.Bool("json") {
		all, err := s.Acks(c.Context)
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(b history.Ack) bool { return b.ID != a.ID })
		return reports.Result{Command: "history ack", Data: historyAcks{s.Path(), append([]history.Ack{}, all...)}}.Encode(c.App.Writer)
	}
	_, err = fmt.Fprintf(c.App.Writer, "acknowledged from run %s on; calib history unack %d withdraws it\n", a.Run, a.ID)
	return err
}

// ackOf returns the metric and the link that an acknowledgement is of, if there are such.
func ackOf(c *cli.Context, s *history.Store) (metric, link string, err error) {
	metric = c.String("metric")
	switch {
	case strings.Contains(metric, ","):
		return "", "", command.Usagef("--metric %q: an acknowledgement is of one metric, or of all", metric)
	case metric == "" && c.String("link") == "":
		return "", "", nil
	}
	all, err := s.Followed(c.Context)
	if err != nil {
		return "", "", err
	}
	of, err := followedFlags(c, all)
	if err != nil || c.String("link") == "" {
		return metric, "", err
	}
	link = of[len(of)-1].Link() // those of links come last
	if link == "" {
		return "", "", command.Usagef("--metric %s is of the whole network: leave out --link", metric)
	}
	return metric, link, nil
}

func tellAcks(c *cli.Context, out historyAcks) error {
	if c.Bool("json") {
		return reports.Result{Command: "history ack", Data: out}.Encode(c.App.Writer)
	}
	t := command.NewTable(c.App.Writer)
	fmt.Fprintln(t, "ID\tMETRIC\tLINK\tFROM RUN\tSTARTED (UTC)\tWHO\tREASON")
	for _, a := range out.Acks {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", a.ID, orAll(a.Metric), orAll(a.Link), a.Run, command.Minute(a.At), command.OrDash(a.Who), a.Reason)
	}
	return t.Flush()
}

// orAll stands in for a metric or link that an acknowledgement leaves open.
func orAll(s string) string {
	if s == "" {
		return "all"
	}
	return s
}

func historyUnackCommand() *cli.Command {
	return &cli.Command{
		Name: "unack", Usage: "withdraw an acknowledgement", ArgsUsage: "ID",
		Description: "ID is the number that calib history ack --list shows.",
		Flags:       []cli.Flag{StoreFlag(), command.JSONFlag()},
		Action: func(c *cli.Context) error {
			arg, err := command.OneArg(c, "number of an acknowledgement")
			if err != nil {
				return err
			}
			id, err := strconv.ParseInt(arg, 10, 64)
			if err != nil {
				return command.Usagef("history unack %q: want a number that calib history ack --list shows", arg)
			}
			return withStore(c, history.OpenExisting, func(s *history.Store) error {
				if err := s.Unacknowledge(c.Context, id); err != nil {
					return err
				}
				return tellRemoved(c, "history unack", historyRemoved{s.Path(), arg}, "acknowledgement "+arg)
			})
		},
	}
}
