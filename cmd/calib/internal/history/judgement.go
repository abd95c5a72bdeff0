package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/files"
	"calib/internal/history"
	"calib/internal/lists"
	"calib/internal/units"
	"calib/reports/compare"
)

func baselineCommand() *cli.Command {
	common := []cli.Flag{StoreFlag(), command.JSONFlag()}
	return &cli.Command{
		Name: "baseline", Usage: "name runs of the history to compare others with",
		Description: "calib run --aa 10 --hosts hosts.txt --out good\n" +
			"calib history baseline set main good  keep these runs, and name them\n" +
			"calib compare baseline:main NEW       compare others with them\n" +
			"calib gate --baseline main --hosts hosts.txt",
		Subcommands: []*cli.Command{
			{Name: "set", Usage: "make a baseline, in place of one of the same name", ArgsUsage: "NAME RUN...",
				Description: "calib history baseline set NAME RUN...\n" +
					"RUN is the ID of a stored run, or a unique prefix of one; or a run directory, a\n" +
					"params.json or a directory of runs, which are added to the history. The noise.json\n" +
					"in a directory of runs is kept with the baseline.",
				Flags: append([]cli.Flag{
					&cli.StringFlag{Name: "note", Usage: "`TEXT` that says what it is"},
					&cli.StringFlag{Name: "noise", Usage: "noise floor `FILE` of calib run --aa"},
					command.PartialFlag(),
				}, common...), Action: setBaseline},
			{Name: "list", Usage: "list the baselines", Description: "calib history baseline list",
				Flags: common, Action: onStore(listBaselines)},
			{Name: "show", Usage: "print the runs of a baseline", ArgsUsage: "NAME", Flags: common,
				Description: "calib history baseline show good", Action: onNamed("name of a baseline", showBaseline)},
			{Name: "remove", Usage: "remove a baseline; its runs stay in the history", ArgsUsage: "NAME", Flags: common,
				Description: "calib history baseline remove good",
				Action: onNamed("name of a baseline", func(c *cli.Context, s *history.Store, name string) error {
					return answerRemoved(c, s, "history baseline remove", "baseline", name, s.RemoveBaseline(c.Context, name))
				})},
		},
		Action: command.Group,
	}
}

type baselineList struct {
	Store     string             `json:"store"`
	Baselines []history.Baseline `json:"baselines"`
}

func listBaselines(c *cli.Context, s *history.Store) error {
	all, err := s.Baselines(c.Context)
	if err != nil {
		return err
	}
	headings := []string{"BASELINE", "RUNS", "MADE (UTC)", "NOISE FLOOR", "NOTE"}
	return command.AnswerTable(c, "history baseline list", baselineList{s.Path, all}, headings, func(t command.Table) {
		for _, b := range all {
			t.Row(b.Name, len(b.Runs), b.Made, b.Noise, b.Note)
		}
	})
}

type baselineShown struct {
	Store    string           `json:"store"`
	Baseline history.Baseline `json:"baseline"`
	Runs     []baselineRun    `json:"runs"` // oldest first
	Noise    *compare.Floor   `json:"noise,omitempty"`
	Cut      *history.Ack     `json:"cut,omitempty"` // the newest known change of everything, if runs were before it
}

type baselineRun struct {
	history.Entry
	Used bool `json:"used"` // false: it was before Cut, and is not compared with
}

func showBaseline(c *cli.Context, s *history.Store, name string) error {
	out, err := readBaseline(c.Context, s, name)
	if err != nil {
		return err
	}
	return command.AnswerTable(c, "history baseline show", out, nil, func(t command.Table) {
		t.Row("baseline", out.Baseline.Name)
		t.Row("made", command.Minute(out.Baseline.Made)+" UTC")
		if out.Baseline.Note != "" {
			t.Row("note", out.Baseline.Note)
		}
		if n := out.Noise; n != nil {
			t.Row("noise floor", "of "+units.Plural(len(n.Runs), "run")+", "+units.Plural(len(n.Of), "metric"))
		}
		if a := out.Cut; a != nil {
			t.Row("known change", fmt.Sprintf("from run %s on: %s; runs before it are not compared with", a.Run,
				a.Reason))
		}
		t.Row()
		t.Row("RUN", "STARTED (UTC)", "PLAN", "HOSTS", "STATUS", "LABEL", "USED")
		for _, r := range out.Runs {
			t.Row(r.ID, r.Started, r.Plan, r.Hosts, r.Status, r.Label, r.Used)
		}
	})
}

