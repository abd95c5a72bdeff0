package history

import (
	"cmp"
	"fmt"
	"os/user"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/history"
)

func listAcks(c *cli.Context, s *history.Store) error {
	if c.IsSet("at") || c.IsSet("reason") {
		return exit.Usagef("--list makes no acknowledgement: leave out --at and --reason")
	}
	all, err := s.Acks(c.Context)
	if err != nil {
		return err
	}
	headings := []string{"ID", "METRIC", "LINK", "FROM RUN", "STARTED (UTC)", "WHO", "REASON"}
	return command.AnswerTable(c, "history ack", ackList{s.Path(), all}, headings, func(t command.Table) {
		for _, a := range all {
			t.Row(a.ID, cmp.Or(a.Metric, "all"), cmp.Or(a.Link, "all"), a.Run, a.At, a.Who, a.Reason)
		}
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
	return command.AnswerLines(c, "history ack", ackList{s.Path(), []history.Ack{a}},
		fmt.Sprintf("acknowledged from run %s on; calib history unack %d withdraws it", a.Run, a.ID))
}

// ackSubject returns the metric and the link of an acknowledgement; it is an error if no run has them.
func ackSubject(c *cli.Context, s *history.Store) (metric, link string, err error) {
	metric = c.String("metric")
	if strings.Contains(metric, ",") {
		return "", "", exit.Usagef("--metric %q: an acknowledgement is of one metric, or of all", metric)
	}
	if metric == "" && c.String("link") == "" {
		return "", "", nil
	}
	of, err := selected(c, s)
	if err != nil || c.String("link") == "" {
		return metric, "", err
	}
	if link = of[len(of)-1].Link(); link == "" { // those of links come last
		err = exit.Usagef("--metric %s is of the whole network: leave out --link", metric)
	}
	return metric, link, err
}
