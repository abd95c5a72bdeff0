package bench

import (
	"context"
	"fmt"
	"math"
	"slices"

	"calib/internal/dataset"
	"calib/internal/units"
)

// Gather is what many hosts that send to one cost (Tam and Wang 2000, sections 3.2 and 5). Host 0 is the root; hosts 1 to
// p' send.
//
// A gather of M bytes from each is timed at the root, from the start that all were told to the last byte. Uncoordinated,
// all send at the start. With a window w below p' it is the paper's algorithm 1: senders 1 to w begin, and every sender
// that has handed over its last byte tells the one w places on to begin, so that w share the port's buffer at a time.
//
// With "stream", the senders send messages of m bytes, a segment each, back to back: the intervals of their arrivals are
// the receive gap g_r(m), which is what the port or the root takes for a packet, as long as together they send faster.
type Gather struct{}

const (
	// maxSenders bounds the distinct numbers of senders of a design, maxWindows those of w; above, they grow geometrically.
	maxSenders = 8
	maxWindows = 6
	// fewSenders is a second number of senders for which every window is tried.
	fewSenders = 3

	gatherMost = 64 * units.MiB // bytes of one gather, from all senders
)

var (
	gatherSizes = []units.Bytes{1, units.KiB, 4 * units.KiB, 16 * units.KiB, 64 * units.KiB, 256 * units.KiB, units.MiB}
	// gatherSizesQuick keep one size below a packet's time and two above a send buffer's.
	gatherSizesQuick = []units.Bytes{1, 4 * units.KiB, 64 * units.KiB, units.MiB}
)

// Name implements Experiment.
func (Gather) Name() string { return "gather" }

// Synchronised implements Synchronised: senders start together, each by its own clock.
func (Gather) Synchronised() {}

// Steers implements Steered: a gather too long to be timed has nothing to narrow.
func (Gather) Steers(phase string) bool { return phase != phaseSkipped }

// phaseSkipped is a point that would have taken longer than its budget; its time is an estimate.
const phaseSkipped = "skipped"

// Design implements Experiment: every size for each number of senders, with every window for the most and for three; and
// streams from all.
func (Gather) Design(l Limits) []Point {
	if l.Hosts < 2 {
		return nil
	}
	most := l.Hosts - 1
	sizes, streams, count := gatherSizes, gapSizes, maxSenders
	if l.thin() {
		sizes, streams, count = gatherSizesQuick, gapSizesQuick, maxSenders/2
	}
	var out []Point
	for _, n := range upTo(most, count) {
		windows := []int{n}
		if n == most || n == fewSenders {
			windows = append(upTo(n-1, maxWindows), n)
		}
		for _, size := range l.within(sizes, gatherMost/units.Bytes(n)) {
			if size == 1 { // is out before anybody could be told to wait
				out = append(out, Point{"bytes": 1, "senders": int64(n), "window": int64(n)})
				continue
			}
			for _, w := range windows {
				out = append(out, Point{"bytes": int64(size), "senders": int64(n), "window": int64(w)})
			}
		}
	}
	for _, m := range l.within(streams, segmentMost) {
		out = append(out, Point{"bytes": int64(m), "senders": int64(most), "stream": 1})
	}
	return out
}

// upTo lists 1..most, or about count values from 1 to most, growing geometrically, where there are more.
func upTo(most, count int) []int {
	var out []int
	for i := range min(most, count) {
		n := i + 1
		if most > count {
			n = max(n, int(math.Round(math.Pow(float64(most), float64(i)/float64(count-1)))))
		}
		out = append(out, n)
	}
	return out
}

// Teams implements Experiment: the root and its senders, alone on the network.
func (Gather) Teams(_ Limits, p Point) []Step { return hostsUpTo(int(p["senders"]) + 1) }

func hostsUpTo(n int) []Step {
	team := make([]int, n)
	for i := range team {
		team[i] = i
	}
	return []Step{{team}}
}

