package check

import (
	"calib/bench"
	"calib/bench/roundtrip"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Probe is a first look at the way between two hosts, from which a plan is made. It passes a byte to and fro (phase
// "trip", as pingpong), and then sends more and more until that takes long enough to tell the rate (phase "rate": the
// time of as many bytes as "bytes" says, to the answer). On any path it ends within seconds. At the point of 0 bytes it
// only asks whether the hosts reach each other. No model reads it: a plan does, before the run.
var Probe = &bench.Experiment{
	Name:   names.Probe,
	Points: func(bench.Limits) []bench.Point { return []bench.Point{{names.FactorBytes: 1}} },
	Ranges: bench.Ranges{names.FactorBytes: {Least: 0, Most: 1}},
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
			sendBursts(x, x.R.Payload(int64(chunk)))
		} else {
			answerBursts(x, x.R.Payload(int64(chunk)))
		}
	},
}

const (
	maxTrips, minTrips = 60, 3

	// A burst is doubled until it takes longEnough, or is as large as maxBytes.
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
	x.AddLossy(bench.Batch{Phase: names.PhaseTrip, Ranks: []int{x.Rank(), other}, NS: []int64{took}, TCP: &tcp}, fewAgain)
}

// sendBursts sends bursts, each announced by its size; the answer to a burst is a byte. A size of 0 ends it.
func sendBursts(x bench.Team, buf []byte) {
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
		if took = x.Elapsed(start); took >= int64(longEnough) || size >= maxBytes {
			break
		}
	}
	tcp := x.CountersSince(1, before)
	x.SendNumbers(1, 0)
	x.Add(bench.Batch{
		Phase: names.PhaseRate, Ranks: []int{0, 1}, NS: []int64{took}, TCP: tcp,
		Aux: map[string]float64{names.AuxBytes: float64(size), names.AuxMSS: float64(tcp.MSS)},
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
