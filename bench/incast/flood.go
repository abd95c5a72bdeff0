package incast

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Flood finds B_L, how many packets the network holds for one host before it loses any (Tam and Wang 2000, section
// 3.2), in two ways that share no assumption. Host 0 is the root.
//
// "packets": hosts 1 to p' send k datagrams between them at once, as fast as each can. While the buffer has room all
// arrive; of longer bursts a share of D/A + B/k does (eq. 4), where A is the rate at which they arrive at the port and
// D the rate at which they leave it. What the root's own socket had no room for is counted apart: it was not lost in
// the network.
//
// "probe": all but one of the senders stream over TCP, whose congestion control fills the port's buffer until it
// overflows, and the last sends small datagrams with their time of sending. Their delay beyond that on an idle network
// is the buffer's contents, served at the rate at which the stream arrives.
type Flood struct{}

const (
	minBurst  = 16    // datagrams of the shortest burst, and of the trial
	maxBurst  = 16384 // of the longest
	burstReps = 3     // of a short burst, at effort 1
	// burstTime bounds the time in which a burst is sent, at any effort: only a burst longer than B_L shows it. Its
	// arrival may last arrivalFactor times that.
	burstTime     = 3 * units.Second
	arrivalFactor = 4

	minDatagram = 24   // bytes: what a burst's datagram has to say
	maxDatagram = 1399 // bytes
)

// sizes: the largest fills the port soonest, and B_L is the number of those; a second tells whether the port counts
// packets or bytes. Which of the smaller ones the senders can fill a port with depends on how fast their CPUs are: of
// those that did, the fit uses all. A smaller size has the bursts of every other length.
var floodSizes = []units.Bytes{64, 250, 500, 1000}

// Name implements bench.Experiment.
func (Flood) Name() string { return names.Flood }

// Synchronised implements bench.Synchronised: a burst has a common start, a probe a one-way time.
func (Flood) Synchronised() {}

// Stamped implements bench.Stamped.
func (Flood) Stamped() {}

// Design implements bench.Experiment: bursts of 16·2^i datagrams of the largest size and 16·4^i of the others, or
// 16·4^i and 16·16^i where the effort is below a half, from all other hosts and, where those are four or more, from
// half of them; and the probe.
func (Flood) Design(l bench.Limits) []bench.Point {
	if l.Hosts < 2 {
		return nil
	}
	most, factor := l.Hosts-1, 2
	senders := []int{most}
	switch {
	case l.Thin():
		factor = 4
	case most >= 4:
		senders = append(senders, most/2)
	}
	var out []bench.Point
	own := slices.DeleteFunc(l.SizesUpTo(maxDatagram, floodSizes), func(m units.Bytes) bool { return m < minDatagram })
	for _, n := range senders {
		for i, m := range own {
			step := factor
			if i < len(own)-1 {
				step *= factor
			}
			for k := minBurst; k <= maxBurst; k *= step {
				out = append(out, bench.Point{
					names.FactorBytes: int64(m), names.FactorPackets: int64(k), names.FactorSenders: int64(n),
				})
			}
		}
	}
	if most >= 2 {
		out = append(out, bench.Point{names.FactorProbe: 1, names.FactorSenders: int64(most)})
	}
	return out
}

// Ranges implements bench.Experiment.
func (Flood) Ranges() bench.Ranges {
	return bench.Ranges{
		names.FactorBytes: {Least: 0, Most: maxDatagram}, names.FactorPackets: {Least: 0, Most: maxBurst},
		names.FactorSenders: bench.TeamSize, names.FactorProbe: bench.Flag,
	}
}

// Teams implements bench.Experiment: the root and its senders, alone on the network.
func (Flood) Teams(_ bench.Limits, p bench.Point) []bench.Step {
	return bench.FirstHosts(int(p[names.FactorSenders]) + 1)
}

// Cost implements bench.Experiment.
func (Flood) Cost(l bench.Limits, p bench.Point) bench.Cost {
	if p[names.FactorProbe] != 0 {
		senders := units.Bytes(p[names.FactorSenders])
		trials := 2 * bench.TrialChunks * senders * largestSegment
		load, probes := loadBytes(l.Effort)*3/2, 2*maxProbes
		return bench.Cost{
			Bytes:    trials + load + largestSegment*senders + units.Bytes(probes*probeBytes),
			Messages: int(load/(senders-1)/bench.ChunkSize)*3/2 + 2*bench.TrialChunks + probes,
			Time: 3*l.OnPath().Start(int(senders)+1) + 2*l.Effort.Time(loadTime, loadTime/5) +
				3*l.OnPath().Message(int64(2*bench.TrialChunks*senders*bench.ChunkSize), 1), // the trials, and what a full port has left to send
		}
	}
	n := minBurst + p[names.FactorPackets]*int64(maxReps(l.Effort))
	path, ranks := l.OnPath(), int(p[names.FactorSenders])+1
	burst := min(path.Message(p[names.FactorPackets]*p[names.FactorBytes], 1), arrivalFactor*burstTime)
	return bench.Cost{
		Bytes: units.Bytes(n * p[names.FactorBytes]), Messages: int(n),
		Time: units.Nanos(maxReps(l.Effort)+2) * (path.Start(ranks) + burst + maxQuiet/4),
	}
}

// maxReps bounds the repetitions of a burst.
func maxReps(e bench.Effort) int { return e.Reps(burstReps, 1) }

// openTime is how long datagrams may take to be opened.
const openTime = 10 * units.Second

// Run implements bench.Experiment.
func (Flood) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	x, err := NewTeam(g, p, r)
	if err != nil {
		return err
	}
	if err := g.OpenDatagrams(openTime); err != nil {
		return err
	}
	if p[names.FactorProbe] != 0 {
		return probe(x)
	}
	return newBursts(x).run()
}

// datagramTag names the datagrams of one point of one slot, and with a number added one burst of them, so that a late
// one of another is not taken for one of its own.
func datagramTag(x Team) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s", x.R.Task.Round, x.R.Task.Slot, x.P.Key())
	return int64(h.Sum64())
}