// Cost implements Experiment.
func (Gather) Cost(l Limits, p Point) Cost {
	r := NewRecorder(Task{Reps: l.Effort})
	if p["stream"] != 0 {
		n := arrivalsTries*arrivalsTrial + 2*arrivalsMost(r)
		credits := int(p["senders"]) * n / leastStep
		return Cost{Bytes: units.Bytes(int64(n)*p["senders"]*p["bytes"] + int64(credits)), Messages: n + credits}
	}
	n := 2 + mostGathers(r, p)
	return Cost{Bytes: units.Bytes(int64(n) * p["senders"] * p["bytes"]), Messages: 2 * n}
}

// Run implements Experiment.
func (Gather) Run(ctx context.Context, g Group, p Point, r *Recorder) error {
	if g.Size() != int(p["senders"])+1 || r.time == nil {
		return fmt.Errorf("gather: team of %d without a timeline: want %d hosts and synchronised clocks",
			g.Size(), p["senders"]+1)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := g.Counters(1 - min(1, g.Rank()))
	if err != nil {
		return err
	}
	x := funnel{crew: crew{g, r}, p: p, signal: []byte{0}, segment: max(1, c.MSS)}
	if p["stream"] != 0 {
		return x.arrivals()
	}
	return x.gathers()
}

// funnel is one rank's part in what all other ranks send to rank 0, the root.
type funnel struct {
	crew
	p      Point
	signal []byte // one byte, which says that it has come
	// segment is the payload of a whole segment to the root [B].
	segment int64
}

func (x funnel) root() bool { return x.g.Rank() == 0 }

func (x funnel) everybody() []int {
	all := make([]int, x.g.Size())
	for k := range all {
		all[k] = k
	}
	return all
}

// connection is the peer whose counters stand for a rank's own: a sender's is the root.
func (x funnel) connection() int {
	if x.root() {
		return 1
	}
	return 0
}

// counters reads this rank's own when the root has all that was sent before, or some of that would be counted still.
func (x funnel) counters() (dataset.TCP, error) {
	if _, err := x.announce(start{}); err != nil {
		return dataset.TCP{}, err
	}
	return x.g.Counters(x.connection())
}

// collect gives the root the senders' counters since before, summed, and each rank's note, which is as long for all. The root
// calls it when all that was sent has arrived: until it does the senders keep still, so that none's report is taken for
// data. The others get nil.
func (x funnel) collect(before dataset.TCP, note []int64) (*dataset.TCP, [][]int64, error) {
	if !x.root() {
		return nil, nil, x.account(before, note)
	}
	if err := tellAll(x.g, x.signal); err != nil {
		return nil, nil, err
	}
	own, err := delta(x.g, x.connection(), before)
	if err != nil {
		return nil, nil, err
	}
	sum := dataset.TCP{
		MSS: own.MSS, Congestion: own.Congestion, SndBuf: own.SndBuf, RcvBuf: own.RcvBuf,
		Involuntary: own.Involuntary, StealTicks: own.StealTicks,
	}
	notes := [][]int64{note}
	b := make([]byte, counterBytes+8*len(note))
	for k := 1; k < x.g.Size(); k++ {
		if err := x.g.Recv(k, b); err != nil {
			return nil, nil, err
		}
		var t dataset.TCP
		getCounters(b, &t)
		addCounters(&sum, &t)
		words := make([]int64, len(note))
		getWords(b[counterBytes:], words)
		notes = append(notes, words)
	}
	return &sum, notes, nil
}

// account is a sender's part of collect. Its counters are read when the root has it all: before that some of it may still wait
// to be sent.
func (x funnel) account(before dataset.TCP, note []int64) error {
	if err := x.g.Recv(0, x.signal); err != nil {
		return err
	}
	own, err := delta(x.g, x.connection(), before)
	if err != nil {
		return err
	}
	b := make([]byte, counterBytes+8*len(note))
	putCounters(b, own)
	putWords(b[counterBytes:], note)
	return x.g.Send(0, b)
}

// addCounters adds what a sender counted; values are the last sender's.
func addCounters(sum, t *dataset.TCP) {
	values := []*int64{&sum.Cwnd, &sum.RTT, &sum.StealTicks}
	from, to := counterList(t), counterList(sum)
	for i := range to {
		if !slices.Contains(values, to[i]) {
			*to[i] += *from[i]
		}
	}
	sum.Cwnd, sum.RTT, sum.StealTicks = t.Cwnd, t.RTT, max(sum.StealTicks, t.StealTicks)
}
