package bench

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"calib/internal/units"
)

// Flood finds B_L, how many packets the network holds for one host before it loses any (Tam and Wang 2000, section 3.2),
// in two ways that share no assumption. Host 0 is the root.
//
// "packets": hosts 1 to p' send k datagrams between them at once, as fast as each can. While the buffer has room all arrive;
// of longer bursts D/A + B/k do (eq. 4), where A is the rate they come in and D the rate they leave. What the root's
// own socket had no room for is counted apart: it was not lost in the network.
//
// "probe": all but one of the senders stream over TCP, whose congestion control fills the port's buffer until it
// overflows, and the last sends small datagrams with their time of sending. What they are late, beyond what they are on
// an idle network, is the buffer's contents, served at the rate at which the stream arrives.
type Flood struct{}

const (
	floodLeast = 16    // datagrams of the shortest burst, and of the trial
	floodMost  = 16384 // of the longest
	floodReps  = 3     // of a short burst, at effort 1
	// floodBudget bounds the time in which a burst is sent, at effort 1. Its arrival may last floodPatience times that.
	floodBudget   = 3 * units.Second
	floodPatience = 4

	datagramLeast = 16   // bytes: what a burst's datagram has to say
	datagramMost  = 1399 // bytes
)

// floodSizes: short ones are counted by a port that counts packets, long ones fill a port that counts bytes.
var floodSizes = []units.Bytes{64, 1000}

// Name implements Experiment.
func (Flood) Name() string { return "flood" }

// Synchronised implements Synchronised: a burst has a common start, a probe a one-way time.
func (Flood) Synchronised() {}

// Steers implements Steered: the rest are by-products of these.
func (Flood) Steers(phase string) bool { return phase == phaseFlood || phase == phaseProbe }

const (
	phaseFlood = "flood"
	phaseProbe = "probe"
)

// Design implements Experiment: bursts of 16·2^i datagrams, or 16·4^i where the effort is below a half, from all other hosts
// and, where those are four or more, from half of them; and the probe.
func (Flood) Design(l Limits) []Point {
	if l.Hosts < 2 {
		return nil
	}
	most, factor := l.Hosts-1, 2
	senders := []int{most}
	switch {
	case l.thin():
		factor = 4
	case most >= 4:
		senders = append(senders, most/2)
	}
	var out []Point
	sizes := slices.DeleteFunc(l.within(floodSizes, datagramMost), func(m units.Bytes) bool { return m < datagramLeast })
	for _, n := range senders {
		for _, m := range sizes {
			for k := floodLeast; k <= floodMost; k *= factor {
				out = append(out, Point{"bytes": int64(m), "packets": int64(k), "senders": int64(n)})
			}
		}
	}
	if most >= 2 {
		out = append(out, Point{"probe": 1, "senders": int64(most)})
	}
	return out
}

// Teams implements Experiment: the root and its senders, alone on the network.
func (Flood) Teams(_ Limits, p Point) []Step { return hostsUpTo(int(p["senders"]) + 1) }

// Cost implements Experiment.
func (Flood) Cost(l Limits, p Point) Cost {
	r := NewRecorder(Task{Reps: l.Effort})
	if p["probe"] != 0 {
		trials := 2 * trialChunks * units.Bytes(p["senders"]) * segmentLargest
		load, probes := loadBytes(r)*3/2, 2*maxProbes
		return Cost{
			Bytes:    trials + load + segmentLargest*units.Bytes(p["senders"]) + units.Bytes(probes*probeDatagram),
			Messages: int(load/units.Bytes(p["senders"]-1)/streamChunk)*3/2 + 2*trialChunks + probes,
		}
	}
	n := floodLeast + p["packets"]*int64(mostFloods(r))
	return Cost{Bytes: units.Bytes(n * p["bytes"]), Messages: int(n)}
}

// mostFloods bounds the repetitions of a batch.
func mostFloods(r *Recorder) int { return r.Reps(floodReps, 1) }

// Run implements Experiment.
func (Flood) Run(ctx context.Context, g Group, p Point, r *Recorder) error {
	if g.Size() != int(p["senders"])+1 || r.time == nil {
		return fmt.Errorf("flood: team of %d without a timeline: want %d hosts and synchronised clocks",
			g.Size(), p["senders"]+1)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	x := funnel{crew: crew{g, r}, p: p, signal: []byte{0}}
	if p["probe"] != 0 {
		return x.probe()
	}
	return newFlooder(x).run()
}

// datagramTag names the datagrams of one point of one slot, and with a number added one burst of them, so that a straggler
// of another is not taken for one of its own.
func (x funnel) datagramTag() uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s", x.r.round, x.r.slot, x.p.Key())
	return h.Sum64()
}
