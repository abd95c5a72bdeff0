package incast

import (
	"slices"
	"time"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Gather lets hosts 1 to p' send to host 0 (Tam and Wang 2000, sections 3.2 and 5): M bytes each, all at once or by
// algorithm 1 in a window w, which gives the times that eq. 8 predicts; or a stream of messages of a segment, whose
// intervals at the root are the receive gap g_r(m).
var Gather = &bench.Experiment{
	Name: names.Gather, Clocks: true, Stamps: true, // senders start together, each by its own clock
	Points: gatherPoints,
	Ranges: bench.Ranges{
		names.FactorBytes: bench.Sizes, names.FactorSenders: bench.TeamSize, names.FactorStream: bench.Flag,
		names.FactorWindow: {Least: 0, Most: bench.MaxHosts},
	},
	Size: teamSize,
	Cost: func(l bench.Limits, p bench.Point) bench.Cost {
		senders, bytes := p[names.FactorSenders], p[names.FactorBytes]
		if p[names.FactorStream] != 0 {
			n := int64(trials*trialMessages + 2*maxMessages(l.Effort))
			return bench.Cost{ // with a byte of credit for each step
				Bytes: units.Bytes(n*senders*bytes + senders*n/minStep),
				Time:  streamTime(l.OnPath(), l.Effort, int(senders), bytes),
			}
		}
		n := int64(2 + maxGathers(l.Effort, p))
		return bench.Cost{Bytes: units.Bytes(n * senders * bytes), Time: gatherTime(l, p)}
	},
	Run: func(x bench.Team) {
		y := newTeam(x)
		if x.P[names.FactorStream] != 0 {
			y.streams()
		} else {
			y.gathers(2 * max(1, int(x.Counters(y.connection()).MSS)))
		}
	},
}

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

// gatherPoints are every size for each number of senders, with every window for the most and for three; and streams
// from all.
func gatherPoints(l bench.Limits) []bench.Point {
	most := l.Hosts - 1
	own := bench.Thinned(l, gatherSizes, gatherSizesQuick)
	var out []bench.Point
	for _, n := range bench.Growing(most, bench.Thinned(l, maxSenders, maxSenders/2)) {
		windows := []int{n}
		if n == most || n == fewSenders {
			windows = append(bench.Growing(n-1, maxWindows), n)
		}
		sizes := bench.Values(names.FactorBytes, l.SizesUpTo(maxBytes/units.Bytes(n), own)...)
		all := bench.Cross(bench.Values(names.FactorSenders, n), sizes, bench.Values(names.FactorWindow, windows...))
		out = append(out, slices.DeleteFunc(all, func(p bench.Point) bool {
			return p[names.FactorBytes] == 1 && p[names.FactorWindow] < int64(n) // sent before anybody could be told to wait
		})...)
	}
	streams := bench.Point{names.FactorSenders: int64(most), names.FactorStream: 1}
	return append(out, bench.Cross([]bench.Point{streams}, bench.Values(names.FactorBytes, l.PacketSizes()...))...)
}

// gatherTime is how long a batch of gathers is expected to take.
func gatherTime(l bench.Limits, p bench.Point) units.Nanos {
	path, senders, bytes := l.OnPath(), p[names.FactorSenders], p[names.FactorBytes]
	start := path.Start(int(senders) + 1)
	whole := path.Message(senders*bytes, 1)
	total := 2*start + path.Message(senders*min(bytes, int64(shortBytes)), 1)
	if n := gathersOf(l.Effort, p, whole); n > 0 {
		total += units.Nanos(n+1) * (start + whole)
	}
	return total
}

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

// gathersOf is how many gathers of so long a batch has; none where one takes too long.
func gathersOf(e bench.Effort, p bench.Point, one units.Nanos) int {
	if one > min(e.Time(longest, units.Second), maxTime) {
		return 0
	}
	return max(1, min(maxGathers(e, p), int(e.Time(batchTime, 0)/max(one, 1))))
}

// gathers measures one point: a short gather that tells how long one takes, a whole one that opens the windows, and the
// repetitions. The next is announced when the root has all of the one before, so that they do not overlap.
func (x team) gathers(rest int) {
	whole := x.P[names.FactorBytes]
	buf := make([]byte, readBytes)
	if !x.Root() {
		buf = x.R.Payload(whole)
	}
	short := min(whole, int64(shortBytes))
	trial := x.gather(short, buf, rest)
	estimate := units.Nanos(float64(trial) * float64(whole) / float64(short))
	s := x.Announce(bench.Start{Reps: gathersOf(x.R.Effort, x.P, estimate)})
	if s.Reps == 0 {
		x.Skip(estimate)
		return
	}
	if short < whole {
		x.gather(whole, buf, rest)
	}
	before := x.settled()
	ns := x.R.Buffer(s.Reps)
	for i := range ns {
		ns[i] = int64(x.gather(whole, buf, rest))
	}
	if tcp, _ := x.collect(before); x.Root() {
		x.Add(bench.Batch{Phase: names.PhaseGather, Ranks: x.Ranks(), NS: ns, TCP: tcp})
	}
}

// gather gathers the first size bytes of each sender's buf, and returns at the root the time from the announced start
// to the last byte. It ends there, or at the group's receive deadline.
func (x team) gather(size int64, buf []byte, rest int) units.Nanos {
	s := x.Announce(bench.Start{Reps: 1})
	if !x.Root() {
		x.contribute(s, buf[:size], rest)
		return 0
	}
	last := s.At
	for left := size * x.P[names.FactorSenders]; left > 0; {
		_, n, at := x.RecvAny(buf)
		left -= int64(n)
		last = max(last, at)
	}
	return last - s.At
}

// contribute is a sender's part: the first w senders begin at the start, every other when the one w places before it
// has ended, that is, when its message has left but for rest bytes, two segments. Its send buffer may take the whole
// message at once, and if it told the next sender then, one more would send at a time; waiting for the last
// acknowledgement would meet a delayed one.
func (x team) contribute(s bench.Start, msg []byte, rest int) {
	w, rank := int(x.P[names.FactorWindow]), x.Rank()
	if rank > w {
		x.Recv(rank-w, x.signal)
	} else {
		x.WaitUntil(s.At)
	}
	x.Send(0, msg)
	if rank+w < x.Size() {
		x.awaitAcknowledged(rest)
		x.Send(rank+w, x.signal)
	}
}

// awaitAcknowledged waits until no more than rest bytes to the root are unacknowledged. If the root no longer
// acknowledges, the kernel or whoever ends the group makes that an error.
func (x team) awaitAcknowledged(rest int) {
	end := x.Now() + maxTime
	for now := x.Now(); now < end; now = x.Now() {
		if bench.Must(x.Unacked(0)) <= rest {
			return
		}
		x.WaitUntil(now + 50*units.Microsecond)
	}
	bench.Fail("the root has not acknowledged within %v", time.Duration(maxTime))
}

const (
	trialMessages  = 64    // of each sender in a trial
	trials         = 8     // before a stream, at most
	windowMessages = 40    // in the length of a stream, at the trial's rate
	streamMessages = 16384 // after which a stream may end, at effort 1
	minMessages    = 2048
)

// maxMessages is how many messages a stream aims at. No sender sends more than twice that.
func maxMessages(e bench.Effort) int { return e.Reps(streamMessages, minMessages) }

// streamTime is how long the trials and the stream are expected to take. A packet costs the root what its bytes do, or,
// on fast paths, about a tenth of a message's latency.
func streamTime(path bench.Path, e bench.Effort, senders int, bytes int64) units.Nanos {
	per := max(path.Latency/10, units.Nanos(float64(bytes)*path.PerByte), 1)
	start := path.Start(senders + 1)
	trial := start + path.Latency + units.Nanos(trialMessages*senders)*per
	return 4*trial + start + lengthOf(e, per)
}

// lengthOf is the length of a stream whose messages come so far apart.
func lengthOf(e bench.Effort, per units.Nanos) units.Nanos {
	length := min(max(per*units.Nanos(maxMessages(e)), minLength), e.StreamTime())
	return min(max(length, per*windowMessages), bench.MaxStream)
}

// streams measures g_r: all senders send messages from a common start to a common end. Trials before it open the
// windows, and tell how long the stream is to be and how many unacknowledged messages a sender needs.
func (x team) streams() {
	msg := make([]byte, readBytes)
	if !x.Root() {
		msg = x.R.Payload(x.P[names.FactorBytes])
	}
	per, step := x.saturate(msg)
	length := lengthOf(x.R.Effort, per)
	before := x.settled()
	// What a sender's buffer still holds at the end arrives late: none may fill it with more than twice what all are to
	// send.
	each := min(2*maxMessages(x.R.Effort), windowMessages+int(2*length/max(per, 1)))
	seen, sent := x.converge(bench.Start{Period: length, Reps: each}, msg, step)
	tcp, total := x.collect(before, sent)
	if !x.Root() {
		return
	}
	b := seen.batch(x, names.PhaseArrivals, tcp, seen.firstEnd)
	b.Aux[names.AuxMessages] = float64(total)
	x.Add(b)
}

const (
	// minStep is how many messages the root acknowledges at a time on any path; a sender may be two steps ahead. With
	// fewer the root's own sends would be the bottleneck.
	minStep = 2
	maxStep = 128
	// faster is by how much the interval must fall for a longer step to be worth it.
	faster = 0.95
)

// saturate finds the shortest step that keeps the port busy, and returns it with the interval of a message: the step
// doubles as long as messages then arrive faster. So no more of them are on their way than a busy port needs; by
// themselves, congestion controls would fill its buffer until it overflows, and the gaps of their losses would be
// measured.
func (x team) saturate(msg []byte) (per units.Nanos, step int64) {
	x.converge(bench.Start{Reps: trialMessages}, msg, minStep) // opens the windows
	for try := int64(minStep); try <= maxStep; try *= 2 {
		seen, _ := x.converge(bench.Start{Reps: trialMessages}, msg, try)
		// The root decides, and speaks first: while it still reads a stream, what a sender sent would be a part of it.
		verdict := bench.Start{}
		if per == 0 || float64(seen.interval()) < faster*float64(per) {
			verdict.Reps = 1
		}
		if x.Announce(verdict).Reps == 0 {
			break
		}
		per, step = seen.interval(), try
	}
	return per, step
}

// converge runs one announced stream. The root gets what it saw, a sender how many messages it sent. A sender starts
// with two steps of credit; the root sends it a byte for each step that it has received.
func (x team) converge(s bench.Start, msg []byte, step int64) (t *arrivals, sent int64) {
	s = x.Announce(s)
	bytes := x.P[names.FactorBytes]
	t = newArrivals(s, x.Size()-1, bytes, bytes)
	if !x.Root() {
		return t, x.stream(s, msg, step)
	}
	credits := make([]int64, x.Size()) // given, by rank
	for t.open > 0 {
		from, n, at := x.RecvAny(msg)
		t.take(from, msg[:n], at)
		for ; credits[from] < t.got[from]/bytes/step; credits[from]++ {
			x.Send(from, x.signal)
		}
	}
	return t, 0
}

// stream sends msg to the root until the end of the stream, or s.Reps times; with a step, a stream of no length has no
// other end. The last byte of the last message is 1, that of all others 0. It returns when all credit for what it sent
// has come back: one for each step. There is none without.
func (x team) stream(s bench.Start, msg []byte, step int64) (sent int64) {
	mark, end := &msg[len(msg)-1], s.At+s.Period
	earned := int64(0)
	*mark = 0
	x.WaitUntil(s.At)
	for *mark == 0 {
		if (s.Period > 0 || step == 0) && x.Now() >= end || sent == int64(s.Reps)-1 {
			*mark = 1
		}
		for ; step > 0 && sent >= (earned+2)*step; earned++ {
			x.Recv(0, x.signal)
		}
		x.Send(0, msg)
		sent++
	}
	for ; step > 0 && earned < sent/step; earned++ {
		x.Recv(0, x.signal)
	}
	return sent
}
