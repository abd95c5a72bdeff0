package predict

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"calib/bench/pattern"
	"calib/fit/loggp"
	"calib/internal/lists"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
	"calib/predict/cost"
	"calib/predict/network"
	"calib/transport/sim"
)

// simulated is the calibrated simulation: a network of transport/sim that is told the parameters of a run. Patterns run
// on it as they run on the cluster, packet by packet, so that what closed forms leave out (send buffers, windows,
// ports, the staircase of packets) is in its predictions.
//
// All hosts are active when a pattern begins, as its L_cluster(m, p) has it: they have agreed on the start, or worked
// together before.
//
// It is told only what the run measured. What the run left open is taken as the run's own models take it, and said in
// Notes.
type simulated struct {
	*network.Network
	opt sim.Options
}

const (
	// recovery is after how many round trips TCP sends a lost packet again where others follow it (RFC 8985).
	recovery = 2
	// initialWindow is how many packets TCP sends before the first acknowledgement (RFC 6928).
	initialWindow = 10
	// maxTime bounds a simulated pattern: one that takes longer is cut off.
	maxTime = 1000 * units.Second
)

// simulation is a builder of the network that parameters describe (package network), changed. It returns
// network.ErrParameters, with what is missing, where they describe none.
func simulation(change func(*simulated) error) builder {
	return func(p *params.Params, _ loggp.Cube) (cost.Model, error) {
		n, err := network.Of(p)
		if err != nil {
			return nil, err
		}
		c := n.Calls
		cost := sim.Cost{Send: c.Send, SendByte: c.SendByte, Recv: c.Recv, RecvByte: c.RecvByte, Arrive: c.Arrive,
			ArriveByte: c.ArriveByte, Wake: c.Wake}
		w := &simulated{n, sim.Options{Hollow: true, Active: true, Deadline: maxTime, Cost: cost}}
		way := n.Spec.Host.A + n.Spec.Medium.A + n.Spec.L + n.Spec.Receive.A + c.Fixed()
		w.opt.RTO = max(units.Nanos(math.Round(recovery*2*way*1e9)), units.Microsecond)
		if n.SendBuffer > 0 {
			w.opt.SendBuffer = max(units.Bytes(n.SendBuffer), units.Bytes(n.Spec.MSS))
		}
		if err := change(w); err != nil {
			return nil, err
		}
		return w, nil
	}
}

// endless has ports that hold any number of packets. It fails where they do so anyway.
func (w *simulated) endless() error {
	if w.Spec.Buffer == 0 {
		return errors.New("sim says the same, as B_L is not known")
	}
	w.Spec.Buffer = 0
	return nil
}

// cold has no more than ten packets of a connection on their way at once, as TCP begins: on a new connection, with
// cubic after each pause (tcp_slow_start_after_idle), with bbr where so few fill the path. Two messages of one host
// then share its queue. It fails where hosts bundle packets: windows are then no matter.
func (w *simulated) cold() error {
	if w.Bundled {
		return errors.New("sim says the same, as hosts send many packets in one piece")
	}
	w.opt.Congestion = initialWindow
	return nil
}

// Time runs a pattern, and returns the time [s] from the common start to the end of the last rank: the median of the
// teams, where hosts are in groups and teams were measured.
func (w *simulated) Time(t *cost.Traffic) (float64, error) {
	teams := t.Teams
	if len(teams) == 0 || w.Alike() {
		teams = [][]int{lists.Upto(t.Hosts)}
	}
	var times []float64
	for _, team := range teams {
		v, err := w.time(t, team)
		if err != nil {
			return 0, err
		}
		times = append(times, v)
	}
	return stats.Median(times), nil
}

// time runs a pattern on the hosts of a team, by rank.
func (w *simulated) time(t *cost.Traffic, team []int) (float64, error) {
	p, hosts, m := t.Pattern, t.Hosts, t.Bytes
	extent, err := t.Extent() // not of a team for which the pattern is not defined
	if err != nil {
		return 0, err
	}
	if n := w.Unplaced(team); n > 0 {
		return 0, fmt.Errorf("%s in none of the run's groups, and what is between them and the others is not known: %w",
			units.Plural(n, "host"), cost.ErrNotPredicted)
	}
	spec := w.Spec
	spec.Hosts = slices.Max(team) + 1
	spec.Links, spec.Overrides = w.Among(spec.Hosts), w.Own(&spec, spec.Hosts, w.Beside)
	spec.L += w.PerHost * float64(hosts)
	ends := make([]units.Nanos, hosts)
	memory := make([]byte, extent.Largest) // one for all: messages are hollow
	err = sim.New(spec, w.opt).Run(team, func(rank int, g *sim.Group) error {
		began := g.Now()
		var own pattern.Scratch
		own.Use(memory, memory)
		err := p.On(g, m, &own)
		ends[rank] = g.Now() - began
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("%s of %d B on %d simulated hosts: %w", p.Name(), m, hosts, err)
	}
	return slices.Max(ends).Seconds(), nil
}
