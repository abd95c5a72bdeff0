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

// timeLimit scales a standard time by the effort, between a second and maxTime.
func timeLimit(e bench.Effort, standard units.Nanos) units.Nanos {
	return min(e.Time(standard, units.Second), maxTime)
}

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
	b := x.R.Bytes(int64(bench.CounterBytes + 8*len(numbers)))
	if !x.Root() {
		x.Recv(0, x.signal)
		bench.PutCounters(b, x.CountersSince(x.connection(), before))
		bench.PutNumbers(b[bench.CounterBytes:], numbers...)
		x.Send(0, b)
		return nil, 0
	}
	x.SendAll(x.signal)
	own := x.CountersSince(x.connection(), before)
	total = &dataset.TCP{
		MSS: own.MSS, Congestion: own.Congestion, SndBuf: own.SndBuf, RcvBuf: own.RcvBuf,
		Involuntary: own.Involuntary, StealTicks: own.StealTicks,
	}
	x.RecvAll(b, func(int) {
		var t dataset.TCP
		bench.GetCounters(b, &t)
		involuntary := total.Involuntary + t.Involuntary // each sender's thread has its own
		*total = total.Add(t)
		total.Involuntary, total.Cwnd, total.RTT = involuntary, t.Cwnd, t.RTT
		for i := range numbers {
			sum += bench.GetNumber(b[bench.CounterBytes+8*i:])
		}
	})
	return total, sum
}
