package bench

import (
	"context"
	"fmt"
	"math"
	"sort"

	"calib/internal/plane"
	"calib/internal/units"
)

// Gap measures the send gap g_s(m) of the cluster model (Tam and Wang 2000, section 3.2): the least interval at which one
// host can put messages of m bytes, each a segment of its own, into the network. One sender sends back to back, which fills
// its queue within a moment; from then on completions are as far apart as the sender's queue serves them. Where there are
// three hosts or more it sends to two receivers in turn, so that a port to one of them, which may be slower than the
// sender, carries half of it; with two hosts the interval is that of the slowest thing on the way.
//
// With "merge" the same messages go out as an application gets them that does not ask the kernel to keep them apart: while
// the queue is not empty their ends and beginnings share segments, so that the interval is that of their bytes alone.
type Gap struct{}

// Name implements Experiment.
func (Gap) Name() string { return "gap" }

// Synchronised implements Synchronised: sender and receiver stream from a common start to a common end.
func (Gap) Synchronised() {}

const (
	// gapMost is the number of messages of one stream at effort 1, gapFloor at any; merged ones, of which many make a
	// segment, are twice as many.
	gapMost  = 6000
	gapFloor = 2000

	gapTrial = 16
	gapLeast = 40
	// Messages sent at most, in those that the path carries in the stream's time at the trial's rate. Merged ones first
	// fill the network, each in a segment of its own, before they queue where they merge.
	gapAhead       = 3
	gapAheadMerged = 12
	// gapSlices is into how many intervals the messages of a merged stream are counted: they come in bursts, a segment at a
	// time, so that the interval from one to the next says nothing.
	gapSlices = 8
	// segmentMost is the largest message that is one segment on Ethernet with TCP time stamps [B].
	segmentMost = 1448
	// gapEnd is what the streams of a batch exchange beside their messages: agreements, counters, the end.
	gapEnd = 256
)

// gapSizes lie close where the fixed cost rules, as a least frame does, and wide where the bytes do. Merged messages cost
// their bytes alone, which takes fewer sizes.
var (
	gapSizes       = []units.Bytes{1, 20, 40, 100, 250, 500, 1000, segmentMost}
	gapSizesMerged = []units.Bytes{1, 100, 500, 1000}
	gapSizesQuick  = []units.Bytes{1, 20, 100, 500, 1000, segmentMost}
	gapMergedQuick = []units.Bytes{100, 1000}
)

// Design implements Experiment: sizes kept apart, and merged.
func (Gap) Design(l Limits) []Point {
	if l.Hosts < 2 {
		return nil
	}
	apart, merged := gapSizes, gapSizesMerged
	if l.thin() {
		apart, merged = gapSizesQuick, gapMergedQuick
	}
	var out []Point
	for _, m := range l.within(apart, segmentMost) {
		out = append(out, Point{"bytes": int64(m)})
	}
	for _, m := range l.within(merged, segmentMost) {
		out = append(out, Point{"bytes": int64(m), "merge": 1})
	}
	return out
}

// Teams implements Experiment: hosts in threes, one team a step, the last filled up with the first hosts.
func (Gap) Teams(l Limits, _ Point) []Step {
	if l.Hosts < 3 {
		return neighbours(l.Hosts)
	}
	var steps []Step
	for first := 0; first < l.Hosts; first += 3 {
		steps = append(steps, Step{{first, (first + 1) % l.Hosts, (first + 2) % l.Hosts}})
	}
	return steps
}

// Cost implements Experiment: one stream from each host of the team. A stream that the receiver's window limits is
// repeated, as paired's is.
func (Gap) Cost(l Limits, p Point) Cost {
	n := min(l.Hosts, 3) * (gapCount(NewRecorder(Task{Reps: l.Effort}), p) + 2*gapTrial + 2)
	return Cost{Bytes: units.Bytes(int64(n)*p["bytes"]) + 3*gapEnd, Messages: n}
}

func gapCount(r *Recorder, p Point) int { return r.Reps(gapMost, gapFloor) * int(1+p["merge"]) }

