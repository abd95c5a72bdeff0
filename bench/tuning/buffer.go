package tuning

import (
	"context"
	"fmt"

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
type Buffer struct{}

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

// Name implements bench.Experiment.
func (Buffer) Name() string { return names.Buffer }

// Design implements bench.Experiment: every message with every buffer.
func (Buffer) Design(l bench.Limits) []bench.Point {
	if l.Hosts < 2 {
		return nil
	}
	var out []bench.Point
	for _, m := range l.SizesOr(bufferMessages) {
		for _, s := range bench.Thinned(l, socketBuffers, socketBuffersQuick) {
			out = append(out, bench.Point{names.FactorBytes: int64(m), names.FactorBuffer: int64(s)})
		}
	}
	return out
}

// Ranges implements bench.Experiment.
func (Buffer) Ranges() bench.Ranges {
	return bench.Ranges{names.FactorBytes: bench.Sizes, names.FactorBuffer: {Least: 0, Most: bench.MaxSize}}
}

// Teams implements bench.Experiment.
func (Buffer) Teams(l bench.Limits, _ bench.Point) []bench.Step { return bench.Neighbours(l.Hosts) }

// Cost implements bench.Experiment. Fragments are counted as large as the smallest buffer that the kernel grants.
func (Buffer) Cost(l bench.Limits, p bench.Point) bench.Cost {
	one := bufferBounds(p, 1).Cost(l)
	both := bufferBounds(p, handshakeSends+1).Cost(l)
	both.Bytes += units.Bytes(both.Messages * handshakeBytes)
	return one.Add(both).Add(both)
}

func bufferBounds(p bench.Point, sends int64) roundtrip.Bounds {
	return roundtrip.Pings(p[names.FactorBytes], sends, bufferLeast)
}

// Run implements bench.Experiment. Each of its batches is within the group's deadline and at most one deadlock of
// maxStall.
func (Buffer) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	if err := bench.CheckSize(g, 2); err != nil {
		return err
	}
	s := units.Bytes(p[names.FactorBuffer])
	r.Charge(2 * int64(s)) // which the kernel takes
	return bench.Reopened(g, plane.Socket{SndBuf: s, RcvBuf: s}, func() error {
		x := buffers{bench.Team{G: g, R: r, P: p}}
		patience, err := x.oneWay()
		if err != nil {
			return fmt.Errorf("one way: %w", err)
		}
		fragment, err := x.fragment()
		if err != nil {
			return err
		}
		if err := x.atOnce(names.PhaseInterleaved, &bothWays{fragment: fragment}); err != nil {
			return fmt.Errorf("interleaved: %w", err)
		}
		if err := x.atOnce(names.PhaseBoth, &bothWays{patience: patience}); err != nil {
			return fmt.Errorf("both ways: %w", err)
		}
		return nil
	})
}

// buffers is one rank at one point.
type buffers struct{ bench.Team }

// oneWay measures the ping-pong and returns, at rank 0, after what time without progress an exchange is a deadlock.
func (x buffers) oneWay() (units.Nanos, error) {
	msg := roundtrip.Whole(1-x.G.Rank(), x.R.Payload(x.P[names.FactorBytes]))
	t, err := roundtrip.Run(x.G, x.R, msg, bufferBounds(x.P, 1))
	if err != nil {
		return 0, err
	}
	b := bench.Batch{Phase: names.PhaseOneWay, Aux: map[string]float64{}}
	if err := x.add(b, t); err != nil || !x.Root() {
		return 0, err
	}
	return min(max(stallTrips*units.Nanos(stats.Median(stats.Floats(t.NS))), minStall), maxStall), nil
}

// fragment is the largest that is no larger than this rank's buffers: what was asked for, or half of what the kernel
// granted, since it counts its own bookkeeping.
func (x buffers) fragment() (int, error) {
	if s := x.P[names.FactorBuffer]; s > 0 {
		return int(s), nil
	}
	c, err := x.G.Counters(1 - x.G.Rank())
	if err != nil {
		return 0, err
	}
	half := min(c.SndBuf, c.RcvBuf) / 2
	if half <= 0 {
		half = x.P[names.FactorBytes]
	}
	return int(half), nil
}

// atOnce measures one way of exchanging messages at once.
func (x buffers) atOnce(phase string, both *bothWays) error {
	both.peer = 1 - x.G.Rank()
	both.out, both.in = x.R.Payload(x.P[names.FactorBytes]), x.R.Payload(x.P[names.FactorBytes])
	t, err := roundtrip.Run(x.G, x.R, both, bufferBounds(x.P, handshakeSends+1))
	if err != nil {
		return err
	}
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
	return x.add(b, t)
}

// add records a phase with the buffers of both ranks, on rank 0; rank 1 tells its own.
func (x buffers) add(b bench.Batch, t roundtrip.Result) error {
	if !x.Root() {
		c, err := x.G.Counters(0)
		if err != nil {
			return err
		}
		return bench.SendNumbers(x.G, 0, c.SndBuf, c.RcvBuf)
	}
	n, err := bench.RecvNumbers(x.G, 1, 2)
	if err != nil {
		return err
	}
	b.Aux[names.AuxPeerSndBuf], b.Aux[names.AuxPeerRcvBuf] = float64(n[0]), float64(n[1])
	b.Point, b.Ranks, b.NS, b.TCP = x.P, []int{0, 1}, t.NS, t.TCP
	x.R.Add(b)
	return nil
}
