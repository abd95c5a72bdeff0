package flow

import (
	"math"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// Gap measures the send gap g_s(m) of the cluster model (Tam and Wang 2000, section 3.2): the least interval at which
// one host can put messages of m bytes, each a segment of its own, into the network. One sender sends back to back,
// which fills its queue within a moment; from then on completions are as far apart as the sender's queue serves them.
// With three hosts or more it sends to two receivers in turn, so that a port to one of them, which may be slower than
// the sender, carries half of it; with two hosts the interval is that of the slowest part of the path. Each rank is the
// sender once.
//
// With "merge" the same messages are sent as by a program that does not ask the kernel to keep them apart: while the
// queue is not empty their ends and beginnings share segments, so that the interval is that of their bytes alone.
var Gap = &bench.Experiment{
	Name: names.Gap, Clocks: true, Stamps: true, // sender and receiver stream from a common start to a common end
	Points: func(l bench.Limits) []bench.Point {
		merged := l.SizesUpTo(l.SegmentSize(), bench.Thinned(l, mergedSizes, mergedSizesQuick))
		return append(bench.SizePoints(l.PacketSizes(), nil), bench.SizePoints(merged, bench.Point{names.FactorMerge: 1})...)
	},
	Ranges: bench.Ranges{names.FactorBytes: bench.Sizes, names.FactorMerge: bench.Flag},
	// Hosts in threes, one team a step, the last filled up with the first hosts.
	Steps: func(l bench.Limits, _ bench.Point) []bench.Step {
		if l.Hosts < 3 {
			return bench.Neighbours(l.Hosts)
		}
		var steps []bench.Step
		for first := 0; first < l.Hosts; first += 3 {
			steps = append(steps, bench.Step{{first, (first + 1) % l.Hosts, (first + 2) % l.Hosts}})
		}
		return steps
	},
	Size: bench.AnySize,
	Cost: func(l bench.Limits, p bench.Point) bench.Cost { // one stream from each host of the team
		n := int64(min(l.Hosts, 3) * (gapCount(l.Effort, p) + 2*gapTrial + 2))
		return bench.Cost{
			Bytes: units.Bytes(n*p[names.FactorBytes]) + 3*controlBytes,
			Time:  units.Nanos(min(l.Hosts, 3)) * streamTime(l, p[names.FactorBytes], 1, gapTrial, gapWindow),
		}
	},
	Run: func(x bench.Team) {
		switch {
		case x.Size() < 2 || x.Size() > 3:
			bench.Fail("team of %d, want 2 or 3", x.Size())
		case x.P[names.FactorMerge] == 0:
			gaps(x, ahead)
		default:
			x.Reopened(plane.Socket{NoEOR: true}, func() { gaps(x, aheadMerged) })
		}
	},
}

const (
	// gapMost is the number of messages of one stream at effort 1, gapLeast at any; merged ones, of which many make a
	// segment, are twice as many.
	gapMost  = 6000
	gapLeast = 2000

	gapTrial  = 16
	gapWindow = 40 // in the length of a stream, at the trial's rate
	// Messages sent at most, as a multiple of what the path carries in the stream's time at the trial's rate. Merged
	// ones first fill the network, each in a segment of its own, before they queue where they merge.
	ahead       = 3
	aheadMerged = 12
	// windowSlices is into how many intervals the messages of a merged stream are counted: they come in bursts, a
	// segment at a time, so that the interval from one to the next says nothing.
	windowSlices = 8
	// controlBytes is what the streams of a batch exchange beside their messages: agreements, counters, the end.
	controlBytes = 256
)

// Merged messages cost their bytes alone, which takes fewer sizes.
var (
	mergedSizes      = []units.Bytes{1, 100, 500, 1000}
	mergedSizesQuick = []units.Bytes{100, 1000}
)

func gapCount(e bench.Effort, p bench.Point) int {
	return e.Reps(gapMost, gapLeast) * int(1+p[names.FactorMerge])
}

// gaps lets each rank send.
func gaps(x bench.Team, ahead float64) {
	for sender := range x.Size() {
		var others []int
		for k := 1; k < x.Size(); k++ {
			others = append(others, (sender+k)%x.Size())
		}
		gap(stream{
			Role:  Role{Team: x, Direction: sender, From: sender, To: others},
			chunk: x.R.Bytes(x.P[names.FactorBytes]), trial: gapTrial, least: gapWindow, most: gapCount(x.R.Effort, x.P), ahead: ahead,
		})
	}
}

// gap keeps the later part of a stream: from when the windows are open to the last message of the first receiver that
// ends. After that another receiver would get more than its share. The receivers need not get theirs evenly at any
// moment, so the messages in that time are those of all of them.
func gap(x stream) {
	seen := x.run()
	rank, clocks := x.Rank(), x.R.Clocks
	ended := int64(math.MaxInt64)
	if !x.Sends() {
		ended = int64(clocks.ToCommon(rank, units.Nanos(seen.done[len(seen.done)-1])))
	}
	at, hi := int64(seen.At), int64(clocks.ToLocal(rank, units.Nanos(x.Min(ended))))-1
	part := seen.between(at+int64(bench.RampShare*float64(hi-at)), hi)
	if x.P[names.FactorMerge] != 0 {
		part.slice(seen.done, hi, windowSlices)
	}
	const parts = 1 << 20 // of a message
	all := x.Sum(int64(part.chunks * parts))
	if x.Sends() {
		return
	}
	n := len(x.To) // of the sender's messages this receiver got one in n
	for i := range part.ns {
		part.ns[i] /= int64(n)
	}
	b := x.Batch(names.PhaseGap, part.ns, seen.tcp)
	b.Aux[names.AuxAveraged], b.Aux[names.AuxReceivers] = float64(part.averaged*n), float64(n)
	b.Aux[names.AuxMessages] = float64(seen.told[toldSent]) / float64(n)
	if part.window > 0 {
		b.Aux[names.AuxWindow], b.Aux[names.AuxWindowMessages] = float64(part.window), float64(all)/parts
	}
	if t := seen.told[toldTime]; t > 0 {
		b.Aux[names.AuxSend] = float64(t)
	}
	b.Flags = seen.flags(part)
	x.Add(b)
}
