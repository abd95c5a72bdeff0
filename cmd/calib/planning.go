package main

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/bench"
	"calib/bench/experiments"
	"calib/internal/units"
	"calib/reports"
)

// planOf reads the plan flags. A seed that neither flag nor plan file gives is drawn: it is recorded, and --seed repeats
// it.
func planOf(c *cli.Context) (bench.Plan, error) {
	p, err := bench.LoadPlan(c.String("plan"))
	if err != nil {
		return p, withCode(exitUsage, err)
	}
	if only := c.String("only"); only != "" {
		p.Experiments = strings.Split(only, ",")
	}
	if sizes := c.String("sizes"); sizes != "" {
		if p.Limits.Sizes, err = units.ParseSizes(sizes); err != nil {
			return p, usagef("--sizes: %w", err)
		}
		p.Limits.MaxBytes = 0
	}
	if c.IsSet("budget") {
		p.Budget = units.Nanos(c.Duration("budget"))
	}
	p.Limits.AllPairs = p.Limits.AllPairs || c.Bool("all-pairs")
	p.Isolate = p.Isolate || c.Bool("isolate")
	switch seed := c.Uint64("seed"); {
	case seed != 0:
		p.Seed = seed
	case c.IsSet("seed") || slices.Contains(bench.PlanNames(), c.String("plan")):
		var b [8]byte
		if _, err := rand.Read(b[:]); err != nil {
			return p, err
		}
		p.Seed = binary.LittleEndian.Uint64(b[:]) >> 11 // exact as a JSON number everywhere
	}
	if err := p.Validate(experiments.All); err != nil {
		return p, withCode(exitUsage, err)
	}
	return p, nil
}

// socketOf reads the flags that are options of the data connections.
func socketOf(c *cli.Context) (k bench.Socket, err error) {
	k.Congestion = c.String("congestion")
	if strings.ContainsAny(k.Congestion, " /\n") {
		return k, usagef("--congestion %q: want a name such as cubic", k.Congestion)
	}
	if size := c.String("send-buffer"); size != "" {
		if k.SndBuf, err = units.ParseBytes(size); err != nil || k.SndBuf <= 0 {
			return k, usagef("--send-buffer %q: want a size such as 128KiB", size)
		}
	}
	return k, nil
}

func scheduleOf(p bench.Plan, hosts int) (*bench.Schedule, error) {
	s, err := bench.NewSchedule(p, hosts, experiments.All)
	if errors.Is(err, bench.ErrPlan) || errors.Is(err, bench.ErrNothing) {
		return nil, withCode(exitUsage, err)
	}
	return s, err
}

// forecast is what the schedule would cost, as reports print it.
func forecast(s *bench.Schedule) (reports.Plan, error) {
	f := s.Estimate(bench.DefaultAssumption())
	out := reports.Plan{
		Name: s.Plan.Name, Hosts: s.Limits.Hosts, Seed: s.Plan.Seed, Rounds: f.MinRounds, Slots: f.MinRounds * f.Slots,
		MinutesLo: f.Min.Seconds() / 60, MinutesHi: f.Max.Seconds() / 60,
		BytesPerLink: f.LinkBytes * units.Bytes(f.MaxRounds),
	}
	for _, e := range experiments.All {
		p := s.Plan
		if len(p.Experiments) > 0 && !slices.Contains(p.Experiments, e.Name()) {
			continue
		}
		p.Experiments = []string{e.Name()}
		one, err := bench.NewSchedule(p, s.Limits.Hosts, experiments.All)
		if errors.Is(err, bench.ErrNothing) {
			continue
		}
		if err != nil {
			return out, err
		}
		g := one.Estimate(bench.DefaultAssumption())
		out.Experiments = append(out.Experiments, reports.PlanExperiment{
			Name: e.Name(), Points: g.Points, Slots: g.MinRounds * g.Slots, MinutesLo: g.Min.Seconds() / 60,
			MinutesHi: g.Max.Seconds() / 60, BytesPerLink: g.LinkBytes * units.Bytes(g.MaxRounds),
		})
	}
	return out, nil
}

func planCommand() *cli.Command {
	return &cli.Command{
		Name: "plan", Usage: "print what would run: rounds, minutes, bytes per link",
		Flags: join(whereFlags(), planFlags(), []cli.Flag{jsonFlag()}),
		Action: func(c *cli.Context) error {
			if err := noArgs(c); err != nil {
				return err
			}
			w, err := whereOf(c)
			if err != nil {
				return err
			}
			list, err := w.hosts(noteTo(c))
			if err != nil {
				return err
			}
			p, err := planOf(c)
			if err != nil {
				return err
			}
			if _, err := socketOf(c); err != nil {
				return err
			}
			s, err := scheduleOf(p, len(list))
			if err != nil {
				return err
			}
			f, err := forecast(s)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return reports.Result{Command: "plan", Plan: &f}.Encode(c.App.Writer)
			}
			return reports.PlanText(c.App.Writer, f, pageOptions(c, ""))
		},
	}
}
