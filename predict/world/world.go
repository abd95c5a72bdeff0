// Package world is the calibrated simulation: a network of transport/sim that is told the parameters of a run. Patterns run on it as
// they run on the cluster, packet by packet, so that what closed forms leave out (send buffers, windows, ports, the staircase of
// packets) is in its predictions.
//
// It is told only what the run measured. What the run left open is taken as the run's own models take it, and said in Notes.
package world

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"calib/bench/pattern"
	"calib/fit/params"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/predict/cost"
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

// mostMisfit is by how much a network may miss the messages between two hosts that the run measured (cost.Misfit): it is the bar of
// the simulation for patterns.
const mostMisfit = 0.1

// New builds the network of p, by the first of these that p has the parameters of and that misses the measured messages between two
// hosts by no more than a tenth; by the one that misses them least, where all miss them by more:
//
//   - a medium that all hosts share, from a, b, a_c and b_c of the hyperbolic model, where that is what the network behaves like;
//   - a switch, from O_s, g_s, g_r, L(m, p), O_r and U_r of the cluster model;
//   - hosts alone, from the time and the rate of messages between two of them.
//
// It returns ErrParameters, with what is missing, where p has none of the three.
func New(p *params.Params) (*World, error) {
	var errs []error
	var best *World
	least := math.Inf(1)
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
		if miss := cost.Misfit(w, p); miss < least {
			best, least = w, miss
		}
		if least <= mostMisfit {
			return best, nil
		}
	}
	if best == nil {
		return nil, errors.Join(errs...)
	}
	return best, nil
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

// initialWindow is how many packets TCP sends before the first acknowledgement (RFC 6928).
const initialWindow = 10

// Cold returns a copy of w whose connections have no more than ten packets on their way at once, as TCP begins: on a new connection,
// with cubic after each pause (tcp_slow_start_after_idle), with bbr where so few fill the path. Two messages of one host then share its
// queue. It returns ErrParameters where hosts bundle packets: windows are then no matter.
func (w *World) Cold() (*World, error) {
	if w.opt.Congestion > 0 || w.spec.MSS >= bundle {
		return nil, fmt.Errorf("%w: messages pass in pieces of many packets, so that sim says the same", ErrParameters)
	}
	c := *w
	c.opt.Congestion = initialWindow
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
