package history

import (
	"cmp"
	"fmt"
	"io"
	"os/user"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/history"
)

func ackCommand() *cli.Command {
	return &cli.Command{
		Name: "ack", Usage: "acknowledge a change: say that it is known, and why",
		Description: fmt.Sprintf("calib history ack --at RUN --reason 'new switch'                      of everything\n"+
			"calib history ack --metric a_c --at RUN --reason 'new kernel'         of one metric\n"+
			"calib history ack --link node01,node02 --at RUN --reason 'new cable'  of one link\n"+
			"RUN is the first run of the new level; a change within %d runs of it is covered. "+
			"An acknowledgement of everything also\n"+
			"cuts baselines: runs before it are no longer compared with.", ackReach),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "metric", Usage: "only the metric `NAME`; default all"},
			&cli.StringFlag{Name: "link",
				Usage: "only the link between two hosts, `FROM,TO`; default all, and the whole network"},
			&cli.StringFlag{Name: "at", Usage: "first `RUN` of the new level: its ID, or the beginning of only one ID"},
			&cli.StringFlag{Name: "reason", Usage: "`TEXT`: what was changed"},
			&cli.StringFlag{Name: "who", Usage: "`NAME` of who says so; default this user"},
			&cli.BoolFlag{Name: "list", Usage: "list what is acknowledged, and make nothing"},
			StoreFlag(), command.JSONFlag(),
		},
		Action: onStore(func(c *cli.Context, s *history.Store) error {
			if c.Bool("list") {
				return listAcks(c, s)
			}
			return acknowledge(c, s)
		}),
	}
}

func listAcks(c *cli.Context, s *history.Store) error {
	if c.IsSet("at") || c.IsSet("reason") {
		return exit.Usagef("--list makes no acknowledgement: leave out --at and --reason")
	}
	all, err := s.Acks(c.Context)
	if err != nil {
		return err
	}
	return command.Answer(c, "history ack", ackList{s.Path(), all}, func(w io.Writer) error {
		t := command.NewTable(w, "ID", "METRIC", "LINK", "FROM RUN", "STARTED (UTC)", "WHO", "REASON")
		for _, a := range all {
			t.Row(a.ID, cmp.Or(a.Metric, "all"), cmp.Or(a.Link, "all"), a.Run, a.At, a.Who, a.Reason)
		}
		return t.Flush()
	})
}

func acknowledge(c *cli.Context, s *history.Store) error {
	if c.String("at") == "" || c.String("reason") == "" {
		return exit.Usagef("history ack: give --at RUN and --reason TEXT (see %s --help)", c.Command.HelpName)
	}
	e, err := s.Find(c.Context, c.String("at"))
	if err != nil {
		return fmt.Errorf("--at: %w", err)
	}
	a := history.Ack{Run: e.ID, Reason: c.String("reason"), Who: c.String("who")}
	if a.Metric, a.Link, err = ackSubject(c, s); err != nil {
		return err
	}
	if a.Who == "" {
		if u, err := user.Current(); err == nil { // who has no name stays unnamed
			a.Who = u.Username
		}
	}
	if a, err = s.Acknowledge(c.Context, a); err != nil {
		return err
	}
	return command.Answer(c, "history ack", ackList{s.Path(), []history.Ack{a}}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "acknowledged from run %s on; calib history unack %d withdraws it\n", a.Run, a.ID)
		return err
	})
}

// ackSubject returns the metric and the link of an acknowledgement; it is an error if no run has them.
func ackSubject(c *cli.Context, s *history.Store) (metric, link string, err error) {
	metric = c.String("metric")
	switch {
	case strings.Contains(metric, ","):
		return "", "", exit.Usagef("--metric %q: an acknowledgement is of one metric, or of all", metric)
	case metric == "" && c.String("link") == "":
		return "", "", nil
	}
	all, err := s.Followed(c.Context)
	if err != nil {
		return "", "", err
	}
	of, err := followedFlags(c, s, all)
	if err != nil || c.String("link") == "" {
		return metric, "", err
	}
	link = of[len(of)-1].Link() // those of links come last
	if link == "" {
		return "", "", exit.Usagef("--metric %s is of the whole network: leave out --link", metric)
	}
	return metric, link, nil
}

func unackCommand() *cli.Command {
	return &cli.Command{
		Name: "unack", Usage: "withdraw an acknowledgement", ArgsUsage: "ID",
		Description: "ID is the number that calib history ack --list shows.",
		Flags:       []cli.Flag{StoreFlag(), command.JSONFlag()},
		Action: onNamed("number of an acknowledgement", func(c *cli.Context, s *history.Store, arg string) error {
			id, err := strconv.ParseInt(arg, 10, 64)
			if err != nil {
				return exit.Usagef("history unack %q: want a number that calib history ack --list shows", arg)
			}
			if err := s.Unacknowledge(c.Context, id); err != nil {
				return err
			}
			return answerRemoved(c, s, "history unack", "acknowledgement", arg)
		}),
	}
}
