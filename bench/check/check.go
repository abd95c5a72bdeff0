// Package check holds what is looked at before a plan is made: check, whether two hosts can be measured, probe, the way
// between them, and clock, the instrument.
package check

import (
	"context"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// Check passes a byte to and fro, then whole packets in both directions, then datagrams. Each rank records what it
// saw. What small packets pass and whole packets do not is a way whose packet size is wrong somewhere, and no error of
// the experiment: the line has the flag timeout. No model reads it.
type Check struct{}

const (
	trips = 5
	// fullBytes fill packets of 9,000 bytes, the largest in use, twice.
	fullBytes     = 18 * units.KiB
	datagrams     = 8
	datagramBytes = 1200 // passes wherever IPv6 does (RFC 8200: packets of 1,280 bytes)
	// openTime is how long the ends may take to show each other their datagram ports: proofs are sent again every 20
	// ms.
	openTime = 500 * units.Millisecond
	// patience is how much later than a message that was sent after them datagrams may come.
	patience = 100 * units.Millisecond
)

// router is a group that knows the way to a rank.
type router interface {
	Route(to int) (plane.Route, error)
}

// Name implements bench.Experiment.
func (Check) Name() string { return names.Check }

// Design implements bench.Experiment: one point.
func (Check) Design(l bench.Limits) []bench.Point {
	if l.Hosts < 2 {
		return nil
	}
	return []bench.Point{{names.FactorBytes: int64(fullBytes)}}
}

// Ranges implements bench.Experiment.
func (Check) Ranges() bench.Ranges {
	return bench.Ranges{names.FactorBytes: {Least: 1, Most: int64(64 * units.KiB)}}
}

// Teams implements bench.Experiment: every pair.
func (Check) Teams(l bench.Limits, _ bench.Point) []bench.Step { return bench.Colouring(l.Hosts) }

// Cost implements bench.Experiment.
func (Check) Cost(bench.Limits, bench.Point) bench.Cost {
	return bench.Cost{Bytes: 2*fullBytes + 2*datagrams*datagramBytes + 4*trips + 16, Messages: 4*trips + 2 + 2*datagrams + 2}
}

// Run implements bench.Experiment.
func (Check) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	if err := bench.CheckSize(g, 2); err != nil {
		return err
	}
	peer := 1 - g.Rank()
	b := bench.Batch{Phase: names.PhaseTrip, Point: p, Ranks: []int{g.Rank(), peer}, Aux: map[string]float64{}}
	var err error
	if b.NS, err = exchange(g, peer, r.Buffer(trips)); err != nil {
		return err
	}
	if way, ok := g.(router); ok {
		route, err := way.Route(peer)
		if err != nil {
			return err
		}
		b.Aux[names.AuxDevice], b.Aux[names.AuxPathMTU] = float64(route.Device), float64(route.MTU)
	}
	tcp, err := g.Counters(peer)
	if err != nil {
		return err
	}
	b.Aux[names.AuxMSS] = float64(tcp.MSS)
	if !whole(g, peer, r.Payload(p[names.FactorBytes])) {
		b.Flags = []string{dataset.FlagTimeout}
		r.Add(b)
		return nil
	}
	sent, received, err := datagramsBoth(g, peer, r.Payload(datagramBytes))
	if err != nil {
		return err
	}
	b.Aux[names.AuxSent], b.Aux[names.AuxReceived] = float64(sent), float64(received)
	r.Add(b)
	return nil
}

// exchange passes a byte to and fro, from each rank in turn, and returns half the round trips of this one.
func exchange(g bench.Group, peer int, ns []int64) ([]int64, error) {
	for rank := range 2 {
		do := answer
		if rank == g.Rank() {
			do = lead
		}
		if err := do(g, peer, ns); err != nil {
			return nil, err
		}
	}
	return ns, nil
}

func lead(g bench.Group, peer int, ns []int64) error {
	one := []byte{0}
	for i := range ns {
		start := g.Now()
		if err := g.Send(peer, one); err != nil {
			return err
		}
		if err := g.Recv(peer, one); err != nil {
			return err
		}
		ns[i] = bench.Elapsed(g, start) / 2
	}
	return nil
}

func answer(g bench.Group, peer int, ns []int64) error {
	one := []byte{0}
	for range ns {
		if err := g.Recv(peer, one); err != nil {
			return err
		}
		if err := g.Send(peer, one); err != nil {
			return err
		}
	}
	return nil
}

// whole passes b to and fro, and reports whether it came.
func whole(g bench.Group, peer int, b []byte) bool {
	if g.Rank() == 1 {
		return g.Recv(peer, b) == nil && g.Send(peer, b) == nil
	}
	return g.Send(peer, b) == nil && g.Recv(peer, b) == nil
}

// datagramsBoth sends datagrams while the peer does, and counts those that come. A way that lets none pass is no error:
// both ranks then see that datagrams do not open, and none is sent but the proofs.
func datagramsBoth(g bench.Group, peer int, b []byte) (sent, received int, err error) {
	if g.OpenDatagrams(openTime) != nil {
		return 0, 0, nil
	}
	for range datagrams {
		if g.SendDatagram(peer, b) != nil {
			break // the host's own firewall
		}
		sent++
	}
	// The number follows the last datagram, so that a slow peer is not taken for a loss.
	if err = bench.SendNumbers(g, peer, int64(sent)); err == nil {
		_, err = bench.RecvNumbers(g, peer, 1)
	}
	for end := g.Now() + patience; err == nil && received < datagrams; received++ {
		if d, err := g.RecvDatagram(b, end); err != nil || !d.Got {
			break
		}
	}
	return sent, received, err
}