// Run implements Experiment. Each direction ends with its stream, or when a receive meets the group's deadline.
func (Gap) Run(_ context.Context, g Group, p Point, r *Recorder) error {
	if g.Size() < 2 || g.Size() > 3 || r.time == nil {
		return fmt.Errorf("gap: team of %d without a timeline: want 2 or 3 hosts and synchronised clocks", g.Size())
	}
	if p["merge"] == 0 {
		return gapAllWays(g, p, r)
	}
	return reopened(g, plane.Socket{NoEOR: true}, func() error { return gapAllWays(g, p, r) })
}

// reopened runs f on connections with other options. Only where f succeeds does every rank reach the second Reopen; after
// an error the team's connections are given up anyway.
func reopened(g Group, with plane.Socket, f func() error) error {
	if err := g.Reopen(with); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	return g.Reopen(plane.Socket{})
}

// gapAllWays lets each rank be the sender once.
func gapAllWays(g Group, p Point, r *Recorder) error {
	ahead := float64(gapAhead)
	if p["merge"] != 0 {
		ahead = gapAheadMerged
	}
	for dir := range g.Size() {
		var others []int
		for k := 1; k < g.Size(); k++ {
			others = append(others, (dir+k)%g.Size())
		}
		f := flow{
			pairRole: pairRole{crew: crew{g, r}, p: p, dir: dir, from: dir, to: others}, chunk: make([]byte, p["bytes"]),
			trial: gapTrial, least: gapLeast, most: gapCount(r, p), ahead: ahead, note: make([]int64, noteWords),
		}
		seen, err := f.run()
		if err != nil {
			return err
		}
		if err := f.addGap(seen); err != nil {
			return err
		}
	}
	return nil
}

// addGap keeps the stream's later part, from when the windows are open to the first receiver's last message: from then on
// another would get more than its share. The receivers need not get theirs evenly at any moment, so the messages in that
// time are those of all of them.
func (x flow) addGap(seen flowed) error {
	ended := units.Nanos(math.MinInt64)
	if !x.sender() {
		ended = -x.r.time.toCommon(x.g.Rank(), units.Nanos(seen.done[len(seen.done)-1]))
	}
	first, err := x.everyone(ended)
	if err != nil {
		return err
	}
	at, hi := int64(seen.At), int64(x.r.time.toLocal(x.g.Rank(), -first))-1
	part := steadyPart(seen.done, at+int64(rampShare*float64(hi-at)), hi)
	if x.p["merge"] != 0 {
		part.slice(seen.done, hi, gapSlices)
	}
	const parts = 1 << 20 // of a message
	all, err := x.total(int64(part.chunks * parts))
	if err != nil || x.sender() {
		return err
	}
	n := len(x.to) // of the sender's messages this receiver got one in n
	for i := range part.ns {
		part.ns[i] /= int64(n)
	}
	b := Batch{Phase: "gap", Point: x.p, Ranks: x.ranks(), NS: part.ns, TCP: seen.tcp, Aux: x.aux()}
	b.Aux["averaged"], b.Aux["messages"] = float64(part.averaged*n), float64(x.note[noteSent])/float64(n)
	b.Aux["receivers"] = float64(n)
	if part.window > 0 {
		b.Aux["window_ns"], b.Aux["window_messages"] = float64(part.window), float64(all)/parts
	}
	if t := x.note[noteTime]; t > 0 {
		b.Aux["send_ns"] = float64(t)
	}
	b.Flags = streamFlags(part, seen.open)
	x.r.Add(b)
	return nil
}

// slice replaces the intervals by those of n equal slices of the window, which ends at hi: a slice over the chunks that
// were complete in it, parts of one included.
func (p *steady) slice(done []int64, hi int64, n int) {
	p.ns, p.averaged = nil, max(1, int(p.chunks)/n)
	before := 0.0
	for i := range n + 1 {
		t := hi - p.window + p.window*int64(i)/int64(n)
		next := sort.Search(len(done), func(i int) bool { return done[i] >= t })
		if p.window == 0 || next == 0 || next == len(done) {
			continue
		}
		now := progressAt(done, next, t)
		if i > 0 && now > before {
			p.ns = append(p.ns, int64(float64(p.window)/float64(n)/(now-before)+0.5))
		}
		before = now
	}
}
