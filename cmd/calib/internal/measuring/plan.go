package measuring

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/bench"
	"calib/bench/experiments"
	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/runfiles"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/reports"
	"calib/run/plan"
)

// PlanFlags say what to measure, and how.
func PlanFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "plan", Value: "standard", Usage: "`NAME|FILE`: quick, standard, full, or a plan file"},
		&cli.StringFlag{Name: "only", Usage: "experiments, comma separated: `pingpong,paired`"},
		&cli.StringFlag{Name: "sizes", Usage: "message sizes: `1,64,1KiB..4MiB`"},
		&cli.StringFlag{Name: "patterns", Usage: "communication patterns of experiment pattern: `bcast-binary,gather-direct`; a wrong name lists all"},
		&cli.Uint64Flag{Name: "seed", Usage: "`N` of the schedule and the bootstrap; else the plan file's, or drawn and recorded"},
		&cli.DurationFlag{Name: "budget", Usage: "longest time to measure, such as `5m`; 0 is the plan's"},
		&cli.BoolFlag{Name: "no-validate", Usage: "measure no patterns to hold the predictions against"},
		&cli.BoolFlag{Name: "all-pairs", Usage: "ping-pong between all pairs of hosts, as --pairs all"},
		&cli.StringFlag{Name: "pairs", Usage: "pairs of ping-pong in a round: `all`, ring, or random:K for K disjoint matchings; else one matching, another in every round"},
		&cli.StringFlag{Name: "target", Usage: "end when intervals are so narrow: `a_c=2%,b_c=1%`; else a, a_c, b_c within 2% and g, G, L within 3%, as far as measured"},
		&cli.BoolFlag{Name: "no-probe", Usage: "plan without a look at the network: nothing is fitted to its speed and the budget"},
		&cli.BoolFlag{Name: "isolate", Usage: "one pair at a time"},
		&cli.BoolFlag{Name: "keep-teams", Usage: "the same hosts form the pairs and roots in every round, in the order of the hosts file"},
		&cli.BoolFlag{Name: "keep-connections", Usage: "keep data connections for the whole run; else every round opens new ones, from other ports"},
		&cli.StringFlag{Name: "send-buffer", Usage: "fixed send buffer of the data connections, `SIZE` such as 128KiB (SO_SNDBUF); empty is the kernel's, which grows"},
		&cli.StringFlag{Name: "congestion", Usage: "TCP congestion control `NAME` of the data connections; empty is the hosts' own"},
	}
}

// planOf reads the plan of PlanFlags. A seed that neither flag nor plan file gives is drawn and recorded, so that --seed can
// repeat the run.
func planOf(c *cli.Context) (plan.Plan, error) {
	p, err := plan.Load(c.String("plan"))
	if err != nil {
		return p, command.WithCode(command.ExitUsage, err)
	}
	if c.Uint64("seed") == 0 && (c.IsSet("seed") || slices.Contains(plan.BuiltinNames(), c.String("plan"))) {
		p.Seed = drawnSeed()
	}
	return changedPlan(c, p)
}

// drawnSeed is exact as a JSON number everywhere.
func drawnSeed() uint64 {
	var b [8]byte
	rand.Read(b[:]) // which never fails
	return binary.LittleEndian.Uint64(b[:]) >> 11
}

// changedPlan is p as the flags that are given change it.
func changedPlan(c *cli.Context, p plan.Plan) (_ plan.Plan, err error) {
	if c.String("only") != "" {
		p.Experiments, p.Chosen = command.List(c, "only"), true
	}
	if sizes := c.String("sizes"); sizes != "" {
		if p.Limits.Sizes, err = units.ParseSizes(sizes); err != nil {
			return p, command.Usagef("--sizes: %w", err)
		}
		p.Limits.MaxBytes = 0
	}
	if c.String("patterns") != "" {
		p.Limits.Patterns = command.List(c, "patterns")
	}
	if c.Bool("no-validate") {
		if err := p.Validate(experiments.All); err != nil { // before names are looked up
			return p, command.WithCode(command.ExitUsage, err)
		}
		p.Experiments = slices.DeleteFunc(p.Names(experiments.All), func(name string) bool { return name == names.Pattern })
	}
	if c.IsSet("budget") {
		p.Budget = units.Nanos(c.Duration("budget"))
	}
	if pairs := c.String("pairs"); pairs != "" {
		if p.Limits.Pairs, p.Limits.AllPairs, err = bench.ParsePairs(pairs); err != nil {
			return p, command.Usagef("--%w", err)
		}
	}
	p.Limits.AllPairs = p.Limits.AllPairs || c.Bool("all-pairs")
	p.Isolate = p.Isolate || c.Bool("isolate")
	p.Permute = p.Permute && !c.Bool("keep-teams")
	p.KeepConnections = p.KeepConnections || c.Bool("keep-connections")
	p.Seed = cmp.Or(c.Uint64("seed"), p.Seed)
	if err := p.Validate(experiments.All); err != nil {
		return p, command.WithCode(command.ExitUsage, err)
	}
	return p, nil
}

// socketOf reads the options of the data connections in PlanFlags.
func socketOf(c *cli.Context) (k plane.Socket, err error) {
	k.Congestion = c.String("congestion")
	if strings.ContainsAny(k.Congestion, " /\n") {
		return k, command.Usagef("--congestion %q: want a name such as cubic", k.Congestion)
	}
	if size := c.String("send-buffer"); size != "" {
		if k.SndBuf, err = units.ParseBytes(size); err != nil || k.SndBuf <= 0 {
			return k, command.Usagef("--send-buffer %q: want a size such as 128KiB", size)
		}
	}
	return k, nil
}

