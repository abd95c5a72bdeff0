package incast

import (
	"context"
	"fmt"
	"math"
	"time"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Gather has host 0 as the root and hosts 1 to p' as the senders (Tam and Wang 2000, sections 3.2 and 5).
//
// A gather of M bytes from each is timed at the root, from the start that all were told to the last byte.
// Uncoordinated, all send at the start. With a window w below p' it is the paper's algorithm 1: senders 1 to w begin,
// and every sender that has sent its last byte tells the one w places on to begin, so that w share the port's buffer at
// a time.
//
// With "stream", the senders send messages of m bytes, a segment each, back to back: the intervals of their arrivals
// are the receive gap g_r(m), the time that the port or the root needs for a packet, as long as together they send
// faster.
type Gather struct{}

const (
	// maxSenders bounds the distinct numbers of senders of a design, maxWindows those of w; above, they grow
	// geometrically.
	maxSenders = 8
	maxWindows = 6
	// fewSenders is a second number of senders for which every window is tried.
	fewSenders = 3

	maxBytes = 64 * units.MiB // of one gather, from all senders
)

var (
	gatherSizes = []units.Bytes{1, units.KiB, 4 * units.KiB, 16 * units.KiB, 64 * units.KiB, 256 * units.KiB, units.MiB}
	// sizesQuick keep one size below a packet's time and two above a send buffer's.
	gatherSizesQuick = []units.Bytes{1, 4 * units.KiB, 64 * units.KiB, units.MiB}
)

// Name implements bench.Experiment.
func (Gather) Name() string { return names.Gather }

// Synchronised implements bench.Synchronised: senders start together, each by its own clock.
func (Gather) Synchronised() {}

// Stamped implements bench.Stamped.
func (Gather) Stamped() {}

// Design implements bench.Experiment: every size for each number of senders, with every window for the most and for
// three; and streams from all.
func (Gather) Design(l bench.Limits) []bench.Point {
	if l.Hosts < 2 {
		return nil
	}
	most := l.Hosts - 1
	own := bench.Thinned(l, gatherSizes, gatherSizesQuick)
	var out []bench.Point
	for _, n := range upTo(most, bench.Thinned(l, maxSenders, maxSenders/2)) {
		windows := []int{n}
		if n == most || n == fewSenders {
			windows = append(upTo(n-1, maxWindows), n)
		}
		for _, size := range l.SizesUpTo(maxBytes/units.Bytes(n), own) {
			for _, w := range windows {
				if size == 1 && w < n { // is sent before anybody could be told to wait
					continue
				}
				out = append(out, bench.Point{
					names.FactorBytes: int64(size), names.FactorSenders: int64(n), names.FactorWindow: int64(w),
				})
			}
		}
	}
	streams := bench.Point{names.FactorSenders: int64(most), names.FactorStream: 1}
	return append(out, bench.SizePoints(l.PacketSizes(), streams)...)
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

// Ranges implements bench.Experiment.
func (Gather) Ranges() bench.Ranges {
	return bench.Ranges{
		names.FactorBytes: bench.Sizes, names.FactorSenders: bench.TeamSize, names.FactorWindow: {Least: 0, Most: bench.MaxHosts},
		names.FactorStream: bench.Flag,
	}
}

// Teams implements bench.Experiment: the root and its senders, alone on the network.
func (Gather) Teams(_ bench.Limits, p bench.Point) []bench.Step {
	return bench.FirstHosts(int(p[names.FactorSenders]) + 1)
}

// Cost implements bench.Experiment.
func (Gather) Cost(l bench.Limits, p bench.Point) bench.Cost {
	senders, bytes := p[names.FactorSenders], p[names.FactorBytes]
	if p[names.FactorStream] != 0 {
		n := trials*trialMessages + 2*maxMessages(l.Effort)
		credits := int(senders) * n / minStep
		return bench.Cost{
			Bytes: units.Bytes(int64(n)*senders*bytes + int64(credits)), Messages: n + credits,
			Time: streamTime(l.OnPath(), l.Effort, int(senders), bytes),
		}
	}
	n := 2 + maxGathers(l.Effort, p)
	return bench.Cost{Bytes: units.Bytes(int64(n) * senders * bytes), Messages: 2 * n, Time: gatherTime(l, p)}
}

// gatherTime is how long a batch of gathers is expected to take.
func gatherTime(l bench.Limits, p bench.Point) units.Nanos {
	path, senders, bytes := l.OnPath(), p[names.FactorSenders], p[names.FactorBytes]
	start := path.Start(int(senders) + 1)
	whole := path.Message(senders*bytes, 1)
	total := 2*start + path.Message(senders*min(bytes, int64(shortBytes)), 1)
	if whole > TimeLimit(l.Effort, longest) {
		return total
	}
	n := max(1, min(maxGathers(l.Effort, p), int(l.Effort.Time(batchTime, 0)/max(whole, 1))))
	return total + units.Nanos(n+1)*(start+whole)
}

// Run implements bench.Experiment.
func (Gather) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	team, err := NewTeam(g, p, r)
	if err != nil {
		return err
	}
	x := gatherer{team}
	if p[names.FactorStream] != 0 {
		return x.stream()
	}
	c, err := g.Counters(x.Connection())
	if err != nil {
		return err
	}
	return x.gathers(2 * max(1, int(c.MSS)))
}

// gatherer is one rank at one point.
type gatherer struct{ Team }

const (
	reps    = 20
	minReps = 4
	// batchTime is the length of a batch at effort 1; longest that of one gather, which is skipped above.
	batchTime  = 100 * units.Millisecond
	longest    = 4 * units.Second
	batchBytes = 32 * units.MiB // of a batch at effort 1, over the root's link

	// shortBytes is what each sender sends first: it tells how long the whole takes before that is begun.
	shortBytes = 64 * units.KiB
)

// maxGathers bounds the repetitions of a batch.
func maxGathers(e bench.Effort, p bench.Point) int {
	byBytes := int(e.Bytes(batchBytes, 0)) / int(p[names.FactorSenders]*p[names.FactorBytes])
	return max(1, min(e.Reps(reps, minReps), byBytes))
}

// gathers measures one point: a short gather that tells how long one takes, a whole one that opens the windows, and the
// repetitions. The next is announced when the root has all of the one before, so that they do not overlap.
func (x gatherer) gathers(rest int) error {
	buf := make([]byte, ReadBytes)
	if !x.Root() {
		buf = x.R.Payload(x.P[names.FactorBytes])
	}
	whole := x.P[names.FactorBytes]
	short := min(whole, int64(shortBytes))
	trial, err := x.gather(short, buf, rest)
	if err != nil {
		return err
	}
	estimate := units.Nanos(float64(trial) * float64(whole) / float64(short))
	n := 0
	if estimate <= TimeLimit(x.R.Effort, longest) {
		n = max(1, min(maxGathers(x.R.Effort, x.P), int(x.R.Time(batchTime, 0)/max(estimate, 1))))
	}
	s, err := x.Announce(bench.Start{Reps: n})
	if err != nil {
		return err
	}
	if s.Reps == 0 {
		x.Skip(estimate)
		return nil
	}
	if short < whole {
		if _, err := x.gather(whole, buf, rest); err != nil {
			return err
		}
	}
	before, err := x.Counters()
	if err != nil {
		return err
	}
	ns := x.R.Buffer(s.Reps)
	for i := range ns {
		t, err := x.gather(whole, buf, rest)
		if err != nil {
			return err
		}
		ns[i] = int64(t)
	}
	tcp, _, err := x.Collect(before)
	if err != nil || !x.Root() {
		return err
	}
	x.R.Add(bench.Batch{
		Phase: names.PhaseGather, Point: x.P, Ranks: x.Ranks(), NS: ns, TCP: tcp,
		Aux: map[string]float64{names.AuxRepetitions: float64(s.Reps)},
	})
	return nil
}

// gather gathers the first size bytes of each sender's buf, and returns at the root the time from the announced start
// to the last byte. It ends there, or at the group's receive deadline.
func (x gatherer) gather(size int64, buf []byte, rest int) (units.Nanos, error) {
	s, err := x.Announce(bench.Start{Reps: 1})
	if err != nil {
		return 0, err
	}
	if !x.Root() {
		return 0, x.contribute(s, buf[:size], rest)
	}
	last := s.At
	for left := size * x.P[names.FactorSenders]; left > 0; {
		_, n, at, err := x.G.RecvAny(buf)
		if err != nil {
			return 0, err
		}
		left -= int64(n)
		last = max(last, at)
	}
	return last - s.At, nil
}

// contribute is a sender's part: the first w senders begin at the start, every other when the one w places before it
// has ended, that is, when its message has left but for rest bytes, two segments. Its send buffer may take the whole
// message at once, and if it told the next sender then, one more would send at a time; waiting for the last
// acknowledgement would meet a delayed one.
func (x gatherer) contribute(s bench.Start, msg []byte, rest int) error {
	w, rank := int(x.P[names.FactorWindow]), x.G.Rank()
	if rank > w {
		if err := x.G.Recv(rank-w, x.Signal); err != nil {
			return err
		}
	} else if err := x.G.WaitUntil(s.At); err != nil {
		return err
	}
	if err := x.G.Send(0, msg); err != nil {
		return err
	}
	if rank+w >= x.G.Size() {
		return nil
	}
	if err := x.awaitAcknowledged(rest); err != nil {
		return err
	}
	return x.G.Send(rank+w, x.Signal)
}

const acknowledgedStep = 50 * units.Microsecond

// awaitAcknowledged waits until no more than rest bytes to the root are unacknowledged. If the root no longer
// acknowledges, the kernel or whoever ends the group makes that an error.
func (x gatherer) awaitAcknowledged(rest int) error {
	end := x.G.Now() + MaxTime
	for now := x.G.Now(); now < end; now = x.G.Now() {
		n, err := x.G.Unacked(0)
		if err != nil || n <= rest {
			return err
		}
		if err := x.G.WaitUntil(now + acknowledgedStep); err != nil {
			return err
		}
	}
	return fmt.Errorf("the root has not acknowledged within %v", time.Duration(MaxTime))
}