// runsOf are the runs of a baseline. Those before the newest known change of everything on their hosts, the cut, are
// not used.
func runsOf(ctx context.Context, s *history.Store, b history.Baseline, acks []history.Ack) (runs []baselineRun,
	cut *history.Ack, err error) {
	newest := -1 // they come by the start of their runs
	for i, a := range slices.Backward(acks) {
		if a.Metric == "" && a.Link == "" && !elsewhere(ctx, s, a.Run, b.Runs[0]) {
			newest = i
			break
		}
	}
	for _, id := range b.Runs {
		e, err := s.Find(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		r := baselineRun{Entry: e, Used: true}
		if newest >= 0 && e.Started.Before(acks[newest].At) {
			r.Used, cut = false, &acks[newest]
		}
		runs = append(runs, r)
	}
	return runs, cut, nil
}

func readBaseline(ctx context.Context, s *history.Store, name string) (baselineShown, error) {
	b, err := s.Baseline(ctx, name)
	acks, other := s.Acks(ctx)
	out := baselineShown{Store: s.Path, Baseline: b, Runs: []baselineRun{}}
	if err = cmp.Or(err, other); err != nil {
		return out, err
	}
	if out.Runs, out.Cut, err = runsOf(ctx, s, b, acks); err != nil {
		return out, err
	}
	if b.Noise {
		if out.Noise, err = compare.ReadFloor(b.Floor); err != nil {
			err = fmt.Errorf("history %s: baseline %s: %w", s.Path, name, err)
		}
	}
	return out, err
}

// elsewhere reports whether two runs were of different clusters. A run that was removed may have been of any.
func elsewhere(ctx context.Context, s *history.Store, one, other string) bool {
	p, _, err := s.Read(ctx, one)
	q, _, failed := s.Read(ctx, other)
	if cmp.Or(err, failed) != nil {
		return false
	}
	return !history.SameCluster(p.Run.Hosts, q.Run.Hosts)
}

// Baseline is what others are compared with.
type Baseline struct {
	Runs     []compare.Run      // oldest first
	Measured []history.Measured // how each of them was
	Noise    *compare.Floor     // nil where there is none
}

// BaselineOf returns the baseline of that name, without the runs before the newest known change of everything.
func BaselineOf(c *cli.Context, name string) (out Baseline, err error) {
	err = WithStore(c, false, func(s *history.Store) error {
		b, err := readBaseline(c.Context, s, name)
		if err != nil {
			return err
		}
		out.Noise = b.Noise
		for _, r := range b.Runs {
			if !r.Used {
				continue
			}
			p, m, err := s.Read(c.Context, r.ID)
			if err != nil {
				return err
			}
			out.Runs, out.Measured = append(out.Runs, compare.FromParams(p, r.Started)), append(out.Measured, m)
		}
		if n := len(b.Runs) - len(out.Runs); n > 0 {
			text := fmt.Sprintf("baseline %s: %d of %s are older than the acknowledged change at run %s (%s)", name, n,
				units.Plural(len(b.Runs), "run"), b.Cut.Run, b.Cut.Reason)
			if len(out.Runs) == 0 {
				return exit.Usagef("%s; set it anew with later runs", text)
			}
			command.Note(c, text+", and are not used")
		}
		return nil
	})
	return out, err
}

type baselineSet struct {
	Store    string           `json:"store"`
	Baseline history.Baseline `json:"baseline"`
	Added    []addition       `json:"added"` // runs that were given as directories
}

func setBaseline(c *cli.Context) error {
	if c.NArg() < 2 {
		return exit.Usagef("history baseline set: give a name and runs (see %s --help)", c.Command.HelpName)
	}
	name, args := c.Args().First(), c.Args().Tail()
	noise, err := noiseOf(c.String("noise"), args)
	if err != nil {
		return err
	}
	adds := slices.ContainsFunc(args, command.Exists)
	return WithStore(c, adds, func(s *history.Store) error {
		ids, added, err := storedIDs(c, s, args)
		if err != nil {
			return err
		}
		err = s.SetBaseline(c.Context, history.Baseline{Name: name, Note: c.String("note"), Runs: ids, Floor: noise})
		b, other := s.Baseline(c.Context, name)
		if err = cmp.Or(err, other); err != nil {
			return err
		}
		return command.AnswerLines(c, "history baseline set", baselineSet{s.Path, b, added},
			fmt.Sprintf("baseline %s: %s, %s a noise floor",
				b.Name, units.Plural(len(b.Runs), "run"), map[bool]string{true: "with", false: "without"}[b.Noise]))
	})
}

// storedIDs returns the IDs of the runs that args name: stored runs or, where there is a path, the runs there, which it
// adds.
func storedIDs(c *cli.Context, s *history.Store, args []string) (ids []string, added []addition, err error) {
	added = []addition{}
	for _, arg := range args {
		if !command.Exists(arg) {
			e, err := s.Find(c.Context, arg)
			if errors.Is(err, history.ErrNotFound) {
				err = fmt.Errorf("%w; nor is there such a file", err)
			}
			if err != nil {
				return nil, nil, err
			}
			ids = append(ids, e.ID)
			continue
		}
		paths, err := command.ParamsFiles(arg)
		if err != nil {
			return nil, nil, err
		}
		done, err := add(c, s, history.Entry{}, paths)
		if err != nil {
			return nil, nil, err
		}
		ids = append(ids, lists.Map(done, func(r addition) string { return r.ID })...)
		added = append(added, done...)
	}
	return ids, added, nil
}

// noiseOf reads a noise floor, of the file or else the only one in the directories among args; nil without one.
func noiseOf(file string, args []string) ([]byte, error) {
	if file == "" {
		for _, arg := range args {
			path := filepath.Join(arg, command.NoiseFile)
			switch {
			case !command.Exists(path):
			case file != "":
				return nil, exit.Usagef("both %s and %s are there: choose one by --noise", file, path)
			default:
				file = path
			}
		}
	}
	if file == "" {
		return nil, nil
	}
	b, err := files.Read(file, maxFloor)
	if err == nil {
		_, err = compare.ReadFloor(b)
	}
	if err != nil {
		return nil, exit.Usagef("noise floor %s: %w", file, err)
	}
	return b, nil
}

const maxFloor = 64 << 20 // bounds a noise floor that is read [B]

type ackList struct {
	Store string        `json:"store"`
	Acks  []history.Ack `json:"acks"`
}

func listAcks(c *cli.Context, s *history.Store) error {
	if c.IsSet("at") || c.IsSet("reason") {
		return exit.Usagef("--list makes no acknowledgement: leave out --at and --reason")
	}
	all, err := s.Acks(c.Context)
	if err != nil {
		return err
	}
	headings := []string{"ID", "METRIC", "LINK", "FROM RUN", "STARTED (UTC)", "WHO", "REASON"}
	return command.AnswerTable(c, "history ack", ackList{s.Path, all}, headings, func(t command.Table) {
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
	return command.AnswerLines(c, "history ack", ackList{s.Path, []history.Ack{a}},
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
