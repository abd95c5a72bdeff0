package tuning

import (
	"calib/bench"
	"calib/bench/roundtrip"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/stats"
	"calib/internal/units"
)

// Buffer measures what socket buffers do to messages of M bytes (sections 3.1.1 and 3.1.3 of the latency-hiding paper,
// figure 20), in three phases on one pair of connections whose buffers were asked for:
//
//   - oneway: a ping-pong, half the round trip;
//   - interleaved: both send M at once in fragments no larger than the buffer, and read what is there before they write;
//     this always ends;
//   - both: both send M at once, then receive. Where M fits into neither rank's buffers both wait for the other to read.
//     That deadlock is detected, recorded once, and ended by going on as interleaved.
//
// The two exchanges at once are timed by rank 0, from their common start until it has sent and received all.
var Buffer = &bench.Experiment{
	Name: names.Buffer,
	Points: func(l bench.Limits) []bench.Point { // every message with every buffer
		var out []bench.Point
		for _, m := range l.SizesOr(bufferMessages) {
			for _, s := range bench.Thinned(l, socketBuffers, socketBuffersQuick) {
				out = append(out, bench.Point{names.FactorBytes: int64(m), names.FactorBuffer: int64(s)})
			}
		}
		return out
	},
	Ranges: bench.Ranges{names.FactorBytes: bench.Sizes, names.FactorBuffer: {Least: 0, Most: bench.MaxSize}},
	// Fragments are counted as large as the smallest buffer that the kernel grants.
	Cost: func(l bench.Limits, p bench.Point) bench.Cost {
		one := bufferBounds(p, 1).Cost(l)
		b := bufferBounds(p, handshakeSends+1)
		both := b.Cost(l)
		both.Bytes += units.Bytes(b.Messages(l.Effort) * handshakeBytes)
		return one.Add(both).Add(both)
	},
	// Each batch is within the group's deadline and at most one deadlock of maxStall.
	Run: func(x bench.Team) {
		s := units.Bytes(x.P[names.FactorBuffer])
		x.R.Charge(2 * int64(s)) // which the kernel takes
		x.Reopened(plane.Socket{SndBuf: s, RcvBuf: s}, func() {
			var patience units.Nanos
			bench.During("one way", func() { patience = oneWay(x) })
			fragment := fragmentOf(x)
			bench.During("interleaved", func() { atOnce(x, names.PhaseInterleaved, &bothWays{fragment: fragment}) })
			bench.During("both ways", func() { atOnce(x, names.PhaseBoth, &bothWays{patience: patience}) })
		})
	},
}

const (
	bufferLeast = 3 // repetitions

	// A deadlock is when the transport takes nothing for stallTrips one-way times. That is longer than a retransmission
	// time-out, which is no deadlock.
	stallTrips = 20
	minStall   = 250 * units.Millisecond
	maxStall   = units.Second
)

// bufferMessages are the M of a design, socketBuffers the sizes asked of the kernel; 0 leaves them to it.
var (
	bufferMessages = []units.Bytes{units.KiB, 8 * units.KiB, 64 * units.KiB, 512 * units.KiB}
	socketBuffers  = []units.Bytes{
		0, 4 * units.KiB, 16 * units.KiB, 64 * units.KiB, 256 * units.KiB, units.MiB, 4 * units.MiB,
	}
	socketBuffersQuick = []units.Bytes{0, 4 * units.KiB, 64 * units.KiB, units.MiB}
)

func bufferBounds(p bench.Point, sends int) roundtrip.Bounds {
	return roundtrip.Bounds{Bytes: units.Bytes(p[names.FactorBytes]), Sends: sends, Least: bufferLeast}
}

// oneWay measures the ping-pong and returns, at rank 0, after what time without progress an exchange is a deadlock.
func oneWay(x bench.Team) units.Nanos {
	t := roundtrip.Run(x, roundtrip.Whole(1-x.Rank(), x.R.Payload(x.P[names.FactorBytes])), bufferBounds(x.P, 1))
	addWithBuffers(x, bench.Batch{Phase: names.PhaseOneWay, Aux: map[string]float64{}}, t)
	if !x.Root() {
		return 0
	}
	return min(max(stallTrips*units.Nanos(stats.Median(stats.Floats(t.NS))), minStall), maxStall)
}

// fragmentOf is the largest fragment that is no larger than this rank's buffers: what was asked for, or half of what
// the kernel granted, since it counts its own bookkeeping.
func fragmentOf(x bench.Team) int {
	if s := x.P[names.FactorBuffer]; s > 0 {
		return int(s)
	}
	c := x.Counters(1 - x.Rank())
	if half := min(c.SndBuf, c.RcvBuf) / 2; half > 0 {
		return int(half)
	}
	return int(x.P[names.FactorBytes])
}

// atOnce measures one way of exchanging messages at once.
func atOnce(x bench.Team, phase string, both *bothWays) {
	both.peer = 1 - x.Rank()
	both.out, both.in = x.R.Payload(x.P[names.FactorBytes]), x.R.Payload(x.P[names.FactorBytes])
	t := roundtrip.Run(x, both, bufferBounds(x.P, handshakeSends+1))
	b := bench.Batch{Phase: phase, Aux: map[string]float64{}}
	if both.fragment > 0 {
		b.Aux[names.AuxFragment] = float64(both.fragment)
	}
	if t.Final {
		b.Aux[names.AuxCompleted] = float64(len(t.NS) - 1)
		b.Aux[names.AuxSentBeforeStall] = float64(both.stalled.sent)
		t.NS = t.NS[len(t.NS)-1:]
		b.Flags = []string{dataset.FlagDeadlock}
	}
	addWithBuffers(x, b, t)
}

// addWithBuffers records a phase with the buffers of both ranks, on rank 0; rank 1 tells its own.
func addWithBuffers(x bench.Team, b bench.Batch, t roundtrip.Result) {
	if !x.Root() {
		c := x.Counters(0)
		x.SendNumbers(0, c.SndBuf, c.RcvBuf)
		return
	}
	n := x.RecvNumbers(1, 2)
	b.Aux[names.AuxPeerSndBuf], b.Aux[names.AuxPeerRcvBuf] = float64(n[0]), float64(n[1])
	b.Point, b.Ranks, b.NS, b.TCP = x.P, []int{0, 1}, t.NS, t.TCP
	x.Add(b)
}
