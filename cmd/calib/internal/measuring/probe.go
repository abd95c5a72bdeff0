package measuring

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/agent"
	"calib/bench"
	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/runfiles"
	"calib/internal/units"
	"calib/reports"
	"calib/run/coord"
	"calib/run/plan"
)

// look probes the network, unless the plan knows it, has one host, or was told not to. What it finds becomes part of the plan. A
// simulated network takes no time that a budget could bound.
func (j *job) look(ctx context.Context, cl *cluster) error {
	if j.detail.Plan.Limits.Path.Known() || j.detail.Unprobed || j.detail.Where.Sim != "" || len(cl.agents) < 2 {
		return nil
	}
	j.show.Phase("look at the network")
	p, err := coord.Probe(ctx, cl.agents, j.runID(), j.detail.Plan.Seed, j.detail.Plan.Budget, nil)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		unseen := supposed(err)
		j.detail.Plan.Limits.Path = unseen.Path
		j.note(fmt.Sprintf("%v: the plan is that for a network of %s", err, unseen.Name))
		return nil
	}
	j.detail.Probe, j.detail.Plan.Limits.Path = p, p.Path()
	if j.detail.Plan.Limits.Segment == 0 {
		j.detail.Plan.Limits.Segment = units.Bytes(p.Segment)
	}
	j.show.Note(probeText(p))
	return nil
}

// supposed is what a network is taken for after a look that failed: what did not end in time is slow. Of others nothing is known, and
// forecasts take them for a gigabit.
func supposed(err error) bench.Speed {
	if errors.Is(err, agent.ErrDeadline) {
		return bench.Speeds()[0]
	}
	return bench.Speed{Name: bench.Gigabit.Name}
}

// probeText says in one line what a probe found.
func probeText(p *coord.Probed) string {
	s := fmt.Sprintf("network: %s one way, %s a byte (%s), %s", units.Format(p.Latency.Seconds(), "s"), units.Format(p.PerByte*1e-9, "s"),
		units.Format(8e9/max(p.PerByte, 1e-3), "bit/s"), lossText(p.Loss))
	switch {
	case p.AtOnce == 0:
	case p.Together:
		s += fmt.Sprintf("; %s at once do not disturb each other, and are measured side by side", units.GroupedPlural(p.AtOnce, "pair"))
	default:
		s += fmt.Sprintf("; %s at once take %.2g times as long, and are measured one at a time", units.GroupedPlural(p.AtOnce, "pair"), p.Slower)
	}
	return s + fmt.Sprintf(" (a look of %s at %s)", units.Format(p.Took.Seconds(), "s"), units.GroupedPlural(p.Pairs, "pair"))
}

func lossText(share float64) string {
	if share == 0 {
		return "no loss"
	}
	return fmt.Sprintf("%.2g%% lost", 100*share)
}

// leftNotes say what the budget has no room for, one line each.
func leftNotes(s *plan.Schedule) []string {
	var out []string
	if s.Rounds < s.Plan.Rounds.Min {
		out = append(out, fmt.Sprintf("the budget has room for %s: intervals need %d", units.GroupedPlural(s.Rounds, "round"), s.Plan.Rounds.Min))
	}
	return append(out, reports.LeftText(forecast(s))...)
}

// dryRun starts the agents, probes, and prints the plan made of it.
func dryRun(c *cli.Context, name string) (err error) {
	j := emptyJob(c, "")
	if j.detail, err = detailOf(c); err != nil {
		return err
	}
	if err := j.findHosts(); err != nil {
		return err
	}
	cl, err := j.start(c.Context)
	if err != nil {
		return err
	}
	var s *plan.Schedule
	if err = j.claim(c.Context, cl); err == nil {
		err = j.checkup(c.Context, cl)
	}
	if err == nil {
		j.sayLost(cl)
		s, err = j.planned(c.Context, cl)
	}
	j.show.Done()
	if err = errors.Join(err, cl.close()); err != nil {
		return err
	}
	f := forecast(s)
	if j.detail.Probe != nil {
		f.Network = probeText(j.detail.Probe)
	}
	return command.AnswerResult(c, reports.Result{Command: name, Plan: &f}, nil, func(out io.Writer) error {
		return reports.PlanText(out, f, runfiles.PageOptions(c, ""))
	})
}

// planned looks at the network and makes the schedule. The agents are claimed.
func (j *job) planned(ctx context.Context, cl *cluster) (*plan.Schedule, error) {
	if copied := cl.copied(); copied != "" {
		j.show.Note(copied)
	}
	if err := j.look(ctx, cl); err != nil {
		return nil, err
	}
	s, err := scheduleOf(j.detail.Plan, len(cl.agents))
	if err != nil {
		return nil, err
	}
	return s, enoughBytes(s.Estimate(), cl.infos)
}

// runID is that of the run, or of a look without one.
func (j *job) runID() string {
	if j.dir != nil {
		return j.dir.Run().ID
	}
	if j.dry == "" {
		j.dry = "plan-" + strings.ToLower(rand.Text()[:8])
	}
	return j.dry
}
