// Package check holds what is looked at before a plan is made: check, whether two hosts can be measured, probe, the way
// between them, and clock, the instrument.
package check

import (
	"calib/bench"
	"calib/bench/roundtrip"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// Check finds out in a few milliseconds whether two hosts can be measured: whether a byte, whole packets and datagrams
// pass between them, and by which way. What small packets pass and whole packets do not is no error but a line with the
// flag timeout: the packet size is wrong somewhere. No model reads it.
var Check = &bench.Experiment{
	Name:   names.Check,
	Points: func(bench.Limits) []bench.Point { return []bench.Point{{names.FactorBytes: int64(fullBytes)}} },
	Ranges: bench.Ranges{names.FactorBytes: {Least: 1, Most: int64(64 * units.KiB)}},
	Steps:  func(l bench.Limits, _ bench.Point) []bench.Step { return bench.Colouring(l.Hosts) },
	Cost: func(bench.Limits, bench.Point) bench.Cost {
		return bench.Cost{Bytes: 2*fullBytes + 2*datagrams*datagramBytes + 4*checkTrips + 16}
	},
	Run: func(x bench.Team) {
		peer, ns := 1-x.Rank(), x.R.Buffer(checkTrips)
		trip := roundtrip.Whole(peer, []byte{0})
		for from := range 2 {
			for i := range ns {
				ns[i] += pass(x, trip, from)
			}
		}
		b := bench.Batch{Phase: names.PhaseTrip, Ranks: []int{x.Rank(), peer}, NS: ns, Aux: map[string]float64{}}
		if way, ok := x.Group.(router); ok {
			route := bench.Must(way.Route(peer))
			b.Aux[names.AuxDevice], b.Aux[names.AuxPathMTU] = float64(route.Device), float64(route.MTU)
		}
		full := roundtrip.Whole(peer, x.R.Payload(x.P[names.FactorBytes]))
		if bench.Caught(func() { pass(x, full, 0) }) == nil {
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

// pass passes a message to and fro, from one of the ranks, which gets half the round trip.
func pass(x bench.Team, m *roundtrip.Message, from int) int64 {
	if x.Rank() != from {
		m.Follow(x)
		return 0
	}
	return m.Lead(x, false).NS
}

// datagramsBoth sends datagrams while the peer does, and counts those that come. A way that lets none pass is no error:
// both ranks then see that datagrams do not open, and none is sent but the proofs.
func datagramsBoth(x bench.Team, peer int, b []byte) (sent, received int) {
	if x.OpenDatagrams(openTime) != nil {
		return 0, 0
	}
	for sent < datagrams && x.SendDatagram(peer, b) == nil { // the host's own firewall may refuse
		sent++
	}
	// The number follows the last datagram, so that a slow peer is not taken for a loss.
	x.SendNumbers(peer, int64(sent))
	x.RecvNumbers(peer, 1)
	for end := x.Now() + patience; received < datagrams; received++ {
		if d, err := x.RecvDatagram(b, end); err != nil || !d.Got {
			break
		}
	}
	return sent, received
}

// Probe is a first look at the way between two hosts, within seconds on any path: a byte to and fro, and then more and
// more bytes until that takes long enough to tell the rate. At the point of 0 bytes it only asks whether the hosts
// reach each other. A plan is made of it, and fits read which hosts and pairs are slow.
var Probe = &bench.Experiment{
	Name:   names.Probe,
	Points: func(bench.Limits) []bench.Point { return []bench.Point{{names.FactorBytes: 1}} },
	Ranges: bench.Ranges{names.FactorBytes: {Least: 0, Most: 1},
		names.FactorBurst: {Most: int64(longEnough / units.Microsecond)}},
	Cost: func(l bench.Limits, _ bench.Point) bench.Cost {
		return tripBounds.Cost(l).Add(bench.Cost{Bytes: 2*maxBytes + units.KiB}) // with an answer to each burst
	},
	Run: func(x bench.Team) {
		if x.P[names.FactorBytes] == 0 {
			reach(x)
			return
		}
		roundtrip.Record(x, roundtrip.Whole(1-x.Rank(), x.R.Payload(1)), tripBounds, names.PhaseTrip, nil)
		if x.Root() {
			enough := longEnough
			if us := x.P[names.FactorBurst]; us > 0 {
				enough = units.Nanos(us) * units.Microsecond
			}
			sendBursts(x, x.R.Payload(int64(chunk)), int64(enough))
		} else {
			answerBursts(x, x.R.Payload(int64(chunk)))
		}
	},
}

const (
	maxTrips, minTrips = 60, 3

	// A burst is doubled until it takes longEnough, or what the point says, or is as large as maxBytes.
	longEnough = 60 * units.Millisecond
	firstBytes = 16 * units.KiB
	maxBytes   = 16 * units.MiB
	// chunk is what one call sends or receives.
	chunk = 256 * units.KiB

	// fewAgain is the share of segments that may be sent again on a connection before the hosts count as reaching each
	// other only just: one of the handful that open it may be, where a host stood still.
	fewAgain = 0.25
)

var tripBounds = roundtrip.Bounds{Bytes: 1, Sends: 1, Most: maxTrips, Least: minTrips}

// reach passes a byte to the other rank, back, and there again. Each rank records how long its part took, with the
// counters of the whole connection.
func reach(x bench.Team) {
	other, b, start := 1-x.Rank(), []byte{0}, x.Now()
	for from := range 3 {
		if from%2 == x.Rank() {
			x.Send(other, b)
		} else {
			x.Recv(other, b)
		}
	}
	took, tcp := x.Elapsed(start), x.Counters(other)
	s := bench.Batch{Phase: names.PhaseTrip, Ranks: []int{x.Rank(), other}, NS: []int64{took}, TCP: &tcp}
	x.AddLossy(s, fewAgain)
}

// sendBursts sends bursts until one takes long enough [ns], each announced by its size; the answer to a burst is a
// byte. A size of 0 ends it.
func sendBursts(x bench.Team, buf []byte, enough int64) {
	ack, before := []byte{0}, x.Counters(1)
	var took int64
	size := firstBytes
	for ; ; size *= 2 {
		x.SendNumbers(1, int64(size))
		start := x.Now()
		for left := size; left > 0; left -= min(left, chunk) {
			x.Send(1, buf[:min(left, chunk)])
		}
		x.Recv(1, ack)
		if took = x.Elapsed(start); took >= enough || size >= maxBytes {
			break
		}
	}
	tcp := x.CountersSince(1, before)
	x.SendNumbers(1, 0)
	x.Add(bench.Batch{
		Phase: names.PhaseRate, Ranks: []int{0, 1}, NS: []int64{took}, TCP: tcp,
		Aux: map[string]float64{names.AuxBytes: float64(size)},
	})
}

// answerBursts is the other rank's part. It ends with the size 0, or when a receive reaches the group's deadline.
func answerBursts(x bench.Team, buf []byte) {
	for {
		size := units.Bytes(min(x.RecvNumbers(0, 1)[0], int64(maxBytes)))
		if size == 0 {
			return
		}
		for left := size; left > 0; left -= min(left, chunk) {
			x.Recv(0, buf[:min(left, chunk)])
		}
		x.Send(0, buf[:1])
	}
}

// Clock measures what reading a host's clock costs, how fine it is, and how far clocks are apart before and after a
// pause. The fit states it beside every result.
var Clock = &bench.Experiment{
	Name: names.Clock, Clocks: true, Alone: true,
	Points: func(l bench.Limits) []bench.Point { // one for hosts alone, and one for pairs where there are two
		return bench.Values(names.FactorHosts, []int{1, 2}[:min(l.Hosts, 2)]...)
	},
	Ranges: bench.Ranges{names.FactorHosts: bench.TeamSize},
	Size:   bench.AnySize,
	// Every host by itself, all in one step; pairs are host 0 with each other, in steps of one, because host 0 is in
	// all of them.
	Steps: func(l bench.Limits, p bench.Point) []bench.Step {
		if p[names.FactorHosts] == 1 {
			return bench.EachAlone(l.Hosts)
		}
		var star []bench.Step
		for h := 1; h < l.Hosts; h++ {
			star = append(star, bench.Step{{0, h}})
		}
		return star
	},
	Cost: func(l bench.Limits, p bench.Point) bench.Cost {
		if p[names.FactorHosts] == 1 {
			return bench.Cost{}
		}
		// The time of the offsets is counted with every slot of a synchronised experiment.
		return bench.Cost{Bytes: 2 * l.OnPath().SyncBytes(), Time: l.Effort.Time(pause, pause/5)}
	},
	Run: func(x bench.Team) { // it ends after a fixed number of readings, or after the pause
		if x.P[names.FactorHosts] != 1 {
			if x.Root() {
				x.WaitUntil(x.Now() + x.R.Time(pause, pause/5))
			}
			return
		}
		cost := x.R.Buffer(x.R.Reps(blocks, 5))
		readBlocks(x, cost)
		x.Add(bench.Batch{
			Phase: names.PhaseCost, Ranks: []int{0}, NS: cost, Aux: map[string]float64{names.AuxCalls: blockReadings},
		})
		step := x.R.Buffer(x.R.Reps(steps, 20))
		x.Add(bench.Batch{Phase: names.PhaseStep, Ranks: []int{0}, NS: step[:readSteps(x, step)]})
	},
}

const (
	blockReadings = 1000
	blocks        = 50        // at effort 1
	steps         = 200       // at effort 1
	maxReadings   = 1_000_000 // after which a clock is taken to stand still
	// pause separates the two measurements of an offset. Drift is known to 2 × bound / pause within one slot; a fit has
	// the rounds, which are further apart.
	pause = 50 * units.Millisecond
)

// readBlocks fills ns with the times of blockReadings readings each: from the end of one reading to the end of the
// blockReadings-th after it.
func readBlocks(x bench.Team, ns []int64) {
	for i := range ns {
		start := x.Now()
		for range blockReadings - 1 {
			x.Now()
		}
		ns[i] = x.Elapsed(start)
	}
}

// readSteps fills ns with differences between successive readings that differ, and returns how many there were: fewer
// than len(ns) only if the clock hardly moves.
func readSteps(x bench.Team, ns []int64) (n int) {
	last := x.Now()
	for reads := 1; n < len(ns) && reads < maxReadings; reads++ {
		now := x.Now()
		if now == last {
			continue
		}
		ns[n] = int64(now - last)
		n++
		last = now
	}
	return n
}
