// Package incast is traffic of many senders to one: rank 0 is the root, all other ranks send to it. Its experiments are
// gather and flood.
package incast

import (
	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// readBytes is what the root reads at a time.
const readBytes = 64 * units.KiB

// maxTime bounds a time that grows with the effort: a receive may wait no longer before a silent peer is given up.
const maxTime = 8 * units.Second

// teamSize is that of the root and its senders.
func teamSize(p bench.Point) int { return int(p[names.FactorSenders]) + 1 }

// team is one rank's part in what all other ranks send to rank 0, the root.
type team struct {
	bench.Team
	signal []byte // one byte, whose arrival is what it says
}

func newTeam(x bench.Team) team { return team{x, []byte{0}} }

// connection is the peer whose counters stand for a rank's own: a sender's is the root.
func (x team) connection() int {
	if x.Root() {
		return 1
	}
	return 0
}

// settled reads this rank's counters once the root has all that was sent before: otherwise some of that would be
// counted later.
func (x team) settled() dataset.TCP {
	x.Announce(bench.Start{})
	return x.Counters(x.connection())
}

// collect gives the root the sum of the senders' counters since before and the sum of their numbers; every rank must
// give as many numbers. The root calls it when all that was sent has arrived: until then the senders keep still, so
// that no report is taken for data, and some of it may still wait to be sent. The others get nil.
func (x team) collect(before dataset.TCP, numbers ...int64) (total *dataset.TCP, sum int64) {
	if !x.Root() {
		x.Recv(0, x.signal)
		x.SendNumbers(0, append(bench.CounterNumbers(x.CountersSince(x.connection(), before)), numbers...)...)
		return nil, 0
	}
	x.SendAll(x.signal)
	own := x.CountersSince(x.connection(), before)
	total = &dataset.TCP{
		MSS: own.MSS, Congestion: own.Congestion, SndBuf: own.SndBuf, RcvBuf: own.RcvBuf,
		Involuntary: own.Involuntary, StealTicks: own.StealTicks,
	}
	for k := 1; k < x.Size(); k++ {
		var t dataset.TCP
		got := x.RecvNumbers(k, bench.Counters+len(numbers))
		bench.SetCounters(&t, got)
		involuntary := total.Involuntary + t.Involuntary // each sender's thread has its own
		*total = total.Add(t)
		total.Involuntary, total.Cwnd, total.RTT = involuntary, t.Cwnd, t.RTT
		for _, n := range got[bench.Counters:] {
			sum += n
		}
	}
	return total, sum
}

// minLength is the length of a stream, at least.
const minLength = 10 * units.Millisecond

// arrivals counts what arrives at the root. It cuts the steady part of the stream into MaxIntervals equal steps and
// keeps what arrived in each, so that its size does not grow with the rate and the order in which the ranks are read
// does not matter: stamps of different ranks need not ascend.
type arrivals struct {
	open     int         // senders that have not sent their last message
	got      []int64     // bytes by rank, of the root and the senders
	firstEnd units.Nanos // when the first sender's last message arrived

	message, unit int64 // bytes of a sender's message, and of what is counted
	total         int64
	first, last   progress // of all

	lo, hi, step units.Nanos
	steps        []progress // of the bytes in each, and of when since lo the last of them arrived
}

// progress is how much had arrived at an instant.
type progress struct {
	at    units.Nanos
	bytes int64
}

// newArrivals prepares for a stream of messages, each of message bytes, that are counted in units of unit bytes.
func newArrivals(s bench.Start, senders int, message, unit int64) *arrivals {
	t := &arrivals{open: senders, got: make([]int64, senders+1), message: message, unit: unit,
		steps: make([]progress, bench.MaxIntervals)}
	t.lo, t.hi = s.At+units.Nanos(bench.RampShare*float64(s.Period)), s.At+s.Period
	t.step = max(1, (t.hi-t.lo)/bench.MaxIntervals)
	return t
}

// take adds what was read of one rank. It is part of the timed section.
func (t *arrivals) take(from int, b []byte, at units.Nanos) {
	t.got[from] += int64(len(b))
	t.total += int64(len(b))
	if t.first.bytes == 0 {
		t.first = progress{at, t.total}
		t.last = t.first
	}
	t.last = progress{max(at, t.last.at), t.total}
	if t.got[from]%t.message == 0 && b[len(b)-1] == 1 {
		if t.open == len(t.got)-1 {
			t.firstEnd = at
		}
		t.open--
	}
	if at >= t.lo && at <= t.hi {
		since := at - t.lo
		s := &t.steps[min(int(since/t.step), len(t.steps)-1)]
		s.at = max(s.at, since)
		s.bytes += int64(len(b))
	}
}

// interval is the mean interval of a unit, over all of the stream.
func (t *arrivals) interval() units.Nanos {
	return units.Nanos(float64(t.last.at-t.first.at) * float64(t.unit) / float64(max(t.unit, t.last.bytes-t.first.bytes)))
}

// batch is a line of the steady part: the mean intervals of a unit from the last arrival in each step to that in the
// next, and how many units arrived from the first of these to the last. From end on not all senders sent any more.
func (t *arrivals) batch(x team, phase string, tcp *dataset.TCP, end units.Nanos) bench.Batch {
	b := bench.Batch{Phase: phase, Ranks: x.Ranks(), TCP: tcp, Aux: map[string]float64{}}
	var first, last, window progress
	for _, s := range t.steps {
		switch {
		case s.bytes == 0:
			continue
		case first.bytes == 0:
			first = s
		default:
			window.bytes += s.bytes
			window.at = s.at - first.at
			b.NS = append(b.NS, int64(float64(s.at-last.at)*float64(t.unit)/float64(s.bytes)+0.5))
		}
		last = s
	}
	if len(b.NS) < 2 || end < t.hi-t.step {
		b.Flags = append(b.Flags, dataset.FlagUnsteady)
	}
	if n := len(b.NS); n > 0 {
		messages := float64(window.bytes) / float64(t.unit)
		b.Aux[names.AuxAveraged] = messages / float64(n)
		b.Aux[names.AuxWindow], b.Aux[names.AuxWindowMessages] = float64(window.at), messages
	}
	return b
}
