// Package world is the calibrated simulation: a network of transport/sim that is told the parameters of a run. Patterns run on it as
// they run on the cluster, packet by packet, so that what closed forms leave out (send buffers, windows, ports, the staircase of
// packets) is in its predictions.
//
// It is told only what the run measured. What the run left open is taken as the run's own models take it, and said in Notes.
package world

import (
	"errors"
	"fmt"
	"slices"

	"calib/bench/pattern"
	"calib/fit/params"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

// ErrParameters reports a run without the parameters that a network can be built of.
var ErrParameters = errors.New("parameters are missing")

// World is a network that is told a run's parameters.
type World struct {
	spec netspec.Spec
	opt  sim.Options
	// perHost is what a packet's way takes longer for each host of the team [s]: l1 of L(m, p), in which p are those that take part.
	perHost float64
	// From names the parameters and functions that it was told, Notes what it had to assume.
	From, Notes []string
}

// New builds the network of p, by the best that p holds:
//
//   - a medium that all hosts share, from a, b, a_c and b_c of the hyperbolic model, where that is what the network behaves like;
//   - a switch, from O_s, g_s, g_r, L(m, p), O_r and U_r of the cluster model;
//   - hosts alone, from the time and the rate of messages between two of them, else.
//
// It returns ErrParameters, with what is missing, where p has none of the three.
func New(p *params.Params) (*World, error) {
	var errs []error
	first := &reader{p: p}
	kind := first.kind()
	for _, build := range []func(*reader) (*World, error){shared, switched, pairs} {
		w, err := build(&reader{p: p, is: kind, notes: slices.Clone(first.notes)})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if w == nil {
			continue
		}
		w.spec.Hosts = 2
		if err := w.spec.Validate(); err != nil {
			return nil, fmt.Errorf("simulation of the parameters %v: %w", w.From, err)
		}
		return w, nil
	}
	return nil, errors.Join(errs...)
}

// WithoutBuffer returns a copy of w whose ports hold any number of packets. It returns ErrParameters where those of w do, too.
func (w *World) WithoutBuffer() (*World, error) {
	if w.spec.Buffer == 0 {
		return nil, fmt.Errorf("%w: B_L is not known, so that sim says the same", ErrParameters)
	}
	c := *w
	c.spec.Buffer = 0
	return &c, nil
}

// Name is "sim".
func (w *World) Name() string { return "sim" }

// mostTime bounds a simulated pattern: one that takes longer is cut off.
const mostTime = 1000 * units.Second

// Time runs a pattern with m bytes on that many hosts, and returns the time [s] from the common start to the end of the last rank.
func (w *World) Time(p pattern.Pattern, hosts, m int) (float64, error) {
	if !p.Defined(hosts) {
		return 0, fmt.Errorf("%s is not defined for %d hosts", p.Name(), hosts)
	}
	spec := w.spec
	spec.Hosts = hosts
	spec.L += w.perHost * float64(hosts)
	opt := w.opt
	opt.Deadline = mostTime
	team := make([]int, hosts)
	for i := range team {
		team[i] = i
	}
	ends := make([]units.Nanos, hosts)
	err := sim.New(spec, opt).Run(team, func(rank int, g *sim.Group) error {
		began := g.Now()
		err := p.Run(pattern.On(g), m, &pattern.Scratch{})
		ends[rank] = g.Now() - began
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("%s of %d bytes on %d simulated hosts: %w", p.Name(), m, hosts, err)
	}
	last := units.Nanos(0)
	for _, t := range ends {
		last = max(last, t)
	}
	return last.Seconds(), nil
}
