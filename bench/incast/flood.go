package incast

import (
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
var Flood = &bench.Experiment{
	Name: names.Flood, Clocks: true, Stamps: true, // a burst has a common start, a probe a one-way time
	Points: floodPoints,
	Ranges: bench.Ranges{
		names.FactorBytes: {Least: 0, Most: maxDatagram}, names.FactorPackets: {Least: 0, Most: maxBurst},
		names.FactorSenders: bench.TeamSize, names.FactorProbe: bench.Flag,
	},
	Size: teamSize,
	Cost: floodCost,
	Run: func(x bench.Team) {
		bench.Check(x.OpenDatagrams(openTime))
		if x.P[names.FactorProbe] != 0 {
			probe(newTeam(x))
		} else {
			newBursts(newTeam(x)).run()
		}
	},
}

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

// floodPoints are bursts of 16·2^i datagrams of the largest size and 16·4^i of the others, from all other hosts and,
// where those are four or more, from half of them; and the probe. Where the effort is below a half, they are bursts of
// 16·4^i datagrams of the largest size, and the probe. Bursts that would be skipped on the path are none.
func floodPoints(l bench.Limits) []bench.Point {
	most, factor := int64(l.Hosts-1), int64(2)
	senders := []int64{most}
	own := slices.DeleteFunc(l.SizesUpTo(maxDatagram, floodSizes), func(m units.Bytes) bool { return m < minDatagram })
	switch {
	case l.Thin():
		factor, own = 4, own[max(0, len(own)-1):]
	case most >= 4:
		senders = append(senders, most/2)
	}
	var out []bench.Point
	for _, n := range senders {
		for i, m := range own {
			step := factor
			if i < len(own)-1 {
				step *= factor
			}
			gap := units.Nanos(float64(m) * l.OnPath().PerByte)
			for k := int64(minBurst); k <= maxBurst && !tooLong(k, n, gap); k *= step {
				out = append(out, bench.Point{names.FactorBytes: int64(m), names.FactorPackets: k, names.FactorSenders: n})
			}
		}
	}
	if most >= 2 {
		out = append(out, bench.Point{names.FactorProbe: 1, names.FactorSenders: most})
	}
	return out
}

func floodCost(l bench.Limits, p bench.Point) bench.Cost {
	path, n := l.OnPath(), p[names.FactorSenders]
	if p[names.FactorProbe] != 0 {
		senders := units.Bytes(n)
		trials := 2 * bench.TrialChunks * senders * largestSegment
		return bench.Cost{
			Bytes: trials + loadBytes(l.Effort)*3/2 + largestSegment*senders + 2*maxProbes*probeBytes,
			Time: 3*path.Start(teamSize(p)) + 2*l.Effort.Time(loadTime, loadTime/5) +
				3*path.Message(int64(2*bench.TrialChunks*senders*bench.ChunkSize), 1), // the trials, and what a full port has left to send
		}
	}
	sent := minBurst + p[names.FactorPackets]*int64(maxReps(l.Effort))
	burst := path.Message(p[names.FactorPackets]*p[names.FactorBytes], 1)
	return bench.Cost{
		Bytes: units.Bytes(sent * p[names.FactorBytes]),
		// Beside the repetitions, the trial and, where they lost datagrams, a burst that keeps the port full.
		Time: units.Nanos(maxReps(l.Effort)+2)*(path.Start(teamSize(p))+maxQuiet/4) +
			burst + bench.Repeated(burst, burstTime, 1, maxReps(l.Effort)),
	}
}

// maxReps bounds the repetitions of a burst.
func maxReps(e bench.Effort) int { return e.Reps(burstReps, 1) }

// openTime is how long datagrams may take to be opened.
const openTime = 10 * units.Second

// datagramTag names the datagrams of one point of one slot, and with a number added one burst of them, so that a late
// one of another is not taken for one of its own.
func datagramTag(x team) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s", x.R.Task.Round, x.R.Task.Slot, x.P.Key())
	return int64(h.Sum64())
}
