package flow

import (
	"context"
	"fmt"
	"math"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// Gap measures the send gap g_s(m) of the cluster model (Tam and Wang 2000, section 3.2): the least interval at
// which one host can put messages of m bytes, each a segment of its own, into the network. One sender sends back to
// back, which fills its queue within a moment; from then on completions are as far apart as the sender's queue serves
// them. With three hosts or more it sends to two receivers in turn, so that a port to one of them, which may be slower
// than the sender, carries half of it; with two hosts the interval is that of the slowest part of the path.
//
// With "merge" the same messages are sent as by a program that does not ask the kernel to keep them apart: while the
// queue is not empty their ends and beginnings share segments, so that the interval is that of their bytes alone.
type Gap struct{}

// Name implements bench.Experiment.
func (Gap) Name() string { return names.Gap }

// Synchronised implements bench.Synchronised: sender and receiver stream from a common start to a common end.
func (Gap) Synchronised() {}

// Stamped implements bench.Stamped.
func (Gap) Stamped() {}

const (
	// maxMessages is the number of messages of one stream at effort 1, minMessages at any; merged ones, of which
	// many make a segment, are twice as many.
	gapMost  = 6000
	gapLeast = 2000

	trialMessages  = 16
	windowMessages = 40 // in the length of a stream, at the trial's rate
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

// Design implements bench.Experiment: sizes kept apart, and merged.
func (Gap) Design(l bench.Limits) []bench.Point {
	if l.Hosts < 2 {
		return nil
	}
	merged := l.SizesUpTo(l.SegmentSize(), bench.Thinned(l, mergedSizes, mergedSizesQuick))
	return append(bench.SizePoints(l.PacketSizes(), nil), bench.SizePoints(merged, bench.Point{names.FactorMerge: 1})...)
}

// Ranges implements bench.Experiment.
func (Gap) Ranges() bench.Ranges {
	return bench.Ranges{names.FactorBytes: bench.Sizes, names.FactorMerge: bench.Flag}
}

// Teams implements bench.Experiment: hosts in threes, one team a step, the last filled up with the first hosts.
func (Gap) Teams(l bench.Limits, _ bench.Point) []bench.Step {
	if l.Hosts < 3 {
		return bench.Neighbours(l.Hosts)
	}
	var steps []bench.Step
	for first := 0; first < l.Hosts; first += 3 {
		steps = append(steps, bench.Step{{first, (first + 1) % l.Hosts, (first + 2) % l.Hosts}})
	}
	return steps
}

// Cost implements bench.Experiment: one stream from each host of the team.
func (Gap) Cost(l bench.Limits, p bench.Point) bench.Cost {
	n := min(l.Hosts, 3) * (count(l.Effort, p) + 2*trialMessages + 2)
	c := bench.Cost{Bytes: units.Bytes(int64(n)*p[names.FactorBytes]) + 3*controlBytes, Messages: n}
	c.Time = units.Nanos(min(l.Hosts, 3)) * StreamTime(l, p[names.FactorBytes], 1, trialMessages, windowMessages)
	return c
}

func count(e bench.Effort, p bench.Point) int {
	return e.Reps(gapMost, gapLeast) * int(1+p[names.FactorMerge])
}

// Run implements bench.Experiment: each rank is the sender once.
func (Gap) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	if g.Size() < 2 || g.Size() > 3 {
		return fmt.Errorf("team of %d, want 2 or 3", g.Size())
	}
	multiple := float64(ahead)
	if p[names.FactorMerge] != 0 {
		multiple = aheadMerged
	}
	all := func() error {
		for direction := range g.Size() {
			var others []int
			for k := 1; k < g.Size(); k++ {
				others = append(others, (direction+k)%g.Size())
			}
			x := Stream{
				Role:  Role{Team: bench.Team{G: g, R: r, P: p}, Direction: direction, From: direction, To: others},
				Chunk: r.Bytes(p[names.FactorBytes]), Trial: trialMessages, Least: windowMessages, Most: count(r.Effort, p),
				Ahead: multiple, Report: make([]int64, ReportNumbers),
			}
			if err := measure(x); err != nil {
				return err
			}
		}
		return nil
	}
	if p[names.FactorMerge] == 0 {
		return all()
	}
	return bench.Reopened(g, plane.Socket{NoEOR: true}, all)
}

// measure keeps the later part of a stream: from when the windows are open to the last message of the first receiver
// that ends. After that another receiver would get more than its share. The receivers need not get theirs evenly at any
// moment, so the messages in that time are those of all of them.
func measure(x Stream) error {
	seen, err := x.Run()
	if err != nil {
		return err
	}
	rank, clocks := x.G.Rank(), x.R.Clocks
	ended := int64(math.MinInt64)
	if !x.Sends() {
		ended = -int64(clocks.ToCommon(rank, units.Nanos(seen.Done[len(seen.Done)-1])))
	}
	firstEnd, err := x.Max(ended)
	if err != nil {
		return err
	}
	at, hi := int64(seen.At), int64(clocks.ToLocal(rank, units.Nanos(-firstEnd)))-1
	part := seen.Between(at+int64(bench.RampShare*float64(hi-at)), hi)
	if x.P[names.FactorMerge] != 0 {
		part.Slice(seen.Done, hi, windowSlices)
	}
	const parts = 1 << 20 // of a message
	all, err := x.Sum(int64(part.Chunks * parts))
	if err != nil || x.Sends() {
		return err
	}
	n := len(x.To) // of the sender's messages this receiver got one in n
	for i := range part.NS {
		part.NS[i] /= int64(n)
	}
	b := x.Batch(names.PhaseGap, part.NS, seen.TCP)
	b.Aux[names.AuxAveraged], b.Aux[names.AuxReceivers] = float64(part.Averaged*n), float64(n)
	b.Aux[names.AuxMessages] = float64(x.Report[ReportSent]) / float64(n)
	if part.Window > 0 {
		b.Aux[names.AuxWindow], b.Aux[names.AuxWindowMessages] = float64(part.Window), float64(all)/parts
	}
	if t := x.Report[ReportTime]; t > 0 {
		b.Aux[names.AuxSend] = float64(t)
	}
	b.Flags = part.Flags()
	x.R.Add(b)
	return nil
}
