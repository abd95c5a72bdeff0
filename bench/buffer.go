package bench

import (
	"context"
	"fmt"

	"calib/internal/dataset"
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
//   - both: both send M at once, then receive. Where M fits neither here nor there both wait for the other to read. That is
//     seen, recorded once as a deadlock, and broken up by going on as interleaved.
//
// The two exchanges at once are timed by rank 0, from their common start until it has sent and received all.
type Buffer struct{}

const (
	bufferLeast = 3 // repetitions

	// patienceTrips is how many one-way times nothing may be taken before that is a deadlock; it is more than a
	// retransmission time-out, which is no deadlock.
	patienceTrips = 20
	minPatience   = 250 * units.Millisecond
	maxPatience   = units.Second
)

// bufferMessages are the M of a design, socketBuffers the sizes asked of the kernel; 0 leaves them to it.
var (
	bufferMessages = []units.Bytes{units.KiB, 8 * units.KiB, 64 * units.KiB, 512 * units.KiB}
	socketBuffers  = []units.Bytes{
		0, 4 * units.KiB, 16 * units.KiB, 64 * units.KiB, 256 * units.KiB, units.MiB, 4 * units.MiB,
	}
	socketBuffersQuick = []units.Bytes{0, 4 * units.KiB, 64 * units.KiB, units.MiB}
)

// Name implements Experiment.
func (Buffer) Name() string { return "buffer" }

// Design implements Experiment: every message with every buffer.
func (Buffer) Design(l Limits) []Point {
	if l.Hosts < 2 {
		return nil
	}
	buffers := socketBuffers
	if l.thin() {
		buffers = socketBuffersQuick
	}
	var out []Point
	for _, m := range l.sizes(bufferMessages) {
		for _, s := range buffers {
			out = append(out, Point{"bytes": int64(m), "buffer": int64(s)})
		}
	}
	return out
}

// Teams implements Experiment.
func (Buffer) Teams(l Limits, _ Point) []Step { return neighbours(l.Hosts) }

// Cost implements Experiment. Fragments are counted as what the kernel grants at least.
func (Buffer) Cost(l Limits, p Point) Cost {
	one := bufferDose(p["bytes"], 1).cost(l.Effort)
	both := bufferDose(p["bytes"], handshakeSends+1).cost(l.Effort)
	both.Bytes += units.Bytes(both.Messages * handshakeBytes)
	return one.add(both).add(both)
}

func bufferDose(bytes int64, sends int) dose {
	return dose{bytes: units.Bytes(bytes), sends: sends, most: pingReps, least: bufferLeast}
}

// Run implements Experiment. It ends with the batches, each of which is within the group's deadline and at most one
// deadlock of maxPatience.
func (Buffer) Run(ctx context.Context, g Group, p Point, r *Recorder) error {
	if err := checkPair(ctx, g, "buffer"); err != nil {
		return err
	}
	s := units.Bytes(p["buffer"])
	return reopened(g, plane.Socket{SndBuf: s, RcvBuf: s}, func() error {
		x := bufferRun{g, r, p}
		patience, err := x.oneway()
		if err != nil {
			return fmt.Errorf("one way: %w", err)
		}
		fragment, err := x.fragment()
		if err != nil {
			return err
		}
		if err := x.atOnce("interleaved", &bothWays{fragment: fragment}); err != nil {
			return fmt.Errorf("interleaved: %w", err)
		}
		if err := x.atOnce("both", &bothWays{patience: patience}); err != nil {
			return fmt.Errorf("both ways: %w", err)
		}
		return nil
	})
}

// bufferRun is one rank at one point.
type bufferRun struct {
	g Group
	r *Recorder
	p Point
}

// oneway measures the ping-pong and returns rank 0's patience.
func (x bufferRun) oneway() (units.Nanos, error) {
	msg := wholeMessage(1-x.g.Rank(), x.r.payload(x.p["bytes"]))
	t, err := rally{x.g, x.r, msg, bufferDose(x.p["bytes"], 1)}.run()
	if err != nil {
		return 0, err
	}
	if err := x.add("oneway", t, nil, nil); err != nil || x.g.Rank() == 1 {
		return 0, err
	}
	trips := make([]float64, len(t.ns))
	for i, ns := range t.ns {
		trips[i] = float64(ns)
	}
	return min(max(patienceTrips*units.Nanos(stats.Median(trips)), minPatience), maxPatience), nil
}

// fragment is the largest that is no larger than this rank's buffers: what was asked for, or half of what the kernel
// granted, since it counts its own bookkeeping.
func (x bufferRun) fragment() (int, error) {
	if s := x.p["buffer"]; s > 0 {
		return int(s), nil
	}
	c, err := x.g.Counters(1 - x.g.Rank())
	if err != nil {
		return 0, err
	}
	half := min(c.SndBuf, c.RcvBuf) / 2
	if half <= 0 {
		half = x.p["bytes"]
	}
	return int(half), nil
}

// atOnce measures one way of exchanging messages at once.
func (x bufferRun) atOnce(phase string, both *bothWays) error {
	both.peer = 1 - x.g.Rank()
	both.out, both.in = x.r.payload(x.p["bytes"]), x.r.payload(x.p["bytes"])
	t, err := rally{x.g, x.r, both, bufferDose(x.p["bytes"], handshakeSends+1)}.run()
	if err != nil {
		return err
	}
	aux := map[string]float64{}
	var flags []string
	if both.fragment > 0 {
		aux["fragment_bytes"] = float64(both.fragment)
	}
	if t.over {
		aux["completed"] = float64(len(t.ns) - 1)
		aux["sent_before_stall"] = float64(both.stalled.sent)
		t.ns = t.ns[len(t.ns)-1:]
		flags = []string{dataset.FlagDeadlock}
	}
	return x.add(phase, t, aux, flags)
}

// add records a phase with the buffers of both ranks, on rank 0; rank 1 tells its own.
func (x bufferRun) add(phase string, t score, aux map[string]float64, flags []string) error {
	if x.g.Rank() == 1 {
		c, err := x.g.Counters(0)
		if err != nil {
			return err
		}
		return sendWords(x.g, 0, c.SndBuf, c.RcvBuf)
	}
	w, err := recvWords(x.g, 1, 2)
	if err != nil {
		return err
	}
	if aux == nil {
		aux = map[string]float64{}
	}
	aux["peer_sndbuf"], aux["peer_rcvbuf"] = float64(w[0]), float64(w[1])
	x.r.Add(Batch{Phase: phase, Point: x.p, Ranks: []int{0, 1}, NS: t.ns, TCP: t.tcp, Flags: flags, Aux: aux})
	return nil
}
