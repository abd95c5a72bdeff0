// Package check holds what is looked at before a plan is made: check, whether two hosts can be measured, probe, the way
// between them, and clock, the instrument.
package check

import (
	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// Check finds out in a few milliseconds whether two hosts can be measured: what passes between them, and by which way.
// It passes a byte to and fro, then whole packets in both directions, then datagrams. Each rank records what it saw.
// What small packets pass and whole packets do not is a way whose packet size is wrong somewhere, and no error of the
// experiment: the line has the flag timeout. No model reads it.
var Check = &bench.Experiment{
	Name:   names.Check,
	Points: func(bench.Limits) []bench.Point { return []bench.Point{{names.FactorBytes: int64(fullBytes)}} },
	Ranges: bench.Ranges{names.FactorBytes: {Least: 1, Most: int64(64 * units.KiB)}},
	Steps:  func(l bench.Limits, _ bench.Point) []bench.Step { return bench.Colouring(l.Hosts) },
	Cost: func(bench.Limits, bench.Point) bench.Cost {
		return bench.Cost{Bytes: 2*fullBytes + 2*datagrams*datagramBytes + 4*checkTrips + 16}
	},
	Run: func(x bench.Team) {
		peer := 1 - x.Rank()
		b := bench.Batch{
			Phase: names.PhaseTrip, Ranks: []int{x.Rank(), peer}, NS: passBytes(x, peer), Aux: map[string]float64{},
		}
		if way, ok := x.Group.(router); ok {
			route := bench.Must(way.Route(peer))
			b.Aux[names.AuxDevice], b.Aux[names.AuxPathMTU] = float64(route.Device), float64(route.MTU)
		}
		tcp := x.Counters(peer)
		b.Aux[names.AuxMSS] = float64(tcp.MSS)
		if whole(x, peer, x.R.Payload(x.P[names.FactorBytes])) {
			sent, received := datagramsBoth(x, peer, x.R.Payload(datagramBytes))
			b.Aux[names.AuxSent], b.Aux[names.AuxReceived] = float64(sent), float64(received)
		} else {
			b.Flags = []string{dataset.FlagTimeout}
		}
		x.Add(b)
	},
}

const (
	checkTrips = 5
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

// passBytes passes a byte to and fro, from each rank in turn, and returns half the round trips of this one.
func passBytes(x bench.Team, peer int) []int64 {
	ns, one := x.R.Buffer(checkTrips), []byte{0}
	for rank := range 2 {
		for i := range ns {
			if rank != x.Rank() {
				x.Recv(peer, one)
				x.Send(peer, one)
				continue
			}
			start := x.Now()
			x.Send(peer, one)
			x.Recv(peer, one)
			ns[i] = x.Elapsed(start) / 2
		}
	}
	return ns
}

// whole passes b to and fro, and reports whether it came.
func whole(x bench.Team, peer int, b []byte) bool {
	return bench.Caught(func() {
		if x.Root() {
			x.Send(peer, b)
		}
		x.Recv(peer, b)
		if !x.Root() {
			x.Send(peer, b)
		}
	}) == nil
}

// datagramsBoth sends datagrams while the peer does, and counts those that come. A way that lets none pass is no error:
// both ranks then see that datagrams do not open, and none is sent but the proofs.
func datagramsBoth(x bench.Team, peer int, b []byte) (sent, received int) {
	if x.OpenDatagrams(openTime) != nil {
		return 0, 0
	}
	for sent < datagrams && x.Group.SendDatagram(peer, b) == nil { // the host's own firewall may refuse
		sent++
	}
	// The number follows the last datagram, so that a slow peer is not taken for a loss.
	x.SendNumbers(peer, int64(sent))
	x.RecvNumbers(peer, 1)
	for end := x.Now() + patience; received < datagrams; received++ {
		if d, err := x.Group.RecvDatagram(b, end); err != nil || !d.Got {
			break
		}
	}
	return sent, received
}