func scheduleOf(p plan.Plan, hosts int) (*plan.Schedule, error) {
	s, err := plan.New(p, hosts, experiments.All)
	return s, planFault(err)
}

// planFault marks what is wrong with a plan as wrong use.
func planFault(err error) error {
	if errors.Is(err, plan.ErrPlan) || errors.Is(err, plan.ErrNothing) {
		return command.WithCode(command.ExitUsage, err)
	}
	return err
}

// forecast is what the schedule is expected to cost: time and bytes, in all and by experiment, and what it has no room for.
func forecast(s *plan.Schedule) reports.Plan {
	f := s.Estimate()
	inRounds := func(t units.Nanos) float64 { return float64(t) / float64(max(1, f.Round)) }
	least, most := inRounds(f.Min), inRounds(f.Max) // as many as there is time for
	rounds := max(1, int(least))
	bytes := func(round units.Bytes) units.Bytes { return units.Bytes(most * float64(round)) }
	out := reports.Plan{
		Name: s.Plan.Name, Hosts: s.Limits.Hosts, Seed: s.Plan.Seed, Rounds: rounds, Slots: rounds * f.Slots,
		MinutesLo: f.Min.Seconds() / 60, MinutesHi: f.Max.Seconds() / 60, RoundSeconds: f.Round.Seconds(),
		BytesPerLink: bytes(f.LinkBytes), Asked: s.Plan.Rounds.Min,
	}
	for _, e := range f.ByExp {
		out.Experiments = append(out.Experiments, reports.PlanExperiment{
			Name: e.Name, Points: e.Points, Slots: rounds * e.Slots, Share: float64(e.Round) / float64(max(1, f.Round)),
			MinutesLo: least * e.Round.Seconds() / 60, MinutesHi: most * e.Round.Seconds() / 60, BytesPerLink: bytes(e.LinkBytes),
		})
	}
	for _, l := range s.Left {
		out.Left = append(out.Left, reports.PlanLeft{
			Experiment: l.Experiment, What: l.What, Minutes: l.Time.Seconds() / 60, KeptMinutes: l.Kept.Seconds() / 60,
		})
	}
	return out
}

// bySpeed is what the plan becomes on networks of named speeds.
func bySpeed(p plan.Plan, hosts int) ([]reports.PlanSpeed, error) {
	var out []reports.PlanSpeed
	for _, speed := range bench.Speeds() {
		p.Limits.Path = speed.Path
		s, err := scheduleOf(p, hosts)
		if err != nil {
			return nil, err
		}
		f := forecast(s)
		row := reports.PlanSpeed{Name: speed.Name, Rounds: f.Rounds, Asked: f.Asked, RoundSeconds: f.RoundSeconds, MinutesLo: f.MinutesLo, MinutesHi: f.MinutesHi}
		for _, l := range f.Left {
			if len(l.What) == 0 {
				row.LeftOut = append(row.LeftOut, l.Experiment)
			} else {
				row.Thinner++
			}
		}
		out = append(out, row)
	}
	return out, nil
}

// longPlan is the budget above which a person at a terminal is asked first.
const longPlan = 20 * time.Minute

// confirm asks before long work, at a terminal and without --yes. How long it takes is not known before a look at the
// network, but for its bound.
func (j *job) confirm() error {
	budget := time.Duration(j.detail.Plan.Budget)
	long := budget > longPlan || budget == 0 && j.detail.Where.Sim == ""
	ask := person(j.c)
	if !long || j.c.Bool("yes") || ask == nil {
		return nil
	}
	bound := "has no budget, and ends after its rounds"
	if budget > 0 {
		bound = fmt.Sprintf("measures for up to %v, less if all targets are met before", budget)
	}
	fmt.Fprintf(j.c.App.ErrWriter, "Plan %s on %s %s (calib plan shows what).\n", j.detail.Plan.Name,
		units.GroupedPlural(len(j.list), "host"), bound)
	return ask("Go on? [y/N] ", command.Usagef("not started; --plan quick is shorter, --yes does not ask"))
}

// PlanCommand is calib plan.
func PlanCommand() *cli.Command {
	return &cli.Command{
		Name: "plan", Usage: "print what would run: rounds, minutes, bytes per link",
		Description: "calib plan --hosts hosts.txt           what the plan becomes on networks of named speeds; nothing is sent\n" +
			"calib plan --hosts hosts.txt --probe   starts agents, looks at the network for a few seconds, and plans for it",
		Flags: slices.Concat(WhereFlags(), PlanFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "probe", Usage: "look at the network first, with agents on the hosts, as a run does"}, command.JSONFlag(),
		}),
		Action: func(c *cli.Context) error {
			if err := command.NoArgs(c); err != nil {
				return err
			}
			if c.Bool("probe") {
				return dryRun(c, "plan")
			}
			d, err := detailOf(c)
			if err != nil {
				return err
			}
			list, err := d.Where.hosts(func(s string) { command.Note(c, s) })
			if err != nil {
				return err
			}
			p := d.Plan
			looks := !p.Limits.Path.Known() && p.Budget > 0 && !d.Unprobed && d.Where.Sim == "" // the run will
			if looks {
				p.Limits.Path = bench.Gigabit.Path
			}
			s, err := scheduleOf(p, len(list))
			if err != nil {
				return err
			}
			f := forecast(s)
			if looks {
				if f.Speeds, err = bySpeed(p, len(list)); err != nil {
					return err
				}
			}
			return command.AnswerResult(c, reports.Result{Command: "plan", Plan: &f}, nil, func(out io.Writer) error {
				return reports.PlanText(out, f, runfiles.PageOptions(c, ""))
			})
		},
	}
}
