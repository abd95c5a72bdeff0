package check

import (
	"context"

	"calib/bench"
	"calib/bench/roundtrip"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Probe passes a byte to and fro (phase "trip", as pingpong), and then sends more and more until that takes long
// enough to tell the rate (phase "rate": the time of as many bytes as "bytes" says, to the answer). On any path it ends
// within seconds. No model reads it: a plan does, before the run.
type Probe struct{}

const (
	maxTrips, minTrips = 60, 3

	// A burst is doubled until it takes longEnough, or is as large as maxBytes.
	longEnough = 60 * units.Millisecond
	firstBytes = 16 * units.KiB
	maxBytes   = 16 * units.MiB
)

// Name implements bench.Experiment.
func (Probe) Name() string { return names.Probe }

// Design implements bench.Experiment: one point.
func (Probe) Design(l bench.Limits) []bench.Point {
	if l.Hosts < 2 {
		return nil
	}
	return []bench.Point{{names.FactorBytes: 1}}
}

// Ranges implements bench.Experiment.
func (Probe) Ranges() bench.Ranges {
	return bench.Ranges{names.FactorBytes: {Least: 0, Most: 1}}
}

// Teams implements bench.Experiment.
func (Probe) Teams(l bench.Limits, _ bench.Point) []bench.Step { return bench.Neighbours(l.Hosts) }

// Cost implements bench.Experiment.
func (Probe) Cost(l bench.Limits, _ bench.Point) bench.Cost {
	c := tripBounds().Cost(l)
	bursts := 0
	for b := firstBytes; b <= maxBytes; b *= 2 {
		bursts++
	}
	c.Bytes += 2*maxBytes + units.Bytes(bursts)
	c.Messages += bursts + int(2*maxBytes/chunk)
	return c
}

func tripBounds() roundtrip.Bounds {
	b := roundtrip.Pings(1, 1, minTrips)
	b.Most = maxTrips
	return b
}

// chunk is what one call sends or receives.
const chunk = 256 * units.KiB

// Run implements bench.Experiment. At the point of 0 bytes it only asks whether the hosts reach each other.
func (Probe) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	if p[names.FactorBytes] == 0 {
		return reach(g, p, r)
	}
	msg := roundtrip.Whole(1-g.Rank(), r.Payload(1))
	if err := roundtrip.Record(g, r, msg, tripBounds(), bench.Batch{Phase: names.PhaseTrip, Point: p}); err != nil {
		return err
	}
	if g.Rank() == 1 {
		return answerBursts(g, r.Payload(int64(chunk)))
	}
	return sendBursts(g, p, r)
}

// fewAgain is the share of segments that may be sent again on a connection before the hosts count as reaching each
// other only just: one of the handful that open it may be, where a host stood still.
const fewAgain = 0.25

// reach passes a byte to the other rank, back, and there again. Each rank records how long its part took, with the
// counters of the whole connection.
func reach(g bench.Group, p bench.Point, r *bench.Recorder) error {
	other, b, start := 1-g.Rank(), []byte{0}, g.Now()
	for from := range 3 {
		pass := g.Recv
		if from%2 == g.Rank() {
			pass = g.Send
		}
		if err := pass(other, b); err != nil {
			return err
		}
	}
	took := bench.Elapsed(g, start)
	tcp, err := g.Counters(other)
	if err != nil {
		return err
	}
	r.Add(bench.Batch{Phase: names.PhaseTrip, Point: p, Ranks: []int{g.Rank(), other}, NS: []int64{took}, TCP: &tcp, Loss: fewAgain})
	return nil
}

// lead sends bursts, each announced by its size; the answer to a burst is a byte. A size of 0 ends it.
func sendBursts(g bench.Group, p bench.Point, r *bench.Recorder) error {
	buf, ack := r.Payload(int64(chunk)), []byte{0}
	before, err := g.Counters(1)
	if err != nil {
		return err
	}
	var took int64
	size := firstBytes
	for ; ; size *= 2 {
		if err := bench.SendNumbers(g, 1, int64(size)); err != nil {
			return err
		}
		start := g.Now()
		for left := size; left > 0; left -= min(left, chunk) {
			if err := g.Send(1, buf[:min(left, chunk)]); err != nil {
				return err
			}
		}
		if err := g.Recv(1, ack); err != nil {
			return err
		}
		if took = bench.Elapsed(g, start); took >= int64(longEnough) || size >= maxBytes {
			break
		}
	}
	tcp, err := bench.CountersSince(g, 1, before)
	if err != nil {
		return err
	}
	if err := bench.SendNumbers(g, 1, 0); err != nil {
		return err
	}
	r.Add(bench.Batch{
		Phase: names.PhaseRate, Point: p, Ranks: []int{0, 1}, NS: []int64{took}, TCP: tcp,
		Aux: map[string]float64{names.AuxBytes: float64(size), names.AuxMSS: float64(tcp.MSS)},
	})
	return nil
}

// answer is the other rank's part. It ends with the size 0, or when a receive reaches the group's deadline.
func answerBursts(g bench.Group, buf []byte) error {
	for {
		size, err := bench.RecvNumbers(g, 0, 1)
		if err != nil || size[0] == 0 {
			return err
		}
		for left := units.Bytes(min(size[0], int64(maxBytes))); left > 0; left -= min(left, chunk) {
			if err := g.Recv(0, buf[:min(left, chunk)]); err != nil {
				return err
			}
		}
		if err := g.Send(0, buf[:1]); err != nil {
			return err
		}
	}
}
