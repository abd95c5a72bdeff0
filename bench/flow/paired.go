package flow

import (
	"context"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// Paired is that of Stoica, Sultan and Keyes 1994, section 4: host 2i−1 sends to host 2i for i = 1..n, all starting
// together, for each n up to half the hosts. From how the time grows with n the fit separates the hosts' blocks (a, b)
// from the network's (a_c, b_c) by eq. 16-17.
//
// A burst is one message a pair, timed from the sender's own start to the delivery at the receiver; the fit takes the
// last delivery of the n (rule 3 bounds every message by the last). A stream is bytes in large writes, counted at the
// receivers while all pairs are busy: time per byte. Beside that stand messages of one size back to back, and streams
// of one pair over several connections. All run in both directions, so that a clock offset cancels in the mean.
type Paired struct{}

// Name implements bench.Experiment.
func (Paired) Name() string { return names.Paired }

// Synchronised implements bench.Synchronised: a burst is a one-way time.
func (Paired) Synchronised() {}

// Stamped implements bench.Stamped.
func (Paired) Stamped() {}

// sizes keep three within one packet, where a' is read off, and some above it as a cross-check of b'.
var (
	sizes      = []units.Bytes{1, 181, 1123, 5003, 20011}
	sizesQuick = []units.Bytes{1, 1123, 5003}
)

// messageSize is that of messages back to back [B].
const messageSize = int64(bench.ChunkSize)

// Design implements bench.Experiment: every n, every burst size, and one stream for each n. Designs that are not thin
// have messages back to back for each n, too, and streams of one pair over several connections.
func (Paired) Design(l bench.Limits) []bench.Point {
	own := l.SizesOr(bench.Thinned(l, sizes, sizesQuick))
	var out []bench.Point
	for _, n := range bench.PairCounts(l.Hosts) {
		out = append(out, bench.SizePoints(own, bench.Point{names.FactorPairs: int64(n)})...)
		out = append(out, bench.Point{names.FactorPairs: int64(n), names.FactorStream: 1})
		if !l.Thin() && len(l.SizesOr([]units.Bytes{units.Bytes(messageSize)})) > 0 {
			out = append(out, bench.Point{names.FactorPairs: int64(n), names.FactorStream: 1, names.FactorBytes: messageSize})
		}
	}
	if !l.Thin() && len(out) > 0 {
		for _, k := range connections {
			out = append(out, bench.Point{names.FactorPairs: 1, names.FactorStream: 1, names.FactorConnections: k})
		}
	}
	return out
}

// Ranges implements bench.Experiment.
func (Paired) Ranges() bench.Ranges {
	return bench.Ranges{
		names.FactorPairs: bench.TeamSize, names.FactorStream: bench.Flag, names.FactorBytes: {Least: 0, Most: bench.MaxSize},
		names.FactorConnections: {Least: 0, Most: plane.MaxLines},
	}
}

// Teams implements bench.Experiment: the first 2n hosts, alone on the network.
func (Paired) Teams(_ bench.Limits, p bench.Point) []bench.Step {
	return bench.FirstHosts(int(2 * p[names.FactorPairs]))
}

// Cost implements bench.Experiment.
func (Paired) Cost(l bench.Limits, p bench.Point) bench.Cost {
	if p[names.FactorStream] != 0 {
		// The stream is bounded by time, not by bytes: this is what its window holds at 1 Gbit/s.
		length := l.Effort.StreamTime()
		if p[names.FactorBytes] == 0 {
			length = BulkTime
		}
		bytes := units.Bytes(2 * 125e6 * length.Seconds())
		return bench.Cost{Bytes: bytes, Messages: int(bytes / bench.ChunkSize), Time: 2 * streamTime(l, p)}
	}
	n := 2 * (maxBursts + 1)
	return bench.Cost{Bytes: units.Bytes(int64(n) * p[names.FactorBytes]), Messages: n, Time: 2 * burstTime(l, p)}
}

// Run implements bench.Experiment.
func (Paired) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	if err := bench.CheckEven(g); err != nil {
		return err
	}
	switch {
	case p[names.FactorStream] == 0:
		return BothDirections(g, p, r, func(x Role) error { return pair{x}.bursts() })
	case p[names.FactorBytes] != 0:
		return BothDirections(g, p, r, messages)
	}
	return BothDirections(g, p, r, stream)
}
