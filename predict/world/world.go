// Package world is the calibrated simulation: a network of transport/sim that is told the parameters of a run. Patterns
// run on it as they run on the cluster, packet by packet, so that what closed forms leave out (send buffers, windows,
// ports, the staircase of packets) is in its predictions.
//
// All hosts are active when a pattern begins, as its L(m, p) has it: they have agreed on the start, or worked together
// before.
//
// It is told only what the run measured. What the run left open is taken as the run's own models take it, and said in
// Notes.
package world

import (
	"fmt"
	"math"

	"calib/bench/pattern"
	"calib/internal/netspec"
	"calib/internal/params"
	"calib/internal/units"
	"calib/predict/network"
	"calib/transport/sim"
)

// ErrParameters reports a run without the parameters that a network can be built of.
var ErrParameters = network.ErrParameters

// World is a network that is told a run's parameters.
type World struct {
	spec netspec.Spec
	opt  sim.Options
	// perHost is what a packet's way takes longer for each host of the team [s].
	perHost float64
	bundled bool // messages pass in pieces of many packets
	// From names the parameters and functions that it was told, Notes what it had to assume.
	From, Notes []string
}

// recovery is after how many round trips TCP sends a lost packet again where others follow it (RFC 8985).
const recovery = 2

// New builds the network that p describes (package network). It returns ErrParameters, with what is missing, where p
// describes none.
func New(p *params.Params) (*World, error) {
	n, err := network.Of(p)
	if err != nil {
		return nil, err
	}
	c := n.Calls
	w := &World{spec: n.Spec, perHost: n.PerHost, bundled: n.Bundled, From: n.From, Notes: n.Notes, opt: sim.Options{Hollow: true, Active: true, Cost: sim.Cost{Send: c.Send, SendByte: c.SendByte,
		Recv: c.Recv, RecvByte: c.RecvByte, Arrive: c.Arrive, ArriveByte: c.ArriveByte, Wake: c.Wake}}}
	way := n.Spec.Host.A + n.Spec.Medium.A + n.Spec.L + n.Spec.Receive.A + c.Fixed()
	w.opt.RTO = max(units.Nanos(math.Round(recovery*2*way*1e9)), units.Microsecond)
	if n.SendBuffer > 0 {
		// Linux counts its own bookkeeping, which is as much as the payload of full packets or more.
		w.opt.SendBuffer = max(units.Bytes(n.SendBuffer/2), units.Bytes(n.Spec.MSS))
	}
	return w, nil
}

// WithoutBuffer returns a copy of w whose ports hold any number of packets. It returns ErrParameters where those of w
// do, too.
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

// Cold returns a copy of w whose connections have no more than ten packets on their way at once, as TCP begins: on a
// new connection, with cubic after each pause (tcp_slow_start_after_idle), with bbr where so few fill the path. Two
// messages of one host then share its queue. It returns ErrParameters where hosts bundle packets: windows are then no
// matter.
func (w *World) Cold() (*World, error) {
	if w.bundled {
		return nil, fmt.Errorf("%w: messages pass in pieces of many packets, so that sim says the same", ErrParameters)
	}
	c := *w
	c.opt.Congestion = initialWindow
	return &c, nil
}

// Name is "sim".
func (w *World) Name() string { return "sim" }

// Packet is the payload of a packet [B].
func (w *World) Packet() int { return max(w.spec.MSS, 1) }

// maxTime bounds a simulated pattern: one that takes longer is cut off.
const maxTime = 1000 * units.Second

// Time runs a pattern with m bytes on that many hosts, and returns the time [s] from the common start to the end of the
// last rank.
func (w *World) Time(p pattern.Pattern, hosts, m int) (float64, error) {
	if !p.Defined(hosts) {
		return 0, fmt.Errorf("%s is not defined for %d hosts", p.Name(), hosts)
	}
	spec := w.spec
	spec.Hosts = hosts
	spec.L += w.perHost * float64(hosts)
	opt := w.opt
	opt.Deadline = maxTime
	team := make([]int, hosts)
	for i := range team {
		team[i] = i
	}
	ends := make([]units.Nanos, hosts)
	var memory pattern.Scratch // one for all: messages are hollow, and a simulation lets one rank run at a time
	err := sim.New(spec, opt).Run(team, func(rank int, g *sim.Group) error {
		began := g.Now()
		var own pattern.Scratch
		own.Borrow(&memory)
		err := p.Run(pattern.On(g), m, &own)
		ends[rank] = g.Now() - began
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("%s of %d B on %d simulated hosts: %w", p.Name(), m, hosts, err)
	}
	last := units.Nanos(0)
	for _, t := range ends {
		last = max(last, t)
	}
	return last.Seconds(), nil
}
