// Package simagent gives a simulated network the face of agents, so that a whole run, from schedule to parameters, can
// be tried without a host: a network of known truth in virtual time, or a thousand hosts on a laptop.
package simagent

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"calib/bench"
	"calib/bench/experiments"
	"calib/internal/dataset"
	"calib/internal/netspec"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/transport/sim"
)

// Agent is one simulated host. All agents of a network share it.
type Agent struct {
	net  *sim.Net
	name string
	// segment is the payload of the network's packets [B].
	segment int
}

// readingCost is what one reading of a simulated clock takes. Without it the clock experiment would have nothing to
// see.
const readingCost = 25 * units.Nanos(1)

func New(spec netspec.Spec, opt sim.Options) []*Agent {
	opt.Cost.Now = cmp.Or(opt.Cost.Now, readingCost)
	net := sim.New(spec, opt)
	agents := make([]*Agent, spec.Hosts)
	for i := range agents {
		agents[i] = &Agent{net, fmt.Sprintf("sim-h%d", i), spec.MSS}
	}
	return agents
}

func (a *Agent) Hello(context.Context, bool) (dataset.Host, error) {
	env := map[string]string{"transport": "simulated", dataset.FactSegment: strconv.Itoa(a.segment)}
	return dataset.Host{Name: a.name, Env: env}, nil
}

// Prepare implements coord.Agent. A simulated host needs no tickets.
func (a *Agent) Prepare(context.Context, plane.Session) error { return nil }

// Run implements coord.Agent: it meets the other ranks of the team and plays the task in virtual time.
func (a *Agent) Run(ctx context.Context, t bench.Task) ([]dataset.Sample, error) {
	e, ok := experiments.Lookup(t.Exp)
	if !ok {
		return nil, fmt.Errorf("%s: unknown experiment %q", a.name, t.Exp)
	}
	// The key seeds the noise: without the run's name in it, a schedule gives the same times in every run.
	g, err := a.net.Group(ctx, fmt.Sprintf("%d/%v", t.Slot, t.Team), t.Team, t.Rank)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.name, err)
	}
	defer context.AfterFunc(ctx, func() { _ = g.Close() })() // closing never fails
	defer g.Close()
	samples, err := bench.Perform(ctx, e, g, t, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.name, err)
	}
	return samples, nil
}

func (a *Agent) Close() error { return nil }
