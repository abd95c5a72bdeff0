package history

import (
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/history"
)

func logCommand() *cli.Command {
	return &cli.Command{
		Name: "log", Usage: "list what was done to the history, and the changes found, in the order of time",
		Description: fmt.Sprintf("Changes are searched anew each time, in the newest %d runs. A change stands at the start of its run.", plottedRuns),
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "last", Value: loggedLines, Usage: "the newest `N` lines; 0 is all"},
			StoreFlag(), command.JSONFlag(),
		},
		Action: onStore(printLog),
	}
}

func printLog(c *cli.Context, s *history.Store) error {
	last := c.Int("last")
	if last < 0 {
		return command.Usagef("--last %d: want a number of lines, or 0 for all", last)
	}
	events, err := s.Events(c.Context, last)
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
	out := historyLog{Store: s.Path(), Lines: logLines(events, v.changes(), last)}
	return command.Answer(c, "history log", out, func(w io.Writer) error {
		t := command.NewTable(w)
		for _, l := range out.Lines {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", command.Minute(l.At), l.Kind, l.Subject, l.Detail)
		}
		return t.Flush()
	})
}

// logLines merges events and changes by time, and returns the newest so many; last 0 is all.
func logLines(events []history.Event, changes []change, last int) []logLine {
	out := []logLine{}
	for i := range changes {
		c := &changes[i]
		detail := fmt.Sprintf("%s, %s, with run %s", c.percent(), c.levels(), c.Run)
		if c.Ack != nil {
			detail += "; acknowledged: " + c.Ack.Reason
		}
		out = append(out, logLine{At: c.At, Kind: kindChange, Subject: c.subject(), Detail: detail, Change: c})
	}
	for _, e := range events {
		out = append(out, logLine{At: e.At, Kind: e.Kind, Subject: e.Subject, Detail: e.Detail})
	}
	slices.SortStableFunc(out, func(a, b logLine) int { return a.At.Compare(b.At) })
	if last > 0 && len(out) > last {
		out = out[len(out)-last:]
	}
	return out
}
